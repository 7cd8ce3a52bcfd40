/* SPDX-License-Identifier: BSD-3-Clause
 * Modelled time in closed form: max(bytes / bandwidth, operations / rate) + launch, on a clock per
 * stream, joined by events. */
#include "config.h"

#include "driver.h"

#include <math.h>

/* Runs one piece of work between two events; modelled seconds. */
static double modelled(CUresult (*work)(CUstream stream, CUdeviceptr p), CUdeviceptr p)
{
    CUstream stream;
    CUevent from, to;
    float ms;
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&from, 0));
    OK(cuEventCreate(&to, 0));
    OK(cuEventRecord(from, stream));
    OK(work(stream, p));
    OK(cuEventRecord(to, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuEventElapsedTime(&ms, from, to));
    OK(cuEventDestroy(from));
    OK(cuEventDestroy(to));
    OK(cuStreamDestroy(stream));
    return ms * 1e-3;
}

static void about(double got, double want)
{
    ck_assert_msg(fabs(got - want) <= 1e-4 * want, "%.9g seconds, not %.9g", got, want);
}

enum { N = 1 << 20, BYTES = 4 * N };

static CUresult work_fill(CUstream stream, CUdeviceptr p)
{
    return launch(fill, stream, p, 1, N);
}

static CUresult work_add(CUstream stream, CUdeviceptr p)
{
    return launch(add, stream, p, 1, N);
}

static CUresult work_madd(CUstream stream, CUdeviceptr p)
{
    return launch(madd, stream, p, 1000, 1024);
}

static CUresult work_memset(CUstream stream, CUdeviceptr p)
{
    return cuMemsetD32Async(p, 0, N, stream);
}

static CUresult work_move(CUstream stream, CUdeviceptr p)
{
    return cuMemcpyDtoDAsync(p + BYTES / 2, p, BYTES / 2, stream);
}

static CUresult work_upload(CUstream stream, CUdeviceptr p)
{
    static char host[BYTES];
    return cuMemcpyHtoDAsync(p, host, BYTES, stream);
}

static CUresult work_two(CUstream stream, CUdeviceptr p)
{
    CUresult r = work_fill(stream, p);
    return r == CUDA_SUCCESS ? work_add(stream, p) : r;
}

static CUresult work_none(CUstream stream, CUdeviceptr p)
{
    (void)stream;
    (void)p;
    return CUDA_SUCCESS;
}

START_TEST(one_operation_costs_what_it_moves_or_computes)
{
    CUdeviceptr p = words(N);
    ck_assert(modelled(work_none, p) == 0);
    about(modelled(work_fill, p), BYTES / GPU_BANDWIDTH + GPU_LAUNCH);
    about(modelled(work_add, p), 2.0 * BYTES / GPU_BANDWIDTH + GPU_LAUNCH);
    about(modelled(work_two, p), 3.0 * BYTES / GPU_BANDWIDTH + 2 * GPU_LAUNCH);
    about(modelled(work_madd, p), 1024 * 1000 * 2 / GPU_F32 + GPU_LAUNCH);
    about(modelled(work_memset, p), BYTES / GPU_BANDWIDTH + GPU_LAUNCH);
    about(modelled(work_move, p), BYTES / GPU_BANDWIDTH + GPU_LAUNCH);
    about(modelled(work_upload, p), BYTES / GPU_COPY_BANDWIDTH + GPU_LAUNCH);
}
END_TEST

START_TEST(equal_work_takes_equal_time)
{
    CUdeviceptr p = words(N);
    double first = modelled(work_add, p);
    for (int i = 0; i < 5; i++)
        about(modelled(work_add, p), first);
}
END_TEST

/* Two streams run side by side; a wait joins their clocks. */
START_TEST(an_event_joins_clocks)
{
    CUstream a, b;
    CUevent start, joint, end;
    float ms;
    CUdeviceptr p = words(N), q = words(N);
    const double one = BYTES / GPU_BANDWIDTH + GPU_LAUNCH;
    OK(cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&start, 0));
    OK(cuEventCreate(&joint, 0));
    OK(cuEventCreate(&end, 0));
    OK(cuEventRecord(start, a));
    OK(cuStreamWaitEvent(b, start, 0));
    for (int i = 0; i < 3; i++)
        OK(launch(fill, a, p, 1, N));
    OK(launch(fill, b, q, 1, N));
    OK(cuEventRecord(joint, a));
    OK(cuStreamWaitEvent(b, joint, 0));
    OK(launch(fill, b, q, 2, N));
    OK(cuEventRecord(end, b));
    OK(cuCtxSynchronize());
    OK(cuEventElapsedTime(&ms, start, end));
    about(ms * 1e-3, 4 * one);
    OK(cuEventElapsedTime(&ms, start, joint));
    about(ms * 1e-3, 3 * one);
    OK(cuEventDestroy(start));
    OK(cuEventDestroy(joint));
    OK(cuEventDestroy(end));
    OK(cuStreamDestroy(a));
    OK(cuStreamDestroy(b));
}
END_TEST

Suite *suite_model(void)
{
    Suite *suite = suite_create("model");
    TCase *tests = tcase_create("modelled time");
    tcase_add_checked_fixture(tests, driver_setup, driver_teardown);
    tcase_add_test(tests, one_operation_costs_what_it_moves_or_computes);
    tcase_add_test(tests, equal_work_takes_equal_time);
    tcase_add_test(tests, an_event_joins_clocks);
    suite_add_tcase(suite, tests);
    return suite;
}
