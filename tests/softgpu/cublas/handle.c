/* SPDX-License-Identifier: BSD-3-Clause
 * Creates and destroys handles, and keeps the state that programs set on them. */
#include "handle.h"
#include "status.h"

#include <stdlib.h>

cublasStatus_t handle_use(cublasHandle_t handle)
{
    if (!gpu_valid((const struct blas_base *)handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    return gpu_use(&handle->base);
}

char op_letter(cublasOperation_t op)
{
    return op == CUBLAS_OP_N ? 'N' : op == CUBLAS_OP_T ? 'T' : op == CUBLAS_OP_C ? 'C' : '?';
}

bool op_valid(cublasOperation_t op)
{
    return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

cublasComputeType_t handle_compute(cublasHandle_t handle, cudaDataType type)
{
    const int mode = (int)handle->math & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
    if (type == CUDA_R_64F || type == CUDA_C_64F)
        return mode == CUBLAS_PEDANTIC_MATH ? CUBLAS_COMPUTE_64F_PEDANTIC : CUBLAS_COMPUTE_64F;
    if (type == CUDA_R_16F)
        return mode == CUBLAS_PEDANTIC_MATH ? CUBLAS_COMPUTE_16F_PEDANTIC : CUBLAS_COMPUTE_16F;
    switch (mode) {
    case CUBLAS_TENSOR_OP_MATH:
        return CUBLAS_COMPUTE_32F_FAST_16F;
    case CUBLAS_PEDANTIC_MATH:
        return CUBLAS_COMPUTE_32F_PEDANTIC;
    case CUBLAS_TF32_TENSOR_OP_MATH:
        return CUBLAS_COMPUTE_32F_FAST_TF32;
    case CUBLAS_FP32_EMULATED_BF16X9_MATH:
        return CUBLAS_COMPUTE_32F_EMULATED_16BFX9;
    default:
        return CUBLAS_COMPUTE_32F;
    }
}

void handle_scalar(cublasHandle_t handle, struct scalar *s, const void *value, cudaDataType type)
{
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {
        scalar_host(s, value, type);
        return;
    }
    s->place = PLACE_DEVICE;
    s->type = type;
    s->device = value;
}

BLAS_API cublasStatus_t cublasCreate_v2(cublasHandle_t *handle_p)
{
    ENTER("%s", "");
    if (handle_p == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    struct cublasContext *handle = calloc(1, sizeof *handle);
    if (handle == NULL)
        return CUBLAS_STATUS_ALLOC_FAILED;
    const cublasStatus_t status = gpu_open(&handle->base);
    if (status != CUBLAS_STATUS_SUCCESS) {
        free(handle);
        return status;
    }
    handle->special_values = (cudaEmulationSpecialValuesSupport)0xffff;
    *handle_p = handle;
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    ENTER("%s", "");
    if (!gpu_valid((const struct blas_base *)handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (gpu_use(&handle->base) == CUBLAS_STATUS_SUCCESS)
        gpu_get()->ctx_synchronize(); /* as documented; its error is the program's to find */
    handle->base.magic = 0;
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream)
{
    ENTER("%s", "");
    if (!gpu_valid((const struct blas_base *)handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    handle->stream = (CUstream)stream;
    handle->workspace = NULL; /* documented: back to the default pool, always */
    handle->workspace_bytes = 0;
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t bytes)
{
    ENTER("%zu", bytes);
    if (!gpu_valid((const struct blas_base *)handle))
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if ((uintptr_t)workspace % 256 != 0 || (workspace == NULL && bytes > 0))
        return CUBLAS_STATUS_INVALID_VALUE;
    handle->workspace = bytes == 0 ? NULL : workspace;
    handle->workspace_bytes = bytes;
    return CUBLAS_STATUS_SUCCESS;
}

static bool math_valid(cublasMath_t mode)
{
    switch ((int)mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION) {
    case CUBLAS_DEFAULT_MATH:
    case CUBLAS_TENSOR_OP_MATH:
    case CUBLAS_PEDANTIC_MATH:
    case CUBLAS_TF32_TENSOR_OP_MATH:
    case CUBLAS_FP32_EMULATED_BF16X9_MATH:
    case CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH:
        return true;
    default:
        return false;
    }
}

static bool pointer_mode_valid(cublasPointerMode_t mode)
{
    return mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE;
}

static bool atomics_valid(cublasAtomicsMode_t mode)
{
    return mode == CUBLAS_ATOMICS_NOT_ALLOWED || mode == CUBLAS_ATOMICS_ALLOWED;
}

static bool strategy_valid(cublasEmulationStrategy_t strategy)
{
    return strategy >= CUBLAS_EMULATION_STRATEGY_DEFAULT &&
           strategy <= CUBLAS_EMULATION_STRATEGY_EAGER;
}

/* A setter and a getter of one field. */
#define SETTER(_name, _type, _field, _valid)                                                       \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _type value)                              \
    {                                                                                              \
        ENTER("%lld", (long long)(intptr_t)value);                                                 \
        if (!gpu_valid((const struct blas_base *)handle))                                          \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        if (!(_valid))                                                                             \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        handle->_field = value;                                                                    \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }
#define GETTER(_name, _type, _field)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _type *value)                             \
    {                                                                                              \
        ENTER("%s", "");                                                                           \
        if (!gpu_valid((const struct blas_base *)handle))                                          \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        if (value == NULL)                                                                         \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        *value = (_type)handle->_field;                                                            \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

GETTER(cublasGetStream_v2, cudaStream_t, stream)
SETTER(cublasSetPointerMode_v2, cublasPointerMode_t, pointer_mode, pointer_mode_valid(value))
GETTER(cublasGetPointerMode_v2, cublasPointerMode_t, pointer_mode)
SETTER(cublasSetAtomicsMode, cublasAtomicsMode_t, atomics, atomics_valid(value))
GETTER(cublasGetAtomicsMode, cublasAtomicsMode_t, atomics)
SETTER(cublasSetMathMode, cublasMath_t, math, math_valid(value))
GETTER(cublasGetMathMode, cublasMath_t, math)
SETTER(cublasSetSmCountTarget, int, sm_count, value >= 0 && value <= handle->base.multiprocessors)
GETTER(cublasGetSmCountTarget, int, sm_count)
SETTER(cublasSetEmulationStrategy, cublasEmulationStrategy_t, emulation, strategy_valid(value))
GETTER(cublasGetEmulationStrategy, cublasEmulationStrategy_t, emulation)
SETTER(cublasSetEmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, special_values,
       true)
GETTER(cublasGetEmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, special_values)
SETTER(cublasSetFixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa_control,
       true)
GETTER(cublasGetFixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa_control)
SETTER(cublasSetFixedPointEmulationMaxMantissaBitCount, int, max_mantissa_bits, value >= 0)
GETTER(cublasGetFixedPointEmulationMaxMantissaBitCount, int, max_mantissa_bits)
SETTER(cublasSetFixedPointEmulationMantissaBitOffset, int, mantissa_offset, true)
GETTER(cublasGetFixedPointEmulationMantissaBitOffset, int, mantissa_offset)
SETTER(cublasSetFixedPointEmulationMantissaBitCountPointer, int *, mantissa_count, true)
GETTER(cublasGetFixedPointEmulationMantissaBitCountPointer, int *, mantissa_count)

BLAS_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    ENTER("%s", "");
    if (version == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *version = status_version();
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    ENTER("%d", (int)type);
    return status_property(type, value);
}

BLAS_API size_t cublasGetCudartVersion(void)
{
    return (size_t)blas_version[0] * 1000;
}

BLAS_API const char *cublasGetStatusName(cublasStatus_t status)
{
    return status_name(status);
}

BLAS_API const char *cublasGetStatusString(cublasStatus_t status)
{
    return status_text(status);
}

static cublasLogCallback logger;

BLAS_API cublasStatus_t cublasLoggerConfigure(int on, int to_stdout, int to_stderr,
                                              const char *file)
{
    ENTER("%d %d %d %s", on, to_stdout, to_stderr, file == NULL ? "" : file);
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasSetLoggerCallback(cublasLogCallback callback)
{
    ENTER("%s", callback == NULL ? "off" : "on");
    logger = callback;
    return CUBLAS_STATUS_SUCCESS;
}

BLAS_API cublasStatus_t cublasGetLoggerCallback(cublasLogCallback *callback)
{
    ENTER("%s", "");
    if (callback == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *callback = logger;
    return CUBLAS_STATUS_SUCCESS;
}
