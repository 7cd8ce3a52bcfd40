/* SPDX-License-Identifier: BSD-3-Clause
 * The documented rules of cublasLtMatmul that a random call does not meet. */
#include "conformance/rules.h"

#include <stdio.h>
#include <string.h>

static const float zero = 0, one = 1, two = 2, minus_one = -1;

static cublasLtMatrixLayout_t lt_layout(cudaDataType type, int rows, int cols)
{
    cublasLtMatrixLayout_t l;
    BLAS_OK(cublasLtMatrixLayoutCreate(&l, type, (uint64_t)rows, (uint64_t)cols, rows));
    return l;
}

static cublasLtMatmulDesc_t lt_descriptor(cublasOperation_t transa)
{
    cublasLtMatmulDesc_t desc;
    const int32_t op = transa;
    BLAS_OK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS_OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &op, sizeof op));
    return desc;
}

static const char *lt_shapes_differ(void)
{
    rules_fresh();
    const cublasLtMatmulDesc_t desc = lt_descriptor(CUBLAS_OP_N);
    const cublasLtMatrixLayout_t l = lt_layout(CUDA_R_32F, N, N),
                                 bad = lt_layout(CUDA_R_32F, N, N - 1);
    const cublasStatus_t status =
        cublasLtMatmul((cublasLtHandle_t)t.handle, desc, &one, t.a, l, t.b, l, &zero, t.c, bad, t.c,
                       bad, NULL, NULL, 0, t.stream);
    BLAS_OK(cublasLtMatrixLayoutDestroy(l));
    BLAS_OK(cublasLtMatrixLayoutDestroy(bad));
    BLAS_OK(cublasLtMatmulDescDestroy(desc));
    MUST(status == CUBLAS_STATUS_INVALID_VALUE);
    return rules_judge(0, 1);
}

/* What cublasLtMatmul says of a square product in C; the defaults are right. */
struct lt_request {
    int32_t transa;
    const float *beta;
    const void *c;
    void *workspace;
    int ldc; /* of C; D has N - 4 rows and N - 4 of them */
};

static cublasStatus_t lt_request(const struct lt_request *r)
{
    const int n = N - 4;
    const int64_t ldc = r->ldc;
    const cublasLtMatmulDesc_t desc = lt_descriptor(CUBLAS_OP_N);
    const cublasLtMatrixLayout_t l = lt_layout(CUDA_R_32F, n, n), c = lt_layout(CUDA_R_32F, n, n);
    cublasStatus_t status = cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA,
                                                           &r->transa, sizeof r->transa);
    BLAS_OK(cublasLtMatrixLayoutSetAttribute(c, CUBLASLT_MATRIX_LAYOUT_LD, &ldc, sizeof ldc));
    if (status == CUBLAS_STATUS_SUCCESS)
        status =
            cublasLtMatmul((cublasLtHandle_t)t.handle, desc, &two, t.a, l, t.b, l, r->beta, r->c, c,
                           t.c, l, NULL, r->workspace, r->workspace ? 256 : 0, t.stream);
    BLAS_OK(cublasLtMatrixLayoutDestroy(l));
    BLAS_OK(cublasLtMatrixLayoutDestroy(c));
    BLAS_OK(cublasLtMatmulDescDestroy(desc));
    return status;
}

static const char *lt_as_asked(void)
{
    rules_fresh();
    const struct lt_request r = {CUBLAS_OP_N, &minus_one, t.c, t.scalars, N - 4};
    MUST(lt_request(&r) == CUBLAS_STATUS_SUCCESS);
    return NULL;
}

static const char *lt_refuses(struct lt_request r)
{
    MUST(lt_request(&r) == CUBLAS_STATUS_INVALID_VALUE);
    return rules_judge(0, 1);
}

static const char *lt_no_such_operation(void)
{
    rules_fresh();
    return lt_refuses((struct lt_request){7, &zero, t.c, NULL, N - 4});
}

static const char *lt_no_beta(void)
{
    rules_fresh();
    return lt_refuses((struct lt_request){CUBLAS_OP_N, NULL, t.c, NULL, N - 4});
}

static const char *lt_no_c(void)
{
    rules_fresh();
    return lt_refuses((struct lt_request){CUBLAS_OP_N, &one, NULL, NULL, N - 4});
}

static const char *lt_in_place_in_another_layout(void)
{
    rules_fresh();
    return lt_refuses((struct lt_request){CUBLAS_OP_N, &one, t.c, NULL, N});
}

static const char *lt_workspace_misaligned(void)
{
    rules_fresh();
    return lt_refuses((struct lt_request){CUBLAS_OP_N, &one, t.c, t.scalars + 1, N - 4});
}

/* Narrow operands are the program's own choice: they stay. */
static const char *lt_fp8(void)
{
    enum { M = 16, K = 32 };
    unsigned char ones[M * K];
    rules_fresh();
    memset(ones, 0x38, sizeof ones); /* 1 as E4M3 */
    CUDA_OK(cudaMemcpy(t.a, ones, sizeof ones, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy(t.b, ones, sizeof ones, cudaMemcpyHostToDevice));
    const cublasLtMatmulDesc_t desc = lt_descriptor(CUBLAS_OP_T);
    const cublasLtMatrixLayout_t ab = lt_layout(CUDA_R_8F_E4M3, K, M),
                                 c = lt_layout(CUDA_R_32F, M, M);
    const cublasStatus_t status =
        cublasLtMatmul((cublasLtHandle_t)t.handle, desc, &two, t.a, ab, t.b, ab, &zero, t.c, c, t.c,
                       c, NULL, NULL, 0, t.stream);
    BLAS_OK(cublasLtMatrixLayoutDestroy(ab));
    BLAS_OK(cublasLtMatrixLayoutDestroy(c));
    BLAS_OK(cublasLtMatmulDescDestroy(desc));
    WORKS(status);
    rules_fetch();
    for (int i = 0; i < M * M; i++)
        MUST(t.got[i] == 2 * K);
    return NULL;
}

const struct rule lt_rules[] = {
    RULE(lt_shapes_differ),
    RULE(lt_as_asked),
    RULE(lt_no_such_operation),
    RULE(lt_no_beta),
    RULE(lt_no_c),
    RULE(lt_in_place_in_another_layout),
    RULE(lt_workspace_misaligned),
    RULE(lt_fp8),
};
const int lt_rule_count = sizeof lt_rules / sizeof lt_rules[0];
