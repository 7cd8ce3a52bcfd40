// SPDX-License-Identifier: BSD-3-Clause
// Writes operands of the last step's products to a file, for whoever measures errors of products:
// for each of them a name of 32 bytes, m, n, k as int, then A (m x k) and B (k x n), column-major.
#ifndef CHARLM_DUMP_CUH
#define CHARLM_DUMP_CUH

#include "check.cuh"
#include "model.cuh"
#include <errno.h>
#include <string.h>

enum { DUMP_MOST = 64 }; // rows of A and columns of B

// A matrix that is laid out in any order: element (row, column) lies at
// row * row_step + column * column_step.
struct view {
    const float *device;
    long elements, row_step, column_step;
};

static void dump_matrix(FILE *file, const struct view *v, int rows, int columns)
{
    float *all = (float *)malloc(v->elements * sizeof(float));
    if (!all)
        fail("out of memory");
    CUDA(cudaMemcpy(all, v->device, v->elements * sizeof(float), cudaMemcpyDeviceToHost));
    for (int j = 0; j < columns; j++)
        for (int i = 0; i < rows; i++)
            fwrite(&all[i * v->row_step + j * v->column_step], sizeof(float), 1, file);
    free(all);
}

static void dump_product(FILE *file, const char *name, int m, int n, int k, struct view a,
                         struct view b)
{
    char field[32] = "";
    int sizes[] = {m < DUMP_MOST ? m : DUMP_MOST, n < DUMP_MOST ? n : DUMP_MOST, k};
    strncpy(field, name, sizeof(field) - 1);
    fwrite(field, sizeof(field), 1, file);
    fwrite(sizes, sizeof(sizes), 1, file);
    dump_matrix(file, &a, sizes[0], k);
    dump_matrix(file, &b, k, sizes[1]);
}

// After model_backward: the logits are gradients.
static void model_dump(const struct model *m, const char *path)
{
    const struct sizes *s = &m->size;
    const struct layer_values *l = &m->layer[0];
    int rows = s->batch * s->context, vocabulary = s->vocabulary;
    long c = s->width;
    FILE *file = fopen(path, "wb");
    if (!file)
        fail("%s: %s", path, strerror(errno));
    CUDA(cudaStreamSynchronize(m->stream));
    dump_product(file, "trainer, forward", c, rows, 4 * c,
                 {m->weights.layer[0].narrow, 4 * c * c, 4 * c, 1},
                 {l->active, rows * 4 * c, 1, 4 * c});
    dump_product(file, "trainer, gradient of values", c, rows, vocabulary,
                 {m->weights.tokens, vocabulary * c, 1, c},
                 {m->logits, (long)rows * vocabulary, 1, vocabulary});
    dump_product(file, "trainer, gradient of weights", c, vocabulary, rows,
                 {m->norm, rows * c, 1, c},
                 {m->logits, (long)rows * vocabulary, vocabulary, 1});
    if (fclose(file) != 0)
        fail("%s: %s", path, strerror(errno));
}

#endif
