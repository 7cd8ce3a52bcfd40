/* SPDX-License-Identifier: BSD-3-Clause
 * Matrix instructions: mma in every shape and type, whole-warp moves of fragments, wmma in every
 * layout. Operands are such that every sum is exact, whatever its order. --list prints the
 * mnemonics. */
#include "matrix_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    Suite *suite = suite_create("matrix");
    SRunner *runner;
    int failed;

    if (argc == 2 && strcmp(argv[1], "--list") == 0) {
        mma_list();
        move_list();
        wmma_list();
        return 0;
    }
    suite_add_tcase(suite, tcase_mma());
    suite_add_tcase(suite, tcase_move());
    suite_add_tcase(suite, tcase_wmma());
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
