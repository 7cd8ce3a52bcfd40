/* SPDX-License-Identifier: BSD-3-Clause
 * What the checks of the software libcuda share: a fresh context for each test, a few kernels, and
 * ways to launch them and to read memory. Expected answers are those that the driver API's
 * documentation gives; the checks know nothing of the driver's inside. */
#ifndef CHECK_DRIVER_H
#define CHECK_DRIVER_H

#include <check.h>
#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The GPU that main() describes to the driver. */
enum {
    GPU_DEVICES = 2,
    GPU_SMS = 24,
    GPU_MEMORY_MIB = 512,
};
#define GPU_BANDWIDTH      1e12 /* bytes per second */
#define GPU_LAUNCH         4e-6 /* seconds */
#define GPU_COPY_BANDWIDTH 1e10 /* bytes per second */
#define GPU_F32            1e13 /* operations per second */

extern CUresult before_init; /* what a call before cuInit answered */

/* Made for each test: a context of device 0 that is current, and its kernels. */
extern CUcontext context;
extern CUmodule module;
extern CUfunction fill; /* (p, v, n): p[i] = v */
extern CUfunction add;  /* (p, v, n): p[i] += v */
extern CUfunction copy; /* (to, from, n): to[i] = from[i] */
extern CUfunction trap; /* (p, v, n): stops with a trap where i == v */
extern CUfunction madd; /* (p, v, n): p[0] = sum of v float multiply-adds per thread */
void driver_setup(void);
void driver_teardown(void);

#define OK(_call)            expect(_call, CUDA_SUCCESS, #_call, __FILE__, __LINE__)
#define FAILS(_call, _error) expect(_call, CUDA_ERROR_##_error, #_call, __FILE__, __LINE__)
void expect(CUresult got, CUresult want, const char *call, const char *file, int line);

CUresult launch(CUfunction f, CUstream stream, CUdeviceptr p, uint32_t v, uint32_t n);
CUresult launch_copy(CUstream stream, CUdeviceptr to, CUdeviceptr from, uint32_t n);
CUdeviceptr words(uint32_t n);            /* n zeroed 32-bit words on the device */
uint32_t word(CUdeviceptr p, uint32_t i); /* p[i], when all earlier work is done */
#define WORD(_p, _i, _value) ck_assert_uint_eq(word(_p, _i), _value)

/* Runs fn(arg) on another thread that has the same context current, and returns what it returned.
 */
CUresult elsewhere(CUresult (*fn)(void *arg), void *arg);

Suite *suite_context(void);
Suite *suite_memory(void);
Suite *suite_copy(void);
Suite *suite_stream(void);
Suite *suite_event(void);
Suite *suite_fault(void);
Suite *suite_model(void);
Suite *suite_capture(void);
Suite *suite_exec(void);
Suite *suite_graph(void);
Suite *suite_ipc(void);
Suite *suite_proc(void);
Suite *suite_array(void);
Suite *suite_values(void);
Suite *suite_virtual(void);

#endif
