/* SPDX-License-Identifier: BSD-3-Clause
 * Runs the checks of the NCCL stand-in on a software GPU with several small devices. */
#include "tests/softgpu/check/nccl_ranks.h"

#include <stdio.h>

int main(void)
{
    SRunner *runner;
    const char *sanitizers = getenv("SOFTGPU_RUNTIME");
    int failed;

    if (sanitizers != NULL && *sanitizers) {
        puts("not with sanitizers: the ranks are so slow then that they give each other up");
        return 77;
    }

    setenv("SOFTGPU_DEVICES", "4", 1);
    setenv("SOFTGPU_MEMORY", "268435456", 1);
    unsetenv("SOFTGPU_NCCL_TRANSPORT");
    runner = srunner_create(suite_collective());
    srunner_add_suite(runner, suite_comm());
    srunner_add_suite(runner, suite_order());
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
