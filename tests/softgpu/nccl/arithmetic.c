/* SPDX-License-Identifier: BSD-3-Clause
 * Arithmetic of reductions. The 16- and 8-bit formats are computed in FP32 and rounded. No state.
 */
#include "tests/softgpu/nccl/arithmetic.h"

#include "tests/softgpu/cublas/formats.h"

#include <math.h>

size_t data_bytes(ncclDataType_t type)
{
    switch (type) {
    case ncclInt8:
    case ncclUint8:
    case ncclFloat8e4m3:
    case ncclFloat8e5m2:
        return 1;
    case ncclFloat16:
    case ncclBfloat16:
        return 2;
    case ncclInt32:
    case ncclUint32:
    case ncclFloat32:
        return 4;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
        return 8;
    default:
        return 0;
    }
}

bool data_is_float(ncclDataType_t type)
{
    return data_bytes(type) > 0 && type >= ncclFloat16;
}

static float e4m3_float(uint8_t x)
{
    return float_of_e4m3(x);
}

static float e5m2_float(uint8_t x)
{
    return float_of_e5m2(x);
}

#define SAME(_x) (_x)
/* For each type: the type in memory, the type to compute in, how to get there and back, minimum and
 * maximum. Integers are computed without sign, so that they wrap. */
#define FLOATS(_do)                                                                                \
    _do(ncclFloat16, uint16_t, float, float_of_f16, f16_of_float, fminf, fmaxf)                    \
        _do(ncclBfloat16, uint16_t, float, float_of_bf16, bf16_of_float, fminf, fmaxf)             \
            _do(ncclFloat8e4m3, uint8_t, float, e4m3_float, e4m3_of_float, fminf, fmaxf)           \
                _do(ncclFloat8e5m2, uint8_t, float, e5m2_float, e5m2_of_float, fminf, fmaxf)       \
                    _do(ncclFloat32, float, float, SAME, SAME, fminf, fmaxf)                       \
                        _do(ncclFloat64, double, double, SAME, SAME, fmin, fmax)
#define LEAST(_a, _b) ((_a) < (_b) ? (_a) : (_b))
#define MOST(_a, _b)  ((_a) > (_b) ? (_a) : (_b))
#define INTEGERS(_do)                                                                              \
    _do(ncclInt8, int8_t, uint32_t) _do(ncclUint8, uint8_t, uint32_t)                              \
        _do(ncclInt32, int32_t, uint32_t) _do(ncclUint32, uint32_t, uint32_t)                      \
            _do(ncclInt64, int64_t, uint64_t) _do(ncclUint64, uint64_t, uint64_t)

#define REDUCE(_memory, _expr)                                                                     \
    do {                                                                                           \
        _memory *t = to;                                                                           \
        const _memory *f = from;                                                                   \
        for (size_t i = 0; i < n; i++)                                                             \
            t[i] = (_memory)(_expr);                                                               \
        return;                                                                                    \
    } while (0)
#define REDUCE_FLOAT(_type, _memory, _wide, _get, _put, _min, _max)                                \
    case _type:                                                                                    \
        if (op == ncclSum)                                                                         \
            REDUCE(_memory, _put(_get(t[i]) + _get(f[i])));                                        \
        if (op == ncclProd)                                                                        \
            REDUCE(_memory, _put(_get(t[i]) * _get(f[i])));                                        \
        if (op == ncclMin)                                                                         \
            REDUCE(_memory, _put(_min(_get(t[i]), _get(f[i]))));                                   \
        REDUCE(_memory, _put(_max(_get(t[i]), _get(f[i]))));
#define REDUCE_INTEGER(_type, _memory, _wide)                                                      \
    case _type:                                                                                    \
        if (op == ncclSum)                                                                         \
            REDUCE(_memory, (_wide)t[i] + (_wide)f[i]);                                            \
        if (op == ncclProd)                                                                        \
            REDUCE(_memory, (_wide)t[i] * (_wide)f[i]);                                            \
        if (op == ncclMin)                                                                         \
            REDUCE(_memory, LEAST(t[i], f[i]));                                                    \
        REDUCE(_memory, MOST(t[i], f[i]));

void reduce_into(void *to, const void *from, size_t n, ncclDataType_t type, ncclRedOp_t op)
{
    switch (type) {
        FLOATS(REDUCE_FLOAT)
        INTEGERS(REDUCE_INTEGER)
    default:
        return;
    }
}

#define SCALE(_memory, _wide, _get, _put)                                                          \
    do {                                                                                           \
        _memory *t = p, by;                                                                        \
        _wide wide;                                                                                \
        memcpy(&by, factor, sizeof by);                                                            \
        wide = (_wide)_get(by);                                                                    \
        for (size_t i = 0; i < n; i++)                                                             \
            t[i] = (_memory)_put((_wide)_get(t[i]) * wide);                                        \
        return;                                                                                    \
    } while (0)
#define SCALE_FLOAT(_type, _memory, _wide, _get, _put, _min, _max)                                 \
    case _type:                                                                                    \
        SCALE(_memory, _wide, _get, _put);
#define SCALE_INTEGER(_type, _memory, _wide)                                                       \
    case _type:                                                                                    \
        SCALE(_memory, _wide, SAME, SAME);

void scale_by(void *p, size_t n, ncclDataType_t type, const void *factor)
{
    switch (type) {
        FLOATS(SCALE_FLOAT)
        INTEGERS(SCALE_INTEGER)
    default:
        return;
    }
}

#define RECIPROCAL(_type, _memory, _wide, _get, _put, _min, _max)                                  \
    case _type: {                                                                                  \
        _memory one = _put((_wide)1 / (_wide)nranks);                                              \
        memcpy(factor, &one, sizeof one);                                                          \
        return;                                                                                    \
    }

void reciprocal(void *factor, ncclDataType_t type, int nranks)
{
    switch (type) {
        FLOATS(RECIPROCAL)
    default:
        return;
    }
}

#define DIVIDE(_type, _memory, _wide)                                                              \
    case _type: {                                                                                  \
        _memory *t = p;                                                                            \
        for (size_t i = 0; i < n; i++)                                                             \
            t[i] = (_memory)(t[i] / (_memory)nranks);                                              \
        return;                                                                                    \
    }

void divide_by(void *p, size_t n, ncclDataType_t type, int nranks)
{
    switch (type) {
        INTEGERS(DIVIDE)
    default:
        return;
    }
}
