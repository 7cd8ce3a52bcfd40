/* SPDX-License-Identifier: BSD-3-Clause
 * The entry points under test and how a call is passed to each, by the forms of routine.def. Owns
 * nothing. */
#include "conformance/routine.h"

#define SIZES(_int)                                                                                \
    c->part[0].transa, c->part[0].transb, (_int)c->part[0].m, (_int)c->part[0].n,                  \
        (_int)c->part[0].k
#define LDA(_int)   (_int) c->part[0].lda
#define LDB(_int)   (_int) c->part[0].ldb
#define LDC(_int)   (_int) c->part[0].ldc
#define BATCH(_int) (_int) c->part[0].batch

#define PLAIN_HEAD(_name, _int, _t)                                                                \
    cublasStatus_t _name(cublasHandle_t, cublasOperation_t, cublasOperation_t, _int, _int, _int,   \
                         const _t *, const _t *, _int, const _t *, _int, const _t *, _t *, _int)
#define STRIDED_HEAD(_name, _int, _t)                                                              \
    cublasStatus_t _name(cublasHandle_t, cublasOperation_t, cublasOperation_t, _int, _int, _int,   \
                         const _t *, const _t *, _int, long long, const _t *, _int, long long,     \
                         const _t *, _t *, _int, long long, _int)
#define ARRAY_HEAD(_name, _int, _t)                                                                \
    cublasStatus_t _name(cublasHandle_t, cublasOperation_t, cublasOperation_t, _int, _int, _int,   \
                         const _t *, const _t *const[], _int, const _t *const[], _int, const _t *, \
                         _t *const[], _int, _int)
/* cublas_v2.h shows the half precision functions to C++ alone. */
PLAIN_HEAD(cublasHgemm, int, uint16_t);
PLAIN_HEAD(cublasHgemm_64, int64_t, uint16_t);
STRIDED_HEAD(cublasHgemmStridedBatched, int, uint16_t);
STRIDED_HEAD(cublasHgemmStridedBatched_64, int64_t, uint16_t);
ARRAY_HEAD(cublasHgemmBatched, int, uint16_t);
ARRAY_HEAD(cublasHgemmBatched_64, int64_t, uint16_t);

#define MAKE_LEGACY(_name, _int, _t)
#define MAKE_PLAIN(_name, _int, _t)                                                                \
    return _name(c->handle, SIZES(_int), c->alpha, c->a, LDA(_int), c->b, LDB(_int), c->beta,      \
                 c->c, LDC(_int))
#define MAKE_STRIDED(_name, _int, _t)                                                              \
    return _name(c->handle, SIZES(_int), c->alpha, c->a, LDA(_int), c->part[0].stride_a, c->b,     \
                 LDB(_int), c->part[0].stride_b, c->beta, c->c, LDC(_int), c->part[0].stride_c,    \
                 BATCH(_int))
#define MAKE_ARRAY(_name, _int, _t)                                                                \
    return _name(c->handle, SIZES(_int), c->alpha, (const _t *const *)c->a, LDA(_int),             \
                 (const _t *const *)c->b, LDB(_int), c->beta, (_t *const *)c->c, LDC(_int),        \
                 BATCH(_int))
#define MAKE_TYPED(_name, _int, _t)                                                                \
    return _name(c->handle, SIZES(_int), c->alpha, c->a, c->ab_type, LDA(_int), c->b, c->ab_type,  \
                 LDB(_int), c->beta, c->c, c->c_type, LDC(_int))
#define MAKE_EX(_name, _int, _t)                                                                   \
    return _name(c->handle, SIZES(_int), c->alpha, c->a, c->ab_type, LDA(_int), c->b, c->ab_type,  \
                 LDB(_int), c->beta, c->c, c->c_type, LDC(_int), c->compute, c->algo)
#define MAKE_STRIDED_EX(_name, _int, _t)                                                           \
    return _name(c->handle, SIZES(_int), c->alpha, c->a, c->ab_type, LDA(_int),                    \
                 c->part[0].stride_a, c->b, c->ab_type, LDB(_int), c->part[0].stride_b, c->beta,   \
                 c->c, c->c_type, LDC(_int), c->part[0].stride_c, BATCH(_int), c->compute,         \
                 c->algo)
#define MAKE_ARRAY_EX(_name, _int, _t)                                                             \
    return _name(c->handle, SIZES(_int), c->alpha, (const void *const *)c->a, c->ab_type,          \
                 LDA(_int), (const void *const *)c->b, c->ab_type, LDB(_int), c->beta,             \
                 (void *const *)c->c, c->c_type, LDC(_int), BATCH(_int), c->compute, c->algo)
/* Sizes and leading dimensions of a grouped call are arrays on the host. */
#define GROUPS(_int)                                                                               \
    cublasOperation_t ta[MOST_PARTS], tb[MOST_PARTS];                                              \
    _int m[MOST_PARTS], n[MOST_PARTS], k[MOST_PARTS], lda[MOST_PARTS], ldb[MOST_PARTS],            \
        ldc[MOST_PARTS], batch[MOST_PARTS];                                                        \
    for (int i = 0; i < c->parts; i++) {                                                           \
        ta[i] = c->part[i].transa, tb[i] = c->part[i].transb;                                      \
        m[i] = (_int)c->part[i].m, n[i] = (_int)c->part[i].n, k[i] = (_int)c->part[i].k;           \
        lda[i] = (_int)c->part[i].lda, ldb[i] = (_int)c->part[i].ldb;                              \
        ldc[i] = (_int)c->part[i].ldc, batch[i] = (_int)c->part[i].batch;                          \
    }
#define MAKE_GROUPED(_name, _int, _t)                                                              \
    GROUPS(_int)                                                                                   \
    return _name(c->handle, ta, tb, m, n, k, c->alpha, (const _t *const *)c->a, lda,               \
                 (const _t *const *)c->b, ldb, c->beta, (_t *const *)c->c, ldc, c->parts, batch)
#define MAKE_GROUPED_EX(_name, _int, _t)                                                           \
    GROUPS(_int)                                                                                   \
    return _name(c->handle, ta, tb, m, n, k, c->alpha, (const void *const *)c->a, c->ab_type, lda, \
                 (const void *const *)c->b, c->ab_type, ldb, c->beta, (void *const *)c->c,         \
                 c->c_type, ldc, c->parts, batch, c->compute)

#define MAKER(_family, _name, _int, _t)                                                            \
    static cublasStatus_t make_##_name(const struct call *c)                                       \
    {                                                                                              \
        MAKE_##_family(_name, _int, _t);                                                           \
    }
#define MAKER_LEGACY(_family, _name, _int, _t)
#define MAKER_PLAIN      MAKER
#define MAKER_STRIDED    MAKER
#define MAKER_ARRAY      MAKER
#define MAKER_TYPED      MAKER
#define MAKER_EX         MAKER
#define MAKER_STRIDED_EX MAKER
#define MAKER_ARRAY_EX   MAKER
#define MAKER_GROUPED    MAKER
#define MAKER_GROUPED_EX MAKER
#define ROUTINE(_family, _name, _int, _t, _number, _coverage)                                      \
    MAKER_##_family(_family, _name, _int, _t)
#include "conformance/routine.def"
#undef ROUTINE

/* The legacy functions share their names with macros of cublas_v2.h: strings are made before those
 * are seen, and they have no maker here. */
#define MAKER_OF_LEGACY(_name) NULL
#define MAKER_OF(_name)        make_##_name
#define MAKER_OF_PLAIN         MAKER_OF
#define MAKER_OF_STRIDED       MAKER_OF
#define MAKER_OF_ARRAY         MAKER_OF
#define MAKER_OF_TYPED         MAKER_OF
#define MAKER_OF_EX            MAKER_OF
#define MAKER_OF_STRIDED_EX    MAKER_OF
#define MAKER_OF_ARRAY_EX      MAKER_OF
#define MAKER_OF_GROUPED       MAKER_OF
#define MAKER_OF_GROUPED_EX    MAKER_OF

const struct routine routines[] = {
#define ROUTINE(_family, _name, _int, _t, _number, _coverage)                                      \
    {#_name, _family, _number, _coverage, LT_PLAIN, MAKER_OF_##_family(_name)},
#include "conformance/routine.def"
#undef ROUTINE
    {"cublasLtMatmul", LT, F32, ALWAYS, LT_PLAIN, NULL},
    {"cublasLtMatmul (row order)", LT, F32, ALWAYS, LT_ROW, NULL},
    {"cublasLtMatmul (mixed orders)", LT, F32, ALWAYS, LT_ORDERS, NULL},
    {"cublasLtMatmul (C != D)", LT, F32, ALWAYS, LT_OUT, NULL},
    {"cublasLtMatmul (epilogues)", LT, F32, ALWAYS, LT_EPILOGUE, NULL},
    {"cublasLtMatmul (alpha vectors)", LT, F32, MAY, LT_VECTOR, NULL},
    {"cublasLtMatmul (own algorithm)", LT, F32, ALWAYS, LT_ALGO, NULL},
    {"cublasLtMatmul (other types)", LT, ANY, NEVER, LT_TYPES, NULL},
};

const int routine_count = sizeof routines / sizeof routines[0];

bool family_array(enum family family)
{
    return family == ARRAY || family == ARRAY_EX || family == GROUPED || family == GROUPED_EX;
}

bool family_batched(enum family family)
{
    return family == STRIDED || family == STRIDED_EX || family == LT || family_array(family);
}

bool family_ex(enum family family)
{
    return family == EX || family == STRIDED_EX || family == ARRAY_EX || family == GROUPED_EX;
}
