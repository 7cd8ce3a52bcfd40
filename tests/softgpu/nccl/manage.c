/* SPDX-License-Identifier: BSD-3-Clause
 * Entry points that ask about communicators, end them, and make operations and memory. Registration
 * has nothing to do here; its handles are the addresses. State: the last error of the process. */
#include "tests/softgpu/nccl/arithmetic.h"
#include "tests/softgpu/nccl/entry.h"

#include <stdlib.h>
#include <string.h>

API ncclResult_t pncclGetVersion(int *version)
{
    BEGIN("ncclGetVersion");
    if (version == NULL)
        return ncclInvalidArgument;
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

API const char *pncclGetErrorString(ncclResult_t result)
{
    static const char *const text[ncclNumResults] = {
        "no error",
        "unhandled cuda error",
        "unhandled system error",
        "internal error",
        "invalid argument",
        "invalid usage",
        "remote process error",
        "operation in progress",
    };

    return (unsigned)result < ncclNumResults ? text[result] : "unknown result code";
}

API const char *pncclGetLastError(ncclComm_t comm)
{
    return comm_valid(comm) ? comm->error : "";
}

API ncclResult_t pncclCommGetAsyncError(ncclComm_t comm, ncclResult_t *error)
{
    BEGIN("ncclCommGetAsyncError");
    if (!comm_valid(comm) || error == NULL)
        return ncclInvalidArgument;
    *error = (ncclResult_t)comm->result;
    return ncclSuccess;
}

static ncclResult_t tell(ncclComm_t comm, int *to, int value)
{
    if (!comm_valid(comm) || to == NULL)
        return ncclInvalidArgument;
    *to = value;
    return ncclSuccess;
}

API ncclResult_t pncclCommCount(const ncclComm_t comm, int *count)
{
    BEGIN("ncclCommCount");
    return tell(comm, count, comm_valid(comm) ? comm->nranks : 0);
}

API ncclResult_t pncclCommCuDevice(const ncclComm_t comm, int *device)
{
    BEGIN("ncclCommCuDevice");
    return tell(comm, device, comm_valid(comm) ? comm->device : 0);
}

API ncclResult_t pncclCommUserRank(const ncclComm_t comm, int *rank)
{
    BEGIN("ncclCommUserRank");
    return tell(comm, rank, comm_valid(comm) ? comm->rank : 0);
}

/* Waits for what the streams still have to bring. */
static ncclResult_t finalize(ncclComm_t comm)
{
    const struct gpu *gpu = gpu_get();
    CUcontext before = NULL;

    if (comm->result != ncclSuccess)
        return (ncclResult_t)comm->result;
    gpu->current(&before);
    if (gpu->set_current(comm->context) == CUDA_SUCCESS)
        gpu->synchronize();
    gpu->set_current(before);
    comm_drain(comm);
    return (ncclResult_t)comm->result;
}

API ncclResult_t pncclCommFinalize(ncclComm_t comm)
{
    BEGIN("ncclCommFinalize");
    return comm_valid(comm) ? finalize(comm) : ncclInvalidArgument;
}

API ncclResult_t pncclCommDestroy(ncclComm_t comm)
{
    BEGIN("ncclCommDestroy");
    if (comm == NULL)
        return ncclSuccess;
    if (!comm_valid(comm))
        return ncclInvalidArgument;
    comm_close(comm);
    return ncclSuccess;
}

API ncclResult_t pncclCommAbort(ncclComm_t comm)
{
    BEGIN("ncclCommAbort");
    if (comm == NULL)
        return ncclSuccess;
    if (!comm_valid(comm))
        return ncclInvalidArgument;
    comm_abort(comm);
    comm_close(comm);
    return ncclSuccess;
}

API ncclResult_t pncclCommRevoke(ncclComm_t comm, int flags)
{
    BEGIN("ncclCommRevoke");
    if (!comm_valid(comm) || flags != 0)
        return ncclInvalidArgument;
    comm_abort(comm);
    comm_fail(comm, ncclInvalidUsage, "revoked");
    return ncclSuccess;
}

API ncclResult_t pncclRedOpCreatePreMulSum(ncclRedOp_t *op, void *scalar, ncclDataType_t type,
                                           ncclScalarResidence_t residence, ncclComm_t comm)
{
    struct user_op *bigger, new = {.used = true, .type = type};
    unsigned k = 0;

    BEGIN("ncclRedOpCreatePreMulSum");
    if (!comm_valid(comm) || op == NULL || scalar == NULL || data_bytes(type) == 0)
        return ncclInvalidArgument;
    if (residence == ncclScalarDevice)
        new.device_factor = scalar;
    else if (residence == ncclScalarHostImmediate)
        memcpy(new.factor, scalar, data_bytes(type));
    else
        return ncclInvalidArgument;
    while (k < comm->nops && comm->op[k].used)
        k++;
    if (k == comm->nops) {
        bigger = realloc(comm->op, (k + 1) * sizeof *bigger);
        if (bigger == NULL)
            return ncclSystemError;
        comm->op = bigger;
        comm->nops++;
    }
    comm->op[k] = new;
    *op = (ncclRedOp_t)(ncclNumOps + k);
    return ncclSuccess;
}

API ncclResult_t pncclRedOpDestroy(ncclRedOp_t op, ncclComm_t comm)
{
    unsigned k = (unsigned)op - ncclNumOps;

    BEGIN("ncclRedOpDestroy");
    if (!comm_valid(comm) || (unsigned)op < ncclNumOps || k >= comm->nops || !comm->op[k].used)
        return ncclInvalidArgument;
    comm->op[k].used = false;
    return ncclSuccess;
}

API ncclResult_t pncclMemAlloc(void **p, size_t bytes)
{
    CUdeviceptr d = 0;

    BEGIN("ncclMemAlloc");
    if (p == NULL || bytes == 0)
        return ncclInvalidArgument;
    if (gpu_get()->mem_alloc(&d, bytes) != CUDA_SUCCESS)
        return ncclUnhandledCudaError;
    *p = (void *)(uintptr_t)d;
    return ncclSuccess;
}

API ncclResult_t pncclMemFree(void *p)
{
    BEGIN("ncclMemFree");
    return p == NULL || gpu_get()->mem_free((CUdeviceptr)(uintptr_t)p) == CUDA_SUCCESS
               ? ncclSuccess
               : ncclUnhandledCudaError;
}

API ncclResult_t pncclCommRegister(const ncclComm_t comm, void *p, size_t bytes, void **handle)
{
    BEGIN("ncclCommRegister");
    if (!comm_valid(comm) || p == NULL || bytes == 0 || handle == NULL)
        return ncclInvalidArgument;
    *handle = p;
    return ncclSuccess;
}

API ncclResult_t pncclCommDeregister(const ncclComm_t comm, void *handle)
{
    BEGIN("ncclCommDeregister");
    return comm_valid(comm) && handle != NULL ? ncclSuccess : ncclInvalidArgument;
}

/* No window: the program goes on with plain buffers. */
API ncclResult_t pncclCommWindowRegister(ncclComm_t comm, void *p, size_t bytes,
                                         ncclWindow_t *window, int flags)
{
    (void)flags;
    BEGIN("ncclCommWindowRegister");
    if (!comm_valid(comm) || p == NULL || bytes == 0 || window == NULL)
        return ncclInvalidArgument;
    *window = NULL;
    return ncclSuccess;
}

API ncclResult_t pncclCommWindowDeregister(ncclComm_t comm, ncclWindow_t window)
{
    BEGIN("ncclCommWindowDeregister");
    return comm_valid(comm) && window == NULL ? ncclSuccess : ncclInvalidArgument;
}

TWIN(CommWindowRegister);
TWIN(CommWindowDeregister);
TWIN(GetVersion);
TWIN(GetErrorString);
TWIN(GetLastError);
TWIN(CommGetAsyncError);
TWIN(CommCount);
TWIN(CommCuDevice);
TWIN(CommUserRank);
TWIN(CommFinalize);
TWIN(CommDestroy);
TWIN(CommAbort);
TWIN(CommRevoke);
TWIN(RedOpCreatePreMulSum);
TWIN(RedOpDestroy);
TWIN(MemAlloc);
TWIN(MemFree);
TWIN(CommRegister);
TWIN(CommDeregister);
