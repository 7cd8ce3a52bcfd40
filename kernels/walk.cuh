/* SPDX-License-Identifier: BSD-3-Clause
 * Device side of struct apex_walk: where a thread starts and how it goes on. */
#ifndef APEXSHIM_WALK_CUH
#define APEXSHIM_WALK_CUH

#include "kernels.h"

/* The part of the walk that is this thread's. block counts from 0 within the operand. */
struct apex_position {
    int64_t row, row_end, row_step;
    int64_t column, columns, column_step;
};

static __device__ __forceinline__ apex_position apex_start(const apex_walk &walk, uint32_t block)
{
    uint32_t segment = block % walk.segments, group = block / walk.segments;
    uint32_t tx = threadIdx.x & ((1u << walk.tx_log2) - 1), ty = threadIdx.x >> walk.tx_log2;
    uint32_t columns_at_once = APEX_BLOCK_THREADS >> walk.tx_log2;
    apex_position p;
    int64_t first = (int64_t)segment * walk.segment_rows;
    p.row = first + (int64_t)tx * APEX_VECTOR;
    p.row_end = min(first + walk.segment_rows, walk.rows);
    p.row_step = (int64_t)APEX_VECTOR << walk.tx_log2;
    p.column = (int64_t)group * columns_at_once + ty;
    p.columns = walk.cols * walk.batch;
    p.column_step = (int64_t)walk.groups * columns_at_once;
    return p;
}

/* Which column of which batch entry the walk's column is. */
struct apex_column {
    int64_t entry, column;
};

static __device__ __forceinline__ apex_column apex_locate(const apex_walk &walk, int64_t column)
{
    apex_column c = {0, column};
    if (walk.batch != 1) {
        c.entry = column / walk.cols;
        c.column = column - c.entry * walk.cols;
    }
    return c;
}

/* Loads count (1..APEX_VECTOR) elements; the others become 0. */
static __device__ __forceinline__ void apex_load(const float *p, int64_t count, bool vector,
                                                 float (&x)[APEX_VECTOR])
{
    if (vector && count == APEX_VECTOR) {
        const float4 *q = reinterpret_cast<const float4 *>(p);
        float4 low = __ldg(q), high = __ldg(q + 1);
        x[0] = low.x, x[1] = low.y, x[2] = low.z, x[3] = low.w;
        x[4] = high.x, x[5] = high.y, x[6] = high.z, x[7] = high.w;
        return;
    }
#pragma unroll
    for (int i = 0; i < APEX_VECTOR; i++)
        x[i] = i < count ? __ldg(p + i) : 0.0f;
}

#endif
