/* SPDX-License-Identifier: BSD-3-Clause
 * The spied libcublasLt: cublasLtMatmul, and refusals of whatever else the preload may ask. */
#include "conformance/spy/spy.h"

#include <cublasLt.h>
#include <errno.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

SPY(cublasStatus_t, cublasLtMatmul, return (cublasStatus_t)spy.answer, cublasLtHandle_t,
    cublasLtMatmulDesc_t, const void *, const void *, cublasLtMatrixLayout_t, const void *,
    cublasLtMatrixLayout_t, const void *, const void *, cublasLtMatrixLayout_t, void *,
    cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *, size_t, cudaStream_t)

EXPORT cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    *handle = calloc(1, 64);
    return *handle != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}

EXPORT cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    free(handle);
    return CUBLAS_STATUS_SUCCESS;
}

#define REFUSE(_name, ...)                                                                         \
    EXPORT cublasStatus_t _name(EACH(PARAMETER, COMMA, __VA_ARGS__))                               \
    {                                                                                              \
        return CUBLAS_STATUS_NOT_SUPPORTED;                                                        \
    }
REFUSE(cublasLtMatmulDescCreate, cublasLtMatmulDesc_t *, cublasComputeType_t, cudaDataType_t)
REFUSE(cublasLtMatmulDescDestroy, cublasLtMatmulDesc_t)
REFUSE(cublasLtMatmulDescSetAttribute, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t,
       const void *, size_t)
REFUSE(cublasLtMatmulDescGetAttribute, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, void *,
       size_t, size_t *)
REFUSE(cublasLtMatrixLayoutCreate, cublasLtMatrixLayout_t *, cudaDataType, uint64_t, uint64_t,
       int64_t)
REFUSE(cublasLtMatrixLayoutDestroy, cublasLtMatrixLayout_t)
REFUSE(cublasLtMatrixLayoutSetAttribute, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t,
       const void *, size_t)
REFUSE(cublasLtMatrixLayoutGetAttribute, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t,
       void *, size_t, size_t *)
REFUSE(cublasLtMatmulPreferenceCreate, cublasLtMatmulPreference_t *)
REFUSE(cublasLtMatmulPreferenceDestroy, cublasLtMatmulPreference_t)
REFUSE(cublasLtMatmulPreferenceSetAttribute, cublasLtMatmulPreference_t,
       cublasLtMatmulPreferenceAttributes_t, const void *, size_t)
REFUSE(cublasLtMatmulAlgoGetHeuristic, cublasLtHandle_t, cublasLtMatmulDesc_t,
       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
       cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t *,
       int *)
