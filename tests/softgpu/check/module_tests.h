/* SPDX-License-Identifier: BSD-3-Clause
 * What the checks of modules and launches share: a context for each test, and the PTX texts that
 * they load. Expected answers are those of the driver API's documentation. */
#ifndef CHECK_MODULE_TESTS_H
#define CHECK_MODULE_TESTS_H

#include <check.h>
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>

#define OK(_call)            ck_assert_int_eq((int)(_call), (int)CUDA_SUCCESS)
#define FAILS(_call, _error) ck_assert_int_eq((int)(_call), (int)CUDA_ERROR_##_error)

#define PTX_HEAD(_version, _target) ".version " _version "\n.target " _target "\n.address_size 64\n"

/* store(p, v): p[global thread] = v */
#define PTX_STORE                                                                                  \
    ".visible .entry store(.param .u64 p, .param .u32 v)\n{\n"                                     \
    ".reg .b32 %r<6>;\n.reg .b64 %d<4>;\n"                                                         \
    "ld.param.u64 %d1, [p];\nld.param.u32 %r1, [v];\n"                                             \
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"                        \
    "mad.lo.s32 %r5, %r2, %r3, %r4;\nmul.wide.u32 %d2, %r5, 4;\nadd.s64 %d3, %d1, %d2;\n"          \
    "st.global.u32 [%d3], %r1;\nret;\n}\n"

extern const char ptx_store[]; /* sm_75 */
extern CUcontext context;      /* the primary one of device 0, current */

void module_setup(void);
/* 32 words of device memory, and what lies there. */
CUdeviceptr words(void);
uint32_t word(CUdeviceptr p, unsigned i);

TCase *image_tests(void);
TCase *library_tests(void);
TCase *launch_tests(void);
TCase *function_tests(void);

#endif
