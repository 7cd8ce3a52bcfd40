/* SPDX-License-Identifier: BSD-3-Clause
 * One matrix product as the software GPU executes it: D = epilogue(alpha A B + beta C), batched.
 * The entry points of both libraries fill a struct gemm_op and enqueue it; it holds everything by
 * value (host scalars too), so it can be replayed by a graph. */
#ifndef BLAS_GEMM_H
#define BLAS_GEMM_H

#include "formats.h"
#include "gpu.h"

/* A matrix as a strided view. op(A), op(B) and row order are nothing but strides here; element
 * (r, c) of batch entry i lies at data + size * (i * stride + r * rs + c * cs). */
struct operand {
    const void *data; /* with array set: the device address of an array of pointers */
    int64_t rs, cs, stride;
    cudaDataType type;
    bool conjugate, array;
};

/* What the sums are kept in. */
enum domain { DOMAIN_F32, DOMAIN_F64, DOMAIN_C32, DOMAIN_C64, DOMAIN_I32 };

/* alpha and beta: a value, the device address of one, or of one per row of D. */
enum scalar_place { PLACE_HOST, PLACE_DEVICE, PLACE_VECTOR };
struct scalar {
    enum scalar_place place;
    cudaDataType type;
    bool conjugate;
    int64_t stride; /* of a vector, per batch entry */
    const void *device;
    unsigned char host[16];
};

enum scale_mode { SCALE_NONE, SCALE_TENSOR, SCALE_OUTER };

/* Everything about D beside the product; all zero for the classic entry points. */
struct epilogue {
    unsigned kind; /* cublasLtEpilogue_t, 0: none */
    void *bias;
    cudaDataType bias_type, aux_type;
    int64_t bias_stride, aux_ld, aux_stride;
    void *aux;
    enum scale_mode a_mode, b_mode;
    const float *a_scale, *b_scale, *c_scale, *d_scale, *aux_scale;
    float *d_amax, *aux_amax;
};

struct gemm_op {
    const char *who;    /* the entry point: a string constant */
    const char *family; /* of the count, "gemm" where NULL */
    int64_t m, n, k, batch;
    struct operand a, b, c, d; /* a is m x k, b is k x n */
    enum unit unit;
    enum domain domain;
    cudaDataType scale_type;
    struct scalar alpha, beta;
    struct epilogue epilogue;
    bool hermitian;  /* the diagonal of D is real */
    int uplo;        /* 0: all of D; 'L', 'U': that triangle alone */
    void *workspace; /* scribbled over: nobody may keep anything there */
    size_t workspace_bytes;
};

/* The view of a column-major matrix with leading dimension ld, transposed or not. */
struct operand operand_of(const void *data, cudaDataType type, int64_t ld, int64_t stride,
                          cublasOperation_t op);

/* The unit and the domain of a product; false: the types don't go together. */
bool gemm_arithmetic(struct gemm_op *op, cublasComputeType_t compute);
/* NVIDIA_TF32_OVERRIDE: -1 not set, 0 TF32 is forbidden, 1 demanded */
int tf32_override(void);

/* The scale type that belongs to a compute type and C's type. */
cudaDataType scale_type_of(cublasComputeType_t compute, cudaDataType c);
void scalar_host(struct scalar *s, const void *value, cudaDataType type);

/* Enqueues n products as one operation; counts once when it runs. op[0] decides unit and name. */
cublasStatus_t gemm_enqueue(CUstream stream, const struct gemm_op *op, int n);

/* --- between the files of the core --- */

/* Working copies of one entry's scalars. */
struct resolved {
    double alpha[2], beta[2]; /* real and imaginary part */
    const void *alpha_vector, *beta_vector;
    bool product; /* k > 0 and alpha may be nonzero: A and B are read */
    bool reads_c;
    float scale, c_scale, d_scale, aux_scale; /* FP8: scale of the product, ... */
    const float *row_scale, *col_scale;
};

struct tile {
    int64_t entry, row, col, rows, cols;
    void *sum;        /* rows x cols of the domain */
    double *row_sums; /* of bias gradients, indexed by row of D */
    double *d_amax, *aux_amax;
};

CUresult view_check(const struct gpu *gpu, void *space, const struct operand *x, const void *data,
                    int64_t rows, int64_t cols, int write, int uplo, const char *who);
CUresult entry_data(const struct gpu *gpu, void *space, const struct operand *x, int64_t entry,
                    const char *who, char **data_p);
/* Copies a block of a view into consecutive numbers of the domain, rounded for the unit.
 * transposed_p: the copy is cols x rows (whichever reads memory in order). */
bool view_pack(const struct gemm_op *op, const struct operand *x, const char *data, int64_t row,
               int64_t col, int64_t rows, int64_t cols, void *to, bool *transposed_p);
size_t domain_bytes(enum domain domain);

/* Before any call of OpenBLAS. */
void product_set_up(void);
/* sum (rows x cols) += a b with packed operands; first: sum is not read */
void product_add(const struct gemm_op *op, const void *a, bool a_transposed, const void *b,
                 bool b_transposed, int64_t rows, int64_t cols, int64_t k, void *sum, bool first);

/* D = epilogue(alpha sum + beta C) for one tile. */
void tile_finish(const struct gemm_op *op, const struct resolved *s, const struct tile *t,
                 const char *c, char *d);

#endif
