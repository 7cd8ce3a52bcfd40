/* SPDX-License-Identifier: BSD-3-Clause
 * Runs the checks of the software libcuda on a small GPU that it describes itself. SOFTGPU_SEED may
 * be set from outside: what is checked here holds in every order that the driver may choose. */
#include "config.h"

#include "driver.h"

#include <stdio.h>
#include <unistd.h>

CUresult before_init;

/* The driver's settings, which it reads at cuInit. */
static void describe_gpu(void)
{
    char path[64], number[32];
    snprintf(path, sizeof path, "check_driver.%ld.gpu", (long)getpid());
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(EXIT_FAILURE);
    }
    fprintf(file,
            "# of the checks\nname Check GPU\ncompute_capability 8.6\nmultiprocessors %d\n"
            "bandwidth_gbs %g\nlaunch_us %g\npcie_gbs %g\ntflops_f32 %g\n",
            GPU_SMS, GPU_BANDWIDTH / 1e9, GPU_LAUNCH * 1e6, GPU_COPY_BANDWIDTH / 1e9,
            GPU_F32 / 1e12);
    fclose(file);
    setenv("SOFTGPU_GPU", path, 1);
    snprintf(number, sizeof number, "%d", GPU_DEVICES);
    setenv("SOFTGPU_DEVICES", number, 1);
    snprintf(number, sizeof number, "%llu", (unsigned long long)GPU_MEMORY_MIB << 20);
    setenv("SOFTGPU_MEMORY", number, 1);
    CUcontext none;
    before_init = cuCtxGetCurrent(&none);
    CUresult r = cuInit(0);
    remove(path);
    if (r != CUDA_SUCCESS) {
        fprintf(stderr, "cuInit: %d\n", r);
        exit(EXIT_FAILURE);
    }
}

int main(void)
{
    describe_gpu();
    SRunner *runner = srunner_create(suite_context());
    srunner_add_suite(runner, suite_memory());
    srunner_add_suite(runner, suite_copy());
    srunner_add_suite(runner, suite_stream());
    srunner_add_suite(runner, suite_event());
    srunner_add_suite(runner, suite_fault());
    srunner_add_suite(runner, suite_model());
    srunner_add_suite(runner, suite_capture());
    srunner_add_suite(runner, suite_graph());
    srunner_add_suite(runner, suite_exec());
    srunner_add_suite(runner, suite_proc());
    srunner_add_suite(runner, suite_array());
    srunner_add_suite(runner, suite_values());
    srunner_add_suite(runner, suite_ipc());
    srunner_add_suite(runner, suite_virtual());
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
