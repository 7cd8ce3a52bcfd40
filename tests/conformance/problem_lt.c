/* SPDX-License-Identifier: BSD-3-Clause
 * The part of a problem that only cublasLtMatmul has: pointer modes, workspace, epilogues with
 * their bias and auxiliary matrix. */
#include "conformance/problem.h"

bool epilogue_has_bias(uint32_t e)
{
    return e == CUBLASLT_EPILOGUE_BIAS || e == CUBLASLT_EPILOGUE_RELU_BIAS ||
           e == CUBLASLT_EPILOGUE_RELU_AUX_BIAS || e == CUBLASLT_EPILOGUE_GELU_BIAS ||
           e == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
}

bool epilogue_makes_bias(uint32_t e)
{
    return e == CUBLASLT_EPILOGUE_DRELU_BGRAD || e == CUBLASLT_EPILOGUE_DGELU_BGRAD ||
           e == CUBLASLT_EPILOGUE_BGRADA || e == CUBLASLT_EPILOGUE_BGRADB;
}

bool epilogue_has_mask(uint32_t e)
{
    return e == CUBLASLT_EPILOGUE_RELU_AUX || e == CUBLASLT_EPILOGUE_RELU_AUX_BIAS ||
           e == CUBLASLT_EPILOGUE_DRELU || e == CUBLASLT_EPILOGUE_DRELU_BGRAD;
}

bool epilogue_reads_aux(uint32_t e)
{
    return e == CUBLASLT_EPILOGUE_DRELU || e == CUBLASLT_EPILOGUE_DRELU_BGRAD ||
           e == CUBLASLT_EPILOGUE_DGELU || e == CUBLASLT_EPILOGUE_DGELU_BGRAD;
}

bool epilogue_has_aux(uint32_t e)
{
    return epilogue_has_mask(e) || epilogue_reads_aux(e) || e == CUBLASLT_EPILOGUE_GELU_AUX ||
           e == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
}

static void draw_epilogue(struct drawing *d, struct problem *p)
{
    static const uint32_t all[] = {
        CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,
        CUBLASLT_EPILOGUE_RELU_AUX,    CUBLASLT_EPILOGUE_GELU,     CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
        CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
        CUBLASLT_EPILOGUE_DRELU,       CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD,
        CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,   CUBLASLT_EPILOGUE_BGRADB};
    uint64_t *s = &d->random;
    const struct part *part = &p->part[0];
    const uint32_t e = p->lt.epilogue = PICK(s, all);
    if ((e == CUBLASLT_EPILOGUE_BGRADA || e == CUBLASLT_EPILOGUE_BGRADB) &&
        p->compute != CUBLAS_COMPUTE_32F_PEDANTIC)
        p->compute = CUBLAS_COMPUTE_32F; /* are they sums of what was rounded? It is not said. */
    if (epilogue_has_bias(e) || epilogue_makes_bias(e)) {
        const int64_t length = e == CUBLASLT_EPILOGUE_BGRADB ? part->n : part->m;
        p->lt.bias_stride = length + 2;
        const int64_t elements = (part->batch - 1) * p->lt.bias_stride + length;
        buffer_allocate(&p->buffer[BUFFER_BIAS], (size_t)elements * sizeof(float));
        float *bias = (float *)(void *)p->buffer[BUFFER_BIAS].before;
        for (int64_t i = 0; i < elements; i++)
            bias[i] = (float)random_normal(s);
        for (int64_t i = 0; epilogue_makes_bias(e) && i < part->batch; i++)
            buffer_own(&p->buffer[BUFFER_BIAS], (size_t)(i * p->lt.bias_stride) * sizeof(float),
                       (size_t)length * sizeof(float));
    }
    if (!epilogue_has_aux(e))
        return;
    const bool mask = epilogue_has_mask(e);
    const int64_t unit = mask ? 128 : 8;
    p->lt.aux_ld = (part->m + unit - 1) / unit * unit + unit * random_below(s, 2);
    p->lt.aux_stride = p->lt.aux_ld * part->n;
    const size_t elements = (size_t)(part->batch * p->lt.aux_stride);
    buffer_allocate(&p->buffer[BUFFER_AUX], mask ? elements / 8 : elements * sizeof(float));
    unsigned char *aux = p->buffer[BUFFER_AUX].before;
    for (size_t i = 0; mask && i < elements / 8; i++)
        aux[i] = (unsigned char)random_below(s, 256);
    for (size_t i = 0; !mask && i < elements; i++)
        ((float *)(void *)aux)[i] = (float)(2 * random_normal(s));
    const size_t column = mask ? (size_t)(part->m + 7) / 8 : (size_t)part->m * sizeof(float);
    const size_t step = mask ? (size_t)p->lt.aux_ld / 8 : (size_t)p->lt.aux_ld * sizeof(float);
    for (int64_t i = 0; !epilogue_reads_aux(e) && i < part->batch * part->n; i++)
        buffer_own(&p->buffer[BUFFER_AUX], (size_t)i * step, column);
}

void problem_draw_lt(struct drawing *d, struct problem *p)
{
    static const int32_t vectors[] = {CUBLASLT_POINTER_MODE_DEVICE_VECTOR,
                                      CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_ZERO,
                                      CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST};
    static const size_t workspaces[] = {0, 4096, 1 << 20};
    p->lt.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
    p->lt.workspace = PICK(&d->random, workspaces);
    p->lt.pointers = p->device_scalars ? CUBLASLT_POINTER_MODE_DEVICE : CUBLASLT_POINTER_MODE_HOST;
    if (p->routine->lt == LT_VECTOR) {
        p->lt.pointers = PICK(&d->random, vectors);
        p->device_scalars = true;
    }
    if (p->routine->lt == LT_EPILOGUE)
        draw_epilogue(d, p);
}
