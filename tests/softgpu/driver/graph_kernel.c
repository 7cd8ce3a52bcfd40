/* SPDX-License-Identifier: BSD-3-Clause
 * Kernel nodes of graphs: made, asked for their parameters and attributes, changed. Work of the
 * sister libraries is a kernel node too, but one that cannot be looked into. */
#include "tests/softgpu/driver/graph.h"
#include "tests/softgpu/driver/module.h"

#include <stdlib.h>
#include <string.h>

static CUresult make_body(const CUDA_KERNEL_NODE_PARAMS *p, struct node_body **body_p)
{
    CUcontext context;
    CUfunction f;
    struct launch *l;
    size_t bytes;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->func == NULL && p->ctx != NULL)
        context = p->ctx;
    r = function_resolve(p->func != NULL ? p->func : (CUfunction)p->kern, context, &f);
    if (r != CUDA_SUCCESS)
        return r;
    const uint32_t grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ};
    const uint32_t block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
    context = f->module->context;
    r = launch_make(f, context, grid, block, p->sharedMemBytes, false, p->kernelParams, p->extra,
                    &l, &bytes);
    if (r != CUDA_SUCCESS)
        return r;
    *body_p = body_make(&kernel_launch_kind, l, bytes, CU_GRAPH_NODE_TYPE_KERNEL);
    (*body_p)->context = context;
    return CUDA_SUCCESS;
}

static CUDA_KERNEL_NODE_PARAMS from_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *p)
{
    CUDA_KERNEL_NODE_PARAMS q;
    memset(&q, 0, sizeof q);
    memcpy(&q, p, sizeof *p); /* the first version begins the second */
    return q;
}

static struct launch *launch_of(CUgraphNode node)
{
    return node != NULL && node->body->kind == &kernel_launch_kind ? node->body->arg : NULL;
}

/* The pointers live as long as the node keeps these parameters. */
static CUresult get_params(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *p)
{
    struct launch *l = launch_of(node);
    if (l == NULL || p == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const struct sg_kernel *code = l->function->code;
    if (code == NULL)
        return CUDA_ERROR_INVALID_HANDLE;
    pthread_mutex_lock(&driver_lock);
    if (node->body->view == NULL) {
        void **pointers = calloc(code->nparams + 1, sizeof(void *));
        if (pointers == NULL)
            abort();
        for (uint32_t i = 0; i < code->nparams; i++)
            pointers[i] = l->params + code->params[i].offset;
        node->body->view = pointers;
    }
    *p = (CUDA_KERNEL_NODE_PARAMS){.func = l->function,
                                   .gridDimX = l->grid[0],
                                   .gridDimY = l->grid[1],
                                   .gridDimZ = l->grid[2],
                                   .blockDimX = l->block[0],
                                   .blockDimY = l->block[1],
                                   .blockDimZ = l->block[2],
                                   .sharedMemBytes = l->shared,
                                   .kernelParams = node->body->view,
                                   .kern = l->function->kernel,
                                   .ctx = node->body->context};
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                     size_t n, const CUDA_KERNEL_NODE_PARAMS *params)
{
    ENTER("cuGraphAddKernelNode_v2");
    struct node_body *body;
    CUresult r = make_body(params, &body);
    return r == CUDA_SUCCESS ? graph_add_checked(node, graph, deps, n, body) : r;
}

API CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                  size_t n, const CUDA_KERNEL_NODE_PARAMS_v1 *params);
API CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *deps,
                                  size_t n, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS p = from_v1(params);
    return cuGraphAddKernelNode_v2(node, graph, deps, n, &p);
}

API CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *params)
{
    ENTER("cuGraphKernelNodeGetParams_v2");
    return get_params(node, params);
}

API CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params);
API CUresult cuGraphKernelNodeGetParams(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    ENTER("cuGraphKernelNodeGetParams");
    CUDA_KERNEL_NODE_PARAMS p;
    CUresult r = params != NULL ? get_params(node, &p) : CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        memcpy(params, &p, sizeof *params);
    return r;
}

API CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *params)
{
    ENTER("cuGraphKernelNodeSetParams_v2");
    struct node_body *body;
    CUresult r = make_body(params, &body);
    return r == CUDA_SUCCESS ? node_replace(node, body) : r;
}

API CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params);
API CUresult cuGraphKernelNodeSetParams(CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS p = from_v1(params);
    return cuGraphKernelNodeSetParams_v2(node, &p);
}

API CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                               const CUDA_KERNEL_NODE_PARAMS *params)
{
    ENTER("cuGraphExecKernelNodeSetParams_v2");
    struct node_body *body;
    CUresult r = make_body(params, &body);
    return r == CUDA_SUCCESS ? exec_replace(exec, node, body) : r;
}

API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS_v1 *params);
API CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS_v1 *params)
{
    if (params == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    const CUDA_KERNEL_NODE_PARAMS p = from_v1(params);
    return cuGraphExecKernelNodeSetParams_v2(exec, node, &p);
}

/* ---- attributes: one matters here, the others are hints that read as zero */
API CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                           CUkernelNodeAttrValue *value)
{
    ENTER("cuGraphKernelNodeGetAttribute");
    struct launch *l = launch_of(node);
    if (l == NULL || value == NULL || (unsigned)attribute >= CU_LAUNCH_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    memset(value, 0, sizeof *value);
    if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
        value->cooperative = l->cooperative;
    return CUDA_SUCCESS;
}

/* Bodies are shared with clones: the change is made in a copy. */
static CUresult set_cooperative(CUgraphNode node, bool cooperative)
{
    struct launch *copy = copy_of(node->body->arg, node->body->arg_bytes);
    copy->cooperative = cooperative;
    struct node_body *body =
        body_make(&kernel_launch_kind, copy, node->body->arg_bytes, CU_GRAPH_NODE_TYPE_KERNEL);
    body->context = node->body->context;
    return node_replace(node, body);
}

API CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID attribute,
                                           const CUkernelNodeAttrValue *value)
{
    ENTER("cuGraphKernelNodeSetAttribute");
    if (launch_of(node) == NULL || value == NULL || (unsigned)attribute >= CU_LAUNCH_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    return attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE ? set_cooperative(node, value->cooperative)
                                                        : CUDA_SUCCESS;
}

API CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from)
{
    ENTER("cuGraphKernelNodeCopyAttributes");
    if (launch_of(to) == NULL || launch_of(from) == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    return set_cooperative(to, launch_of(from)->cooperative);
}
