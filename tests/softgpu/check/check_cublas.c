/* SPDX-License-Identifier: BSD-3-Clause
 * Runs the checks of the stand-ins of cuBLAS and cuBLASLt. */
#include "blas.h"

int main(void)
{
    SRunner *runner = srunner_create(suite_gemm());
    srunner_add_suite(runner, suite_rules());
    srunner_add_suite(runner, suite_lt());
    srunner_add_suite(runner, suite_lt_rules());
    srunner_add_suite(runner, suite_vector());
    srunner_add_suite(runner, suite_matrix());
    srunner_add_suite(runner, suite_misc());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
