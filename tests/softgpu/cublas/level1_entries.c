/* SPDX-License-Identifier: BSD-3-Clause
 * Entry points of level 1, with and without handles, for 32-bit and 64-bit sizes: arguments to
 * struct level1, nothing else. */
#include "legacy.h"
#include "level1.h"

/* Both widths of a routine. */
#define BOTH(_macro, _name, ...)                                                                   \
    _macro(_name##_v2, int, __VA_ARGS__) _macro(_name##_v2_64, int64_t, __VA_ARGS__)
#define BOTH_EX(_macro, _name, ...)                                                                \
    _macro(_name, int, __VA_ARGS__) _macro(_name##_64, int64_t, __VA_ARGS__)

static cublasStatus_t one_scalar(cublasHandle_t handle, struct level1 *op, int i, const void *value,
                                 cudaDataType type)
{
    if (value == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (type_bytes(type) == 0)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    handle_scalar(handle, &op->scalar[i], value, type);
    op->scalars = i + 1;
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t with_scalar(cublasHandle_t handle, struct level1 *op, const void *value,
                                  cudaDataType type)
{
    if (op->n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    const cublasStatus_t status = one_scalar(handle, op, 0, value, type);
    return status == CUBLAS_STATUS_SUCCESS ? level1_run(handle, op) : status;
}

static cublasStatus_t with_two(cublasHandle_t handle, struct level1 *op, const void *c,
                               cudaDataType c_type, const void *s, cudaDataType s_type)
{
    if (op->n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    cublasStatus_t status = one_scalar(handle, op, 0, c, c_type);
    if (status == CUBLAS_STATUS_SUCCESS)
        status = one_scalar(handle, op, 1, s, s_type);
    return status == CUBLAS_STATUS_SUCCESS ? level1_run(handle, op) : status;
}

#define OPERATION(_kind, _xtype, _y, _ytype, _incy)                                                \
    struct level1 op = {.who = __func__,                                                           \
                        .kind = _kind,                                                             \
                        .n = n,                                                                    \
                        .x = vector_of(x, _xtype, incx),                                           \
                        .y = vector_of(_y, _ytype, _incy)}

#define AXPY(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const _t *alpha, const _t *x,     \
                                  _int incx, _t *y, _int incy)                                     \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        OPERATION(LEVEL1_AXPY, _type, y, _type, incy);                                             \
        return with_scalar(handle, &op, alpha, _type);                                             \
    }
#define SCAL(_name, _int, _t, _type, _s, _stype)                                                   \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const _s *alpha, _t *x,           \
                                  _int incx)                                                       \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        OPERATION(LEVEL1_SCAL, _type, NULL, _type, 1);                                             \
        return with_scalar(handle, &op, alpha, _stype);                                            \
    }
#define COPY(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const _t *x, _int incx, _t *y,    \
                                  _int incy)                                                       \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        OPERATION(LEVEL1_COPY, _type, y, _type, incy);                                             \
        return level1_run(handle, &op);                                                            \
    }
#define SWAP(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, _t *x, _int incx, _t *y,          \
                                  _int incy)                                                       \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        OPERATION(LEVEL1_SWAP, _type, y, _type, incy);                                             \
        return level1_run(handle, &op);                                                            \
    }
#define DOT(_name, _int, _t, _type, _kind)                                                         \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const _t *x, _int incx,           \
                                  const _t *y, _int incy, _t *result)                              \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        OPERATION(_kind, _type, y, _type, incy);                                                   \
        op.result = (struct result){.to = result, .type = _type};                                  \
        return level1_run(handle, &op);                                                            \
    }
#define NORM(_name, _int, _t, _type, _r, _rtype, _kind)                                            \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const _t *x, _int incx,           \
                                  _r *result)                                                      \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        OPERATION(_kind, _type, NULL, _type, 1);                                                   \
        op.result = (struct result){.to = result, .type = _rtype};                                 \
        return level1_run(handle, &op);                                                            \
    }
#define INDEX_TYPE(_int) (sizeof(_int) == 8 ? CUDA_R_64I : CUDA_R_32I)
#define INDEX(_name, _int, _t, _type, _kind)                                                       \
    NORM(_name, _int, _t, _type, _int, INDEX_TYPE(_int), _kind)
#define ROT(_name, _int, _t, _type, _c, _ctype, _s, _stype)                                        \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, _t *x, _int incx, _t *y,          \
                                  _int incy, const _c *c, const _s *s)                             \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        OPERATION(LEVEL1_ROT, _type, y, _type, incy);                                              \
        return with_two(handle, &op, c, _ctype, s, _stype);                                        \
    }

static cublasStatus_t with_param(cublasHandle_t handle, struct level1 *op, const void *param)
{
    if (param == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        op->param = (struct scalar){.place = PLACE_DEVICE, .device = param};
    else
        memcpy(op->param_host, param, 5 * type_bytes(op->x.type));
    return level1_run(handle, op);
}

#define ROTM(_name, _int, _t, _type)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, _t *x, _int incx, _t *y,          \
                                  _int incy, const _t *param)                                      \
    {                                                                                              \
        ENTER_WITH(handle, "%lld", (long long)n);                                                  \
        OPERATION(LEVEL1_ROTM, _type, y, _type, incy);                                             \
        return with_param(handle, &op, param);                                                     \
    }

#define S                  float, CUDA_R_32F
#define D                  double, CUDA_R_64F
#define C                  cuComplex, CUDA_C_32F
#define Z                  cuDoubleComplex, CUDA_C_64F
#define APPLY(_macro, ...) _macro(__VA_ARGS__)

#define FOUR(_macro, _routine)                                                                     \
    APPLY(BOTH, _macro, cublasS##_routine, S)                                                      \
    APPLY(BOTH, _macro, cublasD##_routine, D)                                                      \
    APPLY(BOTH, _macro, cublasC##_routine, C)                                                      \
    APPLY(BOTH, _macro, cublasZ##_routine, Z)

FOUR(AXPY, axpy)
FOUR(COPY, copy)
FOUR(SWAP, swap)
APPLY(BOTH, SCAL, cublasSscal, S, S)
APPLY(BOTH, SCAL, cublasDscal, D, D)
APPLY(BOTH, SCAL, cublasCscal, C, C)
APPLY(BOTH, SCAL, cublasZscal, Z, Z)
APPLY(BOTH, SCAL, cublasCsscal, C, S)
APPLY(BOTH, SCAL, cublasZdscal, Z, D)
APPLY(BOTH, DOT, cublasSdot, S, LEVEL1_DOT)
APPLY(BOTH, DOT, cublasDdot, D, LEVEL1_DOT)
APPLY(BOTH, DOT, cublasCdotu, C, LEVEL1_DOT)
APPLY(BOTH, DOT, cublasCdotc, C, LEVEL1_DOTC)
APPLY(BOTH, DOT, cublasZdotu, Z, LEVEL1_DOT)
APPLY(BOTH, DOT, cublasZdotc, Z, LEVEL1_DOTC)
APPLY(BOTH, NORM, cublasSnrm2, S, S, LEVEL1_NRM2)
APPLY(BOTH, NORM, cublasDnrm2, D, D, LEVEL1_NRM2)
APPLY(BOTH, NORM, cublasScnrm2, C, S, LEVEL1_NRM2)
APPLY(BOTH, NORM, cublasDznrm2, Z, D, LEVEL1_NRM2)
APPLY(BOTH, NORM, cublasSasum, S, S, LEVEL1_ASUM)
APPLY(BOTH, NORM, cublasDasum, D, D, LEVEL1_ASUM)
APPLY(BOTH, NORM, cublasScasum, C, S, LEVEL1_ASUM)
APPLY(BOTH, NORM, cublasDzasum, Z, D, LEVEL1_ASUM)
APPLY(BOTH, INDEX, cublasIsamax, S, LEVEL1_AMAX)
APPLY(BOTH, INDEX, cublasIdamax, D, LEVEL1_AMAX)
APPLY(BOTH, INDEX, cublasIcamax, C, LEVEL1_AMAX)
APPLY(BOTH, INDEX, cublasIzamax, Z, LEVEL1_AMAX)
APPLY(BOTH, INDEX, cublasIsamin, S, LEVEL1_AMIN)
APPLY(BOTH, INDEX, cublasIdamin, D, LEVEL1_AMIN)
APPLY(BOTH, INDEX, cublasIcamin, C, LEVEL1_AMIN)
APPLY(BOTH, INDEX, cublasIzamin, Z, LEVEL1_AMIN)
APPLY(BOTH, ROT, cublasSrot, S, S, S)
APPLY(BOTH, ROT, cublasDrot, D, D, D)
APPLY(BOTH, ROT, cublasCrot, C, S, C)
APPLY(BOTH, ROT, cublasZrot, Z, D, Z)
APPLY(BOTH, ROT, cublasCsrot, C, S, S)
APPLY(BOTH, ROT, cublasZdrot, Z, D, D)
APPLY(BOTH, ROTM, cublasSrotm, S)
APPLY(BOTH, ROTM, cublasDrotm, D)

/* --- typed --- */

#define AXPY_EX(_name, _int, _unused)                                                              \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const void *alpha,                \
                                  cudaDataType alpha_type, const void *x, cudaDataType x_type,     \
                                  _int incx, void *y, cudaDataType y_type, _int incy,              \
                                  cudaDataType execution)                                          \
    {                                                                                              \
        ENTER_WITH(handle, "%lld types %d %d", (long long)n, (int)x_type, (int)execution);         \
        OPERATION(LEVEL1_AXPY, x_type, y, y_type, incy);                                           \
        return with_scalar(handle, &op, alpha, alpha_type);                                        \
    }
#define SCAL_EX(_name, _int, _unused)                                                              \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const void *alpha,                \
                                  cudaDataType alpha_type, void *x, cudaDataType x_type,           \
                                  _int incx, cudaDataType execution)                               \
    {                                                                                              \
        ENTER_WITH(handle, "%lld types %d %d", (long long)n, (int)x_type, (int)execution);         \
        OPERATION(LEVEL1_SCAL, x_type, NULL, x_type, 1);                                           \
        return with_scalar(handle, &op, alpha, alpha_type);                                        \
    }
#define COPY_EX(_name, _int, _kind, _const)                                                        \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, _const void *x,                   \
                                  cudaDataType x_type, _int incx, void *y, cudaDataType y_type,    \
                                  _int incy)                                                       \
    {                                                                                              \
        ENTER_WITH(handle, "%lld types %d %d", (long long)n, (int)x_type, (int)y_type);            \
        OPERATION(_kind, x_type, y, y_type, incy);                                                 \
        return level1_run(handle, &op);                                                            \
    }
#define DOT_EX(_name, _int, _kind)                                                                 \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const void *x,                    \
                                  cudaDataType x_type, _int incx, const void *y,                   \
                                  cudaDataType y_type, _int incy, void *result,                    \
                                  cudaDataType result_type, cudaDataType execution)                \
    {                                                                                              \
        ENTER_WITH(handle, "%lld types %d %d", (long long)n, (int)x_type, (int)execution);         \
        OPERATION(_kind, x_type, y, y_type, incy);                                                 \
        op.result = (struct result){.to = result, .type = result_type};                            \
        return level1_run(handle, &op);                                                            \
    }
#define NORM_EX(_name, _int, _kind)                                                                \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const void *x,                    \
                                  cudaDataType x_type, _int incx, void *result,                    \
                                  cudaDataType result_type, cudaDataType execution)                \
    {                                                                                              \
        ENTER_WITH(handle, "%lld types %d %d", (long long)n, (int)x_type, (int)execution);         \
        OPERATION(_kind, x_type, NULL, x_type, 1);                                                 \
        op.result = (struct result){.to = result, .type = result_type};                            \
        return level1_run(handle, &op);                                                            \
    }
#define INDEX_EX(_name, _int, _kind)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, const void *x,                    \
                                  cudaDataType x_type, _int incx, _int *result)                    \
    {                                                                                              \
        ENTER_WITH(handle, "%lld type %d", (long long)n, (int)x_type);                             \
        OPERATION(_kind, x_type, NULL, x_type, 1);                                                 \
        op.result = (struct result){.to = result, .type = INDEX_TYPE(_int)};                       \
        return level1_run(handle, &op);                                                            \
    }
#define ROT_EX(_name, _int, _unused)                                                               \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, void *x, cudaDataType x_type,     \
                                  _int incx, void *y, cudaDataType y_type, _int incy,              \
                                  const void *c, const void *s, cudaDataType cs_type,              \
                                  cudaDataType execution)                                          \
    {                                                                                              \
        ENTER_WITH(handle, "%lld types %d %d", (long long)n, (int)x_type, (int)execution);         \
        OPERATION(LEVEL1_ROT, x_type, y, y_type, incy);                                            \
        return with_two(handle, &op, c, type_of_part(cs_type), s, cs_type);                        \
    }

#define ROTM_EX(_name, _int, _unused)                                                              \
    BLAS_API cublasStatus_t _name(cublasHandle_t handle, _int n, void *x, cudaDataType x_type,     \
                                  _int incx, void *y, cudaDataType y_type, _int incy,              \
                                  const void *param, cudaDataType param_type,                      \
                                  cudaDataType execution)                                          \
    {                                                                                              \
        ENTER_WITH(handle, "%lld types %d %d", (long long)n, (int)x_type, (int)execution);         \
        OPERATION(LEVEL1_ROTM, x_type, y, y_type, incy);                                           \
        if (param_type != x_type || type_is_complex(x_type))                                       \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return with_param(handle, &op, param);                                                     \
    }

BOTH_EX(AXPY_EX, cublasAxpyEx, 0)
BOTH_EX(SCAL_EX, cublasScalEx, 0)
BOTH_EX(COPY_EX, cublasCopyEx, LEVEL1_COPY, const)
BOTH_EX(COPY_EX, cublasSwapEx, LEVEL1_SWAP, )
BOTH_EX(DOT_EX, cublasDotEx, LEVEL1_DOT)
BOTH_EX(DOT_EX, cublasDotcEx, LEVEL1_DOTC)
BOTH_EX(NORM_EX, cublasNrm2Ex, LEVEL1_NRM2)
BOTH_EX(NORM_EX, cublasAsumEx, LEVEL1_ASUM)
BOTH_EX(INDEX_EX, cublasIamaxEx, LEVEL1_AMAX)
BOTH_EX(INDEX_EX, cublasIaminEx, LEVEL1_AMIN)
BOTH_EX(ROT_EX, cublasRotEx, 0)
BOTH_EX(ROTM_EX, cublasRotmEx, 0)

/* --- without handles --- */

#define OLD_XY(_name, _t, _x)                                                                      \
    LEGACY(void, _name, (int n, _x _t *x, int incx, _t *y, int incy))                              \
    LEGACY_CALL(_name##_v2(legacy_handle(), n, x, incx, y, incy))
#define OLD_AXPY(_name, _t)                                                                        \
    LEGACY(void, _name, (int n, _t alpha, const _t *x, int incx, _t *y, int incy))                 \
    LEGACY_CALL(_name##_v2(legacy_handle(), n, &alpha, x, incx, y, incy))
#define OLD_SCAL(_name, _t, _s)                                                                    \
    LEGACY(void, _name, (int n, _s alpha, _t *x, int incx))                                        \
    LEGACY_CALL(_name##_v2(legacy_handle(), n, &alpha, x, incx))
#define OLD_DOT(_name, _t)                                                                         \
    LEGACY(_t, _name, (int n, const _t *x, int incx, const _t *y, int incy))                       \
    LEGACY_VALUE(_t, _name##_v2(legacy_handle(), n, x, incx, y, incy, &value))
#define OLD_NORM(_name, _t, _r)                                                                    \
    LEGACY(_r, _name, (int n, const _t *x, int incx))                                              \
    LEGACY_VALUE(_r, _name##_v2(legacy_handle(), n, x, incx, &value))
#define OLD_ROT(_name, _t, _c, _s)                                                                 \
    LEGACY(void, _name, (int n, _t *x, int incx, _t *y, int incy, _c c, _s s))                     \
    LEGACY_CALL(_name##_v2(legacy_handle(), n, x, incx, y, incy, &c, &s))
#define OLD_ROTM(_name, _t)                                                                        \
    LEGACY(void, _name, (int n, _t *x, int incx, _t *y, int incy, const _t *param))                \
    LEGACY_CALL(_name##_v2(legacy_handle(), n, x, incx, y, incy, param))

#define OLD_FOUR(_macro, _routine, ...)                                                            \
    _macro(cublasS##_routine, float, ##__VA_ARGS__)                                                \
        _macro(cublasD##_routine, double, ##__VA_ARGS__)                                           \
            _macro(cublasC##_routine, cuComplex, ##__VA_ARGS__)                                    \
                _macro(cublasZ##_routine, cuDoubleComplex, ##__VA_ARGS__)
OLD_FOUR(OLD_AXPY, axpy)
OLD_FOUR(OLD_XY, copy, const)
OLD_FOUR(OLD_XY, swap, )
OLD_SCAL(cublasSscal, float, float)
OLD_SCAL(cublasDscal, double, double)
OLD_SCAL(cublasCscal, cuComplex, cuComplex)
OLD_SCAL(cublasZscal, cuDoubleComplex, cuDoubleComplex)
OLD_SCAL(cublasCsscal, cuComplex, float)
OLD_SCAL(cublasZdscal, cuDoubleComplex, double)
OLD_DOT(cublasSdot, float)
OLD_DOT(cublasDdot, double)
OLD_DOT(cublasCdotu, cuComplex)
OLD_DOT(cublasCdotc, cuComplex)
OLD_DOT(cublasZdotu, cuDoubleComplex)
OLD_DOT(cublasZdotc, cuDoubleComplex)
OLD_NORM(cublasSnrm2, float, float)
OLD_NORM(cublasDnrm2, double, double)
OLD_NORM(cublasScnrm2, cuComplex, float)
OLD_NORM(cublasDznrm2, cuDoubleComplex, double)
OLD_NORM(cublasSasum, float, float)
OLD_NORM(cublasDasum, double, double)
OLD_NORM(cublasScasum, cuComplex, float)
OLD_NORM(cublasDzasum, cuDoubleComplex, double)
OLD_NORM(cublasIsamax, float, int)
OLD_NORM(cublasIdamax, double, int)
OLD_NORM(cublasIcamax, cuComplex, int)
OLD_NORM(cublasIzamax, cuDoubleComplex, int)
OLD_NORM(cublasIsamin, float, int)
OLD_NORM(cublasIdamin, double, int)
OLD_NORM(cublasIcamin, cuComplex, int)
OLD_NORM(cublasIzamin, cuDoubleComplex, int)
OLD_ROT(cublasSrot, float, float, float)
OLD_ROT(cublasDrot, double, double, double)
OLD_ROT(cublasCrot, cuComplex, float, cuComplex)
OLD_ROT(cublasZrot, cuDoubleComplex, double, cuDoubleComplex)
OLD_ROT(cublasCsrot, cuComplex, float, float)
OLD_ROT(cublasZdrot, cuDoubleComplex, double, double)
OLD_ROTM(cublasSrotm, float)
OLD_ROTM(cublasDrotm, double)
