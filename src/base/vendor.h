/* SPDX-License-Identifier: BSD-3-Clause
 * The vendor's headers, and prototypes of what older ones (11.8) do not declare. The functions are
 * looked up at run time: a library that lacks one leaves its pointer NULL. */
#ifndef APEXSHIM_VENDOR_H
#define APEXSHIM_VENDOR_H

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <stdint.h>

#if CUDA_VERSION < 12000
typedef int CUdriverProcAddressQueryResult; /* passed on by pointer, never looked at */
extern CUresult cuGetProcAddress_v2(const char *symbol, void **function, int version,
                                    cuuint64_t flags, CUdriverProcAddressQueryResult *status);
extern CUresult cuCtxGetId(CUcontext context, unsigned long long *id);
extern CUresult cuStreamGetId(CUstream stream, unsigned long long *id);
#endif

#if CUBLAS_VER_MAJOR < 12
/* the 64-bit forms of the calls that have hooks of their own */
#define GEMM_HEAD cublasHandle_t, cublasOperation_t, cublasOperation_t, int64_t, int64_t, int64_t
extern cublasStatus_t cublasSgemm_v2_64(GEMM_HEAD, const float *, const float *, int64_t,
                                        const float *, int64_t, const float *, float *, int64_t);
extern cublasStatus_t cublasSgemmEx_64(GEMM_HEAD, const float *, const void *, cudaDataType, int64_t,
                                       const void *, cudaDataType, int64_t, const float *, void *,
                                       cudaDataType, int64_t);
extern cublasStatus_t cublasGemmEx_64(GEMM_HEAD, const void *, const void *, cudaDataType, int64_t,
                                      const void *, cudaDataType, int64_t, const void *, void *,
                                      cudaDataType, int64_t, cublasComputeType_t, cublasGemmAlgo_t);
extern cublasStatus_t cublasSgemmStridedBatched_64(GEMM_HEAD, const float *, const float *, int64_t,
                                                   long long, const float *, int64_t, long long,
                                                   const float *, float *, int64_t, long long,
                                                   int64_t);
extern cublasStatus_t cublasGemmStridedBatchedEx_64(GEMM_HEAD, const void *, const void *,
                                                    cudaDataType, int64_t, long long, const void *,
                                                    cudaDataType, int64_t, long long, const void *,
                                                    void *, cudaDataType, int64_t, long long, int64_t,
                                                    cublasComputeType_t, cublasGemmAlgo_t);
extern cublasStatus_t cublasSgemmBatched_64(GEMM_HEAD, const float *, const float *const[], int64_t,
                                            const float *const[], int64_t, const float *,
                                            float *const[], int64_t, int64_t);
extern cublasStatus_t cublasGemmBatchedEx_64(GEMM_HEAD, const void *, const void *const[],
                                             cudaDataType, int64_t, const void *const[], cudaDataType,
                                             int64_t, const void *, void *const[], cudaDataType,
                                             int64_t, int64_t, cublasComputeType_t, cublasGemmAlgo_t);
#undef GEMM_HEAD
#endif

#endif
