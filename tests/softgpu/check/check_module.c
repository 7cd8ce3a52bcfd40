/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of the software libcuda's modules, libraries, functions and launches. Each test runs in a
 * process of its own, so that a fault of one is not the next one's. */
#include "config.h"

#include "module_tests.h"

#include <stdlib.h>

CUcontext context;
const char ptx_store[] = PTX_HEAD("6.4", "sm_75") PTX_STORE;

void module_setup(void)
{
    CUdevice device;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
}

CUdeviceptr words(void)
{
    CUdeviceptr p;
    OK(cuMemAlloc(&p, 32 * sizeof(uint32_t)));
    return p;
}

uint32_t word(CUdeviceptr p, unsigned i)
{
    uint32_t value;
    OK(cuMemcpyDtoH(&value, p + i * sizeof value, sizeof value));
    return value;
}

int main(void)
{
    Suite *suite = suite_create("module");
    suite_add_tcase(suite, image_tests());
    suite_add_tcase(suite, library_tests());
    suite_add_tcase(suite, function_tests());
    suite_add_tcase(suite, launch_tests());
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
