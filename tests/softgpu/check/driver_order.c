/* SPDX-License-Identifier: BSD-3-Clause
 * A pipeline of three streams that is right by its events: "driver_order" exits 0 in every order
 * that the driver may choose. "driver_order FAULT" leaves one thing out (an event, a buffer of its
 * own, a copy of a host value) and is then wrong in most orders: exit status 1. The script
 * driver_seeds.sh counts. */
#include "config.h"

#include <cuda.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 24, N = 256 };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry combine(.param .u64 to, .param .u64 from, .param .u32 v)\n{\n"
    ".reg .b32 %r<6>; .reg .b64 %d<5>;\n"
    "ld.param.u64 %d1, [to];\nld.param.u64 %d2, [from];\nld.param.u32 %r1, [v];\n"
    "mov.u32 %r2, %tid.x;\nmul.wide.u32 %d3, %r2, 4;\n"
    "add.s64 %d1, %d1, %d3;\nadd.s64 %d2, %d2, %d3;\n"
    "ld.global.u32 %r3, [%d2];\nadd.s32 %r3, %r3, %r1;\nst.global.u32 [%d1], %r3;\nret;\n}\n";

/* A fault of the device is a wrong result; anything else is a failure of the test. */
static void ok(CUresult r, const char *call)
{
    if (r == CUDA_ERROR_ILLEGAL_ADDRESS)
        exit(1);
    if (r != CUDA_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", call, r);
        exit(2);
    }
}
#define OK(_call) ok(_call, #_call)

static CUfunction combine;

static void launch(CUstream stream, CUdeviceptr to, CUdeviceptr from, uint32_t v)
{
    void *params[] = {&to, &from, &v};
    OK(cuLaunchKernel(combine, 1, 1, 1, N, 1, 1, 0, stream, params, NULL));
}

/* What may be left out. */
enum fault { NOTHING, FIRST_EVENT, SECOND_EVENT, REUSE_EVENT, HOST_VALUE, FREE_TOO_EARLY, FAULTS };
static const char *const fault_names[FAULTS] = {"none",  "first-event", "second-event",
                                                "reuse", "host-value",  "free"};

/* upload -> work -> download on three streams over one set of buffers. */
static bool run(enum fault fault)
{
    CUstream up, work, down;
    CUevent uploaded, worked, downloaded;
    CUdeviceptr in, out;
    uint32_t *from, *to;
    bool right = true;
    OK(cuStreamCreate(&up, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&work, CU_STREAM_NON_BLOCKING));
    OK(cuStreamCreate(&down, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&uploaded, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&worked, CU_EVENT_DISABLE_TIMING));
    OK(cuEventCreate(&downloaded, CU_EVENT_DISABLE_TIMING));
    OK(cuMemAlloc(&in, 4 * N));
    OK(cuMemAlloc(&out, 4 * N));
    OK(cuMemAllocHost((void **)&from, 4 * N * ROUNDS));
    OK(cuMemAllocHost((void **)&to, 4 * N * ROUNDS));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t *row = fault == HOST_VALUE ? from : from + N * round;
        for (uint32_t i = 0; i < N; i++)
            row[i] = 1000 * round + i;
        if (round > 0 && fault != REUSE_EVENT)
            OK(cuStreamWaitEvent(up, worked, 0));
        OK(cuMemcpyHtoDAsync(in, row, 4 * N, up));
        OK(cuEventRecord(uploaded, up));
        if (fault != FIRST_EVENT)
            OK(cuStreamWaitEvent(work, uploaded, 0));
        if (round > 0)
            OK(cuStreamWaitEvent(work, downloaded, 0));
        CUdeviceptr scratch;
        OK(cuMemAllocAsync(&scratch, 4 * N, fault == FREE_TOO_EARLY ? up : work));
        launch(work, scratch, in, 5);
        launch(work, out, scratch, 2);
        OK(cuMemFreeAsync(scratch, fault == FREE_TOO_EARLY ? up : work));
        OK(cuEventRecord(worked, work));
        if (fault != SECOND_EVENT)
            OK(cuStreamWaitEvent(down, worked, 0));
        OK(cuMemcpyDtoHAsync(to + N * round, out, 4 * N, down));
        OK(cuEventRecord(downloaded, down));
    }
    OK(cuCtxSynchronize());
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t i = 0; i < N; i++)
            right = right && to[N * round + i] == 1000 * round + i + 7;
    return right;
}

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule module;
    enum fault fault = NOTHING;
    if (argc > 1)
        while (fault < FAULTS && strcmp(argv[1], fault_names[fault]) != 0)
            fault++;
    if (fault == FAULTS) {
        fprintf(stderr, "usage: driver_order [first-event|second-event|reuse|host-value|free]\n");
        return 2;
    }
    OK(cuInit(0));
    OK(cuCtxCreate(&context, NULL, 0, 0));
    OK(cuModuleLoadData(&module, ptx));
    OK(cuModuleGetFunction(&combine, module, "combine"));
    return run(fault) ? 0 : 1;
}
