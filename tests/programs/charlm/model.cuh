// SPDX-License-Identifier: BSD-3-Clause
// The character model: a small GPT with pre-layer-norm blocks and an output layer tied to the token
// embedding. Owns its parameters, gradients, moments and activations, all FP32 on the device.
// Matrices are row-major, which cuBLAS sees as transposed.
#ifndef CHARLM_MODEL_CUH
#define CHARLM_MODEL_CUH

#include "check.cuh"
#include "kernels.cuh"
#include <math.h>

enum { SCHEDULE = 3 };
static const float BETA1 = 0.9f, BETA2 = 0.99f, EPSILON = 1e-8f, DECAY = 0.1f; // of AdamW

struct sizes {
    int batch, context, layers, heads, width, vocabulary;
};

// Weights are output x input.
struct layer_weights {
    float *norm1_gain, *norm1_shift, *qkv, *qkv_bias, *project, *project_bias;
    float *norm2_gain, *norm2_shift, *widen, *widen_bias, *narrow, *narrow_bias;
};

struct weights {
    float *all;
    float *tokens, *positions, *norm_gain, *norm_shift;
    struct layer_weights *layer;
};

// What the way back needs of a layer's way forward.
struct layer_values {
    float *in, *norm1, *mean1, *scale1, *q, *k, *v, *attention, *joined;
    float *middle, *norm2, *mean2, *scale2, *wide, *active;
};

struct model {
    struct sizes size;
    long parameters;
    struct weights weights, grads;
    float *moment1, *moment2;
    struct layer_values *layer;
    float *out, *norm, *mean, *scale, *logits, *losses, *loss;
    float *flow, *flow_heads, *flow_scores, *flow_q, *flow_k, *flow_v, *work;
    int *tokens, *targets, *first, *order;
    float loss_scale; // gradients are those of the loss times this
    float *schedule, *host_schedule; // of the update: rate and what its moments are divided by
    cudaStream_t stream;
    cublasHandle_t blas;
};

static long blocks_for(long n, int each)
{
    return (n + each - 1) / each;
}

#define BY_ROWS(rows, stream)     blocks_for(rows, ROWS), dim3(WARP, ROWS), 0, (stream)
#define BY_COLUMNS(width, stream) blocks_for(width, WARP), dim3(WARP, COLUMN_ROWS), 0, (stream)
#define BY_ELEMENTS(n, stream)    blocks_for(n, FLAT), FLAT, 0, (stream)

static float *take(float **cursor, long n)
{
    float *p = *cursor;
    *cursor += n;
    return p;
}

// Lays all parameters out in one array that begins at `base`; returns how many there are.
static long weights_lay_out(struct weights *w, float *base, const struct sizes *s)
{
    float *cursor = base;
    long c = s->width;
    w->all = base;
    w->tokens = take(&cursor, s->vocabulary * c);
    w->positions = take(&cursor, s->context * c);
    for (int i = 0; i < s->layers; i++) {
        struct layer_weights *l = &w->layer[i];
        l->norm1_gain = take(&cursor, c);
        l->norm1_shift = take(&cursor, c);
        l->qkv = take(&cursor, 3 * c * c);
        l->qkv_bias = take(&cursor, 3 * c);
        l->project = take(&cursor, c * c);
        l->project_bias = take(&cursor, c);
        l->norm2_gain = take(&cursor, c);
        l->norm2_shift = take(&cursor, c);
        l->widen = take(&cursor, 4 * c * c);
        l->widen_bias = take(&cursor, 4 * c);
        l->narrow = take(&cursor, 4 * c * c);
        l->narrow_bias = take(&cursor, c);
    }
    w->norm_gain = take(&cursor, c);
    w->norm_shift = take(&cursor, c);
    return cursor - base;
}

static struct layer_weights *layer_weights_alloc(int layers)
{
    struct layer_weights *l = (struct layer_weights *)calloc(layers, sizeof(*l));
    if (!l)
        fail("out of memory");
    return l;
}

// Counts the parameters that a model of this size has, without a device.
static long count_parameters(const struct sizes *s)
{
    struct weights w;
    w.layer = layer_weights_alloc(s->layers);
    long n = weights_lay_out(&w, NULL, s);
    free(w.layer);
    return n;
}

static void weights_create(struct weights *w, const struct sizes *s, long n)
{
    w->layer = layer_weights_alloc(s->layers);
    weights_lay_out(w, device_alloc<float>(n), s);
}

static void model_create(struct model *m, const struct sizes *s, float loss_scale)
{
    long rows = (long)s->batch * s->context, c = s->width;
    long scores = (long)s->batch * s->heads * s->context * s->context;
    m->size = *s;
    m->loss_scale = loss_scale;
    m->schedule = device_alloc<float>(SCHEDULE);
    CUDA(cudaMallocHost((void **)&m->host_schedule, SCHEDULE * sizeof(float)));
    m->parameters = count_parameters(s);
    CUDA(cudaStreamCreateWithFlags(&m->stream, cudaStreamNonBlocking));
    BLAS(cublasCreate(&m->blas));
    BLAS(cublasSetStream(m->blas, m->stream));
    weights_create(&m->weights, s, m->parameters);
    weights_create(&m->grads, s, m->parameters);
    m->moment1 = device_alloc<float>(m->parameters);
    m->moment2 = device_alloc<float>(m->parameters);
    CUDA(cudaMemsetAsync(m->moment1, 0, m->parameters * sizeof(float), m->stream));
    CUDA(cudaMemsetAsync(m->moment2, 0, m->parameters * sizeof(float), m->stream));
    m->layer = (struct layer_values *)calloc(s->layers, sizeof(*m->layer));
    if (!m->layer)
        fail("out of memory");
    for (int i = 0; i < s->layers; i++) {
        struct layer_values *l = &m->layer[i];
        float **narrow[] = {&l->in, &l->norm1,  &l->q,      &l->k,
                            &l->v,  &l->joined, &l->middle, &l->norm2};
        for (float **p : narrow)
            *p = device_alloc<float>(rows * c);
        float **one[] = {&l->mean1, &l->scale1, &l->mean2, &l->scale2};
        for (float **p : one)
            *p = device_alloc<float>(rows);
        l->attention = device_alloc<float>(scores);
        l->wide = device_alloc<float>(rows * 4 * c);
        l->active = device_alloc<float>(rows * 4 * c);
    }
    float **narrow[] = {&m->out,    &m->norm,   &m->flow,  &m->flow_heads,
                        &m->flow_q, &m->flow_k, &m->flow_v};
    for (float **p : narrow)
        *p = device_alloc<float>(rows * c);
    m->mean = device_alloc<float>(rows);
    m->scale = device_alloc<float>(rows);
    m->losses = device_alloc<float>(rows);
    m->loss = device_alloc<float>(1);
    m->logits = device_alloc<float>(rows * s->vocabulary);
    m->work = device_alloc<float>(rows * 4 * c);
    m->flow_scores = device_alloc<float>(scores);
    m->tokens = device_alloc<int>(rows);
    m->targets = device_alloc<int>(rows);
    m->order = device_alloc<int>(rows);
    m->first = device_alloc<int>(s->vocabulary + 1);
}

static void model_destroy(struct model *m)
{
    CUDA(cudaStreamSynchronize(m->stream));
    for (int i = 0; i < m->size.layers; i++) {
        struct layer_values *l = &m->layer[i];
        void *owned[] = {l->in,    l->norm1, l->mean1,     l->scale1, l->q,
                         l->k,     l->v,     l->attention, l->joined, l->middle,
                         l->norm2, l->mean2, l->scale2,    l->wide,   l->active};
        for (void *p : owned)
            CUDA(cudaFree(p));
    }
    void *owned[] = {m->weights.all, m->grads.all,   m->moment1, m->moment2, m->out,    m->norm,
                     m->mean,        m->scale,       m->logits,  m->losses,  m->loss,   m->flow,
                     m->flow_heads,  m->flow_scores, m->flow_q,  m->flow_k,  m->flow_v, m->work,
                     m->tokens,      m->targets,     m->first,   m->order, m->schedule};
    for (void *p : owned)
        CUDA(cudaFree(p));
    CUDA(cudaFreeHost(m->host_schedule));
    BLAS(cublasDestroy(m->blas));
    CUDA(cudaStreamDestroy(m->stream));
    free(m->layer);
    free(m->weights.layer);
    free(m->grads.layer);
}

// out = in W^T + bias
static void linear_forward(struct model *m, float *out, const float *in, const float *weight,
                           const float *bias, int rows, int inputs, int outputs)
{
    const float one = 1, zero = 0;
    BLAS(cublasSgemm(m->blas, CUBLAS_OP_T, CUBLAS_OP_N, outputs, rows, inputs, &one, weight, inputs,
                     in, inputs, &zero, out, outputs));
    if (bias) {
        add_bias<<<BY_ROWS(rows, m->stream)>>>(out, bias, rows, outputs);
        LAUNCHED();
    }
}

// in_grad = out_grad W; the gradients of weight and bias are added to what is there.
static void linear_backward(struct model *m, float *in_grad, float *weight_grad, float *bias_grad,
                            const float *out_grad, const float *in, const float *weight, int rows,
                            int inputs, int outputs)
{
    const float one = 1, zero = 0;
    BLAS(cublasSgemm(m->blas, CUBLAS_OP_N, CUBLAS_OP_N, inputs, rows, outputs, &one, weight, inputs,
                     out_grad, outputs, &zero, in_grad, inputs));
    BLAS(cublasSgemm(m->blas, CUBLAS_OP_N, CUBLAS_OP_T, inputs, outputs, rows, &one, in, inputs,
                     out_grad, outputs, &one, weight_grad, inputs));
    if (bias_grad) {
        bias_backward<<<BY_COLUMNS(outputs, m->stream)>>>(bias_grad, out_grad, rows, outputs);
        LAUNCHED();
    }
}

// One product for each sequence and head: C = alpha op(A) op(B), all densely packed.
static void multiply_heads(struct model *m, cublasOperation_t op_a, cublasOperation_t op_b,
                           int rows, int columns, int inner, float alpha, const float *a,
                           const float *b, float *c, int matrices)
{
    const float zero = 0;
    int lda = op_a == CUBLAS_OP_N ? rows : inner, ldb = op_b == CUBLAS_OP_N ? inner : columns;
    BLAS(cublasSgemmStridedBatched(m->blas, op_a, op_b, rows, columns, inner, &alpha, a, lda,
                                   (long)rows * inner, b, ldb, (long)inner * columns, &zero, c,
                                   rows, (long)rows * columns, matrices));
}

// out = joined heads of softmax(Q K^T / sqrt(d)) V
static void attention_forward(struct model *m, struct layer_values *l, int rows, int length)
{
    const struct sizes *s = &m->size;
    int matrices = rows / length * s->heads, d = s->width / s->heads;
    split_heads<<<BY_ROWS(rows, m->stream)>>>(l->q, l->k, l->v, m->work, rows, length, s->heads,
                                              s->width);
    LAUNCHED();
    multiply_heads(m, CUBLAS_OP_T, CUBLAS_OP_N, length, length, d, 1 / sqrtf((float)d), l->k, l->q,
                   l->attention, matrices);
    causal_softmax_forward<<<BY_ROWS((long)matrices * length, m->stream)>>>(
        l->attention, matrices * length, length);
    LAUNCHED();
    multiply_heads(m, CUBLAS_OP_N, CUBLAS_OP_N, d, length, length, 1, l->v, l->attention, m->work,
                   matrices);
    join_heads<<<BY_ROWS(rows, m->stream)>>>(l->joined, m->work, rows, length, s->heads, s->width);
    LAUNCHED();
}

// From the gradient of l->joined in m->work to that of (query, key, value) in m->work.
static void attention_backward(struct model *m, const struct layer_values *l, int rows, int length)
{
    const struct sizes *s = &m->size;
    int matrices = rows / length * s->heads, d = s->width / s->heads;
    float alpha = 1 / sqrtf((float)d);
    join_heads_backward<<<BY_ROWS(rows, m->stream)>>>(m->flow_heads, m->work, rows, length,
                                                      s->heads, s->width);
    LAUNCHED();
    multiply_heads(m, CUBLAS_OP_T, CUBLAS_OP_N, length, length, d, 1, l->v, m->flow_heads,
                   m->flow_scores, matrices);
    multiply_heads(m, CUBLAS_OP_N, CUBLAS_OP_T, d, length, length, 1, m->flow_heads, l->attention,
                   m->flow_v, matrices);
    causal_softmax_backward<<<BY_ROWS((long)matrices * length, m->stream)>>>(
        m->flow_scores, l->attention, matrices * length, length);
    LAUNCHED();
    multiply_heads(m, CUBLAS_OP_N, CUBLAS_OP_N, d, length, length, alpha, l->k, m->flow_scores,
                   m->flow_q, matrices);
    multiply_heads(m, CUBLAS_OP_N, CUBLAS_OP_T, d, length, length, alpha, l->q, m->flow_scores,
                   m->flow_k, matrices);
    split_heads_backward<<<BY_ROWS(rows, m->stream)>>>(m->work, m->flow_q, m->flow_k, m->flow_v,
                                                       rows, length, s->heads, s->width);
    LAUNCHED();
}

static void norm_forward(struct model *m, float *out, float *mean, float *scale, const float *in,
                         const float *gain, const float *shift, int rows)
{
    layernorm_forward<<<BY_ROWS(rows, m->stream)>>>(out, mean, scale, in, gain, shift, rows,
                                                    m->size.width);
    LAUNCHED();
}

// Adds what comes back through the norm to m->flow.
static void norm_backward(struct model *m, float *gain_grad, float *shift_grad,
                          const float *out_grad, const float *in, const float *mean,
                          const float *scale, const float *gain, int rows)
{
    int width = m->size.width;
    layernorm_backward_weights<<<BY_COLUMNS(width, m->stream)>>>(gain_grad, shift_grad, out_grad,
                                                                 in, mean, scale, rows, width);
    LAUNCHED();
    layernorm_backward<<<BY_ROWS(rows, m->stream)>>>(m->flow, out_grad, in, mean, scale, gain, rows,
                                                     width);
    LAUNCHED();
}

static void add(struct model *m, float *out, const float *a, const float *b, long n)
{
    residual_add<<<BY_ELEMENTS(n, m->stream)>>>(out, a, b, n);
    LAUNCHED();
}

// The logits of `batch` sequences of `length` characters in m->tokens.
static void model_forward(struct model *m, int batch, int length)
{
    const struct sizes *s = &m->size;
    int rows = batch * length, c = s->width;
    embed_forward<<<BY_ROWS(rows, m->stream)>>>(m->layer[0].in, m->tokens, m->weights.tokens,
                                                m->weights.positions, rows, length, c);
    LAUNCHED();
    for (int i = 0; i < s->layers; i++) {
        const struct layer_weights *w = &m->weights.layer[i];
        struct layer_values *l = &m->layer[i];
        float *next = i + 1 < s->layers ? m->layer[i + 1].in : m->out;
        norm_forward(m, l->norm1, l->mean1, l->scale1, l->in, w->norm1_gain, w->norm1_shift, rows);
        linear_forward(m, m->work, l->norm1, w->qkv, w->qkv_bias, rows, c, 3 * c);
        attention_forward(m, l, rows, length);
        linear_forward(m, m->work, l->joined, w->project, w->project_bias, rows, c, c);
        add(m, l->middle, l->in, m->work, (long)rows * c);
        norm_forward(m, l->norm2, l->mean2, l->scale2, l->middle, w->norm2_gain, w->norm2_shift,
                     rows);
        linear_forward(m, l->wide, l->norm2, w->widen, w->widen_bias, rows, c, 4 * c);
        gelu_forward<<<BY_ELEMENTS((long)rows * 4 * c, m->stream)>>>(l->active, l->wide,
                                                                     (long)rows * 4 * c);
        LAUNCHED();
        linear_forward(m, m->work, l->active, w->narrow, w->narrow_bias, rows, 4 * c, c);
        add(m, next, l->middle, m->work, (long)rows * c);
    }
    norm_forward(m, m->norm, m->mean, m->scale, m->out, m->weights.norm_gain, m->weights.norm_shift,
                 rows);
    linear_forward(m, m->logits, m->norm, m->weights.tokens, NULL, rows, c, s->vocabulary);
}

// The mean loss against m->targets, in m->loss; with `backward` the logits become their gradients.
static void model_loss(struct model *m, int rows, int backward)
{
    cross_entropy<<<BY_ROWS(rows, m->stream)>>>(
        m->losses, m->logits, m->targets, backward ? m->loss_scale / rows : 0, rows,
        m->size.vocabulary);
    LAUNCHED();
    mean_loss<<<1, FLAT, 0, m->stream>>>(m->loss, m->losses, rows);
    LAUNCHED();
}

// Gradients of the mean loss of a full batch; m->first and m->order list the rows by character.
static void model_backward(struct model *m)
{
    const struct sizes *s = &m->size;
    int rows = s->batch * s->context, c = s->width;
    CUDA(cudaMemsetAsync(m->grads.all, 0, m->parameters * sizeof(float), m->stream));
    CUDA(cudaMemsetAsync(m->flow, 0, (size_t)rows * c * sizeof(float), m->stream));
    linear_backward(m, m->work, m->grads.tokens, NULL, m->logits, m->norm, m->weights.tokens, rows,
                    c, s->vocabulary);
    norm_backward(m, m->grads.norm_gain, m->grads.norm_shift, m->work, m->out, m->mean, m->scale,
                  m->weights.norm_gain, rows);
    for (int i = s->layers - 1; i >= 0; i--) {
        const struct layer_weights *w = &m->weights.layer[i], *g = &m->grads.layer[i];
        const struct layer_values *l = &m->layer[i];
        linear_backward(m, m->work, g->narrow, g->narrow_bias, m->flow, l->active, w->narrow, rows,
                        4 * c, c);
        gelu_backward<<<BY_ELEMENTS((long)rows * 4 * c, m->stream)>>>(m->work, l->wide,
                                                                      (long)rows * 4 * c);
        LAUNCHED();
        linear_backward(m, m->flow_heads, g->widen, g->widen_bias, m->work, l->norm2, w->widen,
                        rows, c, 4 * c);
        norm_backward(m, g->norm2_gain, g->norm2_shift, m->flow_heads, l->middle, l->mean2,
                      l->scale2, w->norm2_gain, rows);
        linear_backward(m, m->work, g->project, g->project_bias, m->flow, l->joined, w->project,
                        rows, c, c);
        attention_backward(m, l, rows, s->context);
        linear_backward(m, m->flow_heads, g->qkv, g->qkv_bias, m->work, l->norm1, w->qkv, rows, c,
                        3 * c);
        norm_backward(m, g->norm1_gain, g->norm1_shift, m->flow_heads, l->in, l->mean1, l->scale1,
                      w->norm1_gain, rows);
    }
    embed_backward_tokens<<<s->vocabulary, WARP * 2, 0, m->stream>>>(m->grads.tokens, m->flow,
                                                                     m->first, m->order, c);
    LAUNCHED();
    embed_backward_positions<<<s->context, WARP * 2, 0, m->stream>>>(m->grads.positions, m->flow,
                                                                     s->batch, s->context, c);
    LAUNCHED();
}

// What the update of a step depends on; `step` counts from 1.
static void model_schedule(struct model *m, float rate, int step)
{
    m->host_schedule[0] = rate;
    m->host_schedule[1] = 1 - powf(BETA1, step);
    m->host_schedule[2] = 1 - powf(BETA2, step);
}

static void unscale(struct model *m)
{
    if (m->loss_scale == 1)
        return;
    multiply_by<<<BY_ELEMENTS(m->parameters, m->stream)>>>(m->grads.all, 1 / m->loss_scale,
                                                           m->parameters);
    LAUNCHED();
}

// One step of AdamW.
static void model_update(struct model *m)
{
    const float *s = m->host_schedule;
    unscale(m);
    adamw<<<BY_ELEMENTS(m->parameters, m->stream)>>>(m->weights.all, m->grads.all, m->moment1,
                                                     m->moment2, m->parameters, s[0], BETA1, BETA2,
                                                     s[1], s[2], EPSILON, DECAY);
    LAUNCHED();
}

// The same for a graph: each launch of it reads the schedule as it is then.
static void model_update_scheduled(struct model *m)
{
    CUDA(cudaMemcpyAsync(m->schedule, m->host_schedule, SCHEDULE * sizeof(float),
                         cudaMemcpyHostToDevice, m->stream));
    unscale(m);
    adamw_scheduled<<<BY_ELEMENTS(m->parameters, m->stream)>>>(
        m->weights.all, m->grads.all, m->moment1, m->moment2, m->parameters, m->schedule, BETA1,
        BETA2, EPSILON, DECAY);
    LAUNCHED();
}

#endif
