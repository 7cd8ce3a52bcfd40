/* SPDX-License-Identifier: BSD-3-Clause
 * Random operands. Each owns its memory on both sides until operand_free. */
#include "kernels/operand.h"
#include "reference/scale.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

static const float *column_of(const struct operand *o, int64_t entry, int64_t column)
{
    return o->host + o->offset + entry * o->stride + column * o->ld;
}

/* Padding holds numbers that would decide the maximum, Inf and NaN. */
static void fill_source(struct operand *o, enum data data)
{
    static const float padding[] = {3e38f, -3e38f, INFINITY, NAN};
    o->host = malloc(o->elements * sizeof *o->host);
    for (size_t i = 0; i < o->elements; i++)
        o->host[i] = padding[draw_int(0, 3)];
    const size_t n = (size_t)(o->rows * o->cols);
    float *x = malloc(n * sizeof *x);
    for (int64_t entry = 0; entry < (o->stride == 0 ? 1 : o->batch); entry++) {
        draw_data(data, x, n);
        for (int64_t c = 0; c < o->cols; c++)
            memcpy((float *)(uintptr_t)column_of(o, entry, c), x + c * o->rows,
                   (size_t)o->rows * sizeof *x);
    }
    free(x);
    o->memory = gpu_new(o->host, o->elements * sizeof *o->host);
}

static void lay_out_source(struct operand *o, const struct shape *shape)
{
    const bool padded = !shape->dense && draw_one_in(2);
    o->rows = shape->rows;
    o->cols = shape->cols;
    o->batch = shape->batch;
    o->ld = o->rows + (padded ? draw_int(0, 9) : 0);
    o->stride = o->ld * o->cols + (padded ? draw_int(0, 9) : 0);
    if (!shape->dense && draw_one_in(3)) { /* as vectors need it */
        o->ld = round_up(o->ld, 4);
        o->stride = round_up(o->ld * o->cols, 4);
    }
    if (o->batch > 1 && !shape->dense && draw_one_in(4))
        o->stride = 0;
    o->offset = shape->dense || draw_one_in(2) ? 0 : draw_int(0, 7);
    o->elements =
        (size_t)(o->offset + (o->batch - 1) * o->stride + (o->cols - 1) * o->ld + o->rows);
}

static void lay_out_copy(struct operand *o, bool dense)
{
    const int64_t stored = ref_stored(o->format);
    const int64_t along = o->k_along_rows ? stored : 1, across = o->k_along_rows ? 1 : stored;
    o->copy_cols = across > 1 ? round_up(o->cols, 8) : o->cols;
    o->k = round_up(o->k_along_rows ? o->rows : o->cols, 8);
    const int part_log2 = (int)draw_int(3, 8);
    o->part = stored == 1 ? o->k : (int64_t)1 << part_log2;
    o->copy_ld = round_up(o->rows, 8) * along + (dense ? 0 : 8 * draw_int(0, 2));
    o->copy_stride = o->copy_ld * o->copy_cols * across + (dense ? 0 : 8 * draw_int(0, 2));
    o->copy_elements = (size_t)(o->copy_stride * o->batch);
    o->copy_host = malloc(o->copy_elements * sizeof *o->copy_host);
    for (size_t i = 0; i < o->copy_elements; i++)
        o->copy_host[i] = (uint16_t)draw_bits();
    o->copy = gpu_new(o->copy_host, o->copy_elements * sizeof *o->copy_host);
    o->target = (struct apex_target){.data = (void *)(uintptr_t)o->copy,
                                     .ld = o->copy_ld,
                                     .stride = o->copy_stride,
                                     .k = o->k,
                                     .part_log2 = (uint32_t)part_log2,
                                     .k_along_rows = o->k_along_rows};
}

/* Any grid that kernels.h allows; vectors wherever they are allowed, mostly. */
static void lay_out_walk(struct operand *o, uint32_t most_blocks)
{
    struct apex_walk *w = &o->source.walk;
    o->source.data = (const float *)(uintptr_t)o->memory + o->offset;
    o->source.ld = o->ld;
    o->source.stride = o->stride;
    o->source.cols = o->flat ? 1 : o->cols;
    w->rows = o->flat ? o->rows * o->cols * o->batch : o->rows;
    w->cols = o->flat ? 1 : o->copy_cols;
    w->batch = o->flat ? 1 : o->batch;
    w->tx_log2 = (uint32_t)draw_int(0, 8);
    const int64_t step = (int64_t)APEX_VECTOR << w->tx_log2, steps = (w->rows + step - 1) / step;
    const int64_t segments = draw_int(1, steps < most_blocks ? steps : most_blocks);
    w->segment_rows = (steps + segments - 1) / segments * step;
    w->segments = (uint32_t)((w->rows + w->segment_rows - 1) / w->segment_rows);
    const int64_t at_once = APEX_BLOCK_THREADS >> w->tx_log2;
    const int64_t most_groups = (w->cols * w->batch + at_once - 1) / at_once;
    const int64_t room = most_blocks / w->segments;
    w->groups = (uint32_t)draw_int(1, most_groups < room ? most_groups : room < 1 ? 1 : room);
    o->blocks = w->segments * w->groups;
    const bool columns = w->cols * w->batch > 1;
    const bool allowed = o->offset % 4 == 0 && (!columns || (o->ld % 4 == 0 && o->stride % 4 == 0));
    w->vector = allowed && !draw_one_in(4);
}

void operand_make(struct operand *o, enum ref_format format, int index, const struct shape *shape,
                  enum data data, uint32_t most_blocks)
{
    *o = (struct operand){.format = format, .index = index, .k_along_rows = shape->k_along_rows};
    lay_out_source(o, shape);
    fill_source(o, data);
    lay_out_copy(o, shape->dense);
    /* What holds in both memories: one column after the other, without a gap. */
    o->flat = o->rows % 8 == 0 && o->ld == o->rows && ref_stored(format) == 1 &&
              (o->batch == 1 || o->stride == o->rows * o->cols) && o->copy_ld == o->rows &&
              (o->batch == 1 || o->copy_stride == o->copy_ld * o->cols) && !draw_one_in(4);
    lay_out_walk(o, most_blocks);
}

void operand_free(struct operand *o)
{
    gpu_free(o->memory);
    gpu_free(o->copy);
    free(o->host);
    free(o->copy_host);
}

double operand_amax(const struct operand *o)
{
    double amax = 0;
    for (int64_t entry = 0; entry < o->batch; entry++)
        for (int64_t c = 0; c < o->cols; c++)
            for (int64_t r = 0; r < o->rows; r++) {
                const double x = fabs((double)column_of(o, entry, c)[r]);
                amax = isfinite(x) && x > amax ? x : amax;
            }
    return amax;
}

uint64_t operand_lost(const struct operand *o, int exponent)
{
    uint64_t lost = 0;
    for (int64_t entry = 0; entry < o->batch; entry++)
        for (int64_t c = 0; c < o->cols; c++)
            for (int64_t r = 0; r < o->rows; r++)
                lost += ref_is_lost(column_of(o, entry, c)[r], exponent);
    return lost;
}

/* The pieces of the element (r, c), zeros where there is none, go to their places; known: which of
 * the pieces is there, from 1 on. */
static void place(const struct operand *o, uint16_t *want, uint8_t *known, int64_t entry, int64_t r,
                  int64_t c, int exponent)
{
    uint16_t piece[3] = {0, 0, 0};
    if (r < o->rows && c < o->cols)
        ref_split(o->format, column_of(o, entry, c)[r], exponent, piece);
    for (int i = 0; i < ref_stored(o->format); i++) {
        const int64_t row = o->k_along_rows ? ref_place(o->format, o->k, o->part, r, i) : r;
        const int64_t column = o->k_along_rows ? c : ref_place(o->format, o->k, o->part, c, i);
        const int64_t at = entry * o->copy_stride + column * o->copy_ld + row;
        const int p = ref_piece_at(o->format, o->index, i);
        want[at] = piece[p];
        known[at] = (uint8_t)(1 + p);
    }
}

void operand_check_copy(const struct operand *o, int exponent, const char *when)
{
    const size_t bytes = o->copy_elements * sizeof(uint16_t);
    uint16_t *want = malloc(bytes), *got = malloc(bytes);
    uint8_t *known = calloc(o->copy_elements, 1);
    memcpy(want, o->copy_host, bytes);
    for (int64_t entry = 0; entry < o->batch; entry++)
        for (int64_t c = 0; c < o->copy_cols; c++)
            for (int64_t r = 0; r < round_up(o->rows, 8); r++)
                place(o, want, known, entry, r, c, exponent);
    gpu_read(got, o->copy, bytes);
    for (size_t i = 0; i < o->copy_elements; i++)
        if (known[i] ? !ref_same(o->format, known[i] - 1, want[i], got[i]) : want[i] != got[i])
            ck_abort_msg("%s: %s: %s %04x instead of %04x at %d (ld %d, stride %d): %d x %d x %d, "
                         "format %d, exponent %d, K along %s, ld %d, vector %d, flat %d",
                         when, o->index == 0 ? "A" : "B", known[i] ? "element" : "padding", got[i],
                         want[i], (int)i, (int)o->copy_ld, (int)o->copy_stride, (int)o->rows,
                         (int)o->cols, (int)o->batch, (int)o->format, exponent,
                         o->k_along_rows ? "rows" : "columns", (int)o->ld, o->source.walk.vector,
                         o->flat);
    free(want);
    free(got);
    free(known);
}

void operand_check_source(const struct operand *o)
{
    const size_t bytes = o->elements * sizeof *o->host;
    float *now = malloc(bytes);
    gpu_read(now, o->memory, bytes);
    ck_assert_msg(memcmp(now, o->host, bytes) == 0, "the source was written to");
    free(now);
}
