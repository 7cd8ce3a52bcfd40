/* SPDX-License-Identifier: BSD-3-Clause
 * User objects: reference-counted things of the program that graphs keep alive. */
#include "tests/softgpu/driver/graph.h"

#include <stdlib.h>

struct CUuserObject_st {
    void *pointer;
    CUhostFn destroy;
    unsigned refs;
};

void user_object_retain(CUuserObject object, unsigned n)
{
    object->refs += n;
}

void user_object_release(CUuserObject object, unsigned n)
{
    object->refs -= n;
    if (object->refs > 0)
        return;
    object->destroy(object->pointer);
    free(object);
}

API CUresult cuUserObjectCreate(CUuserObject *object, void *pointer, CUhostFn destroy,
                                unsigned refs, unsigned flags)
{
    ENTER("cuUserObjectCreate");
    if (object == NULL || destroy == NULL || refs == 0 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    *object = calloc(1, sizeof **object);
    if (*object == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    **object = (struct CUuserObject_st){pointer, destroy, refs};
    return CUDA_SUCCESS;
}

API CUresult cuUserObjectRetain(CUuserObject object, unsigned n)
{
    ENTER("cuUserObjectRetain");
    if (object == NULL || n == 0)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    user_object_retain(object, n);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuUserObjectRelease(CUuserObject object, unsigned n)
{
    ENTER("cuUserObjectRelease");
    if (object == NULL || n == 0 || n > object->refs)
        return CUDA_ERROR_INVALID_VALUE;
    pthread_mutex_lock(&driver_lock);
    user_object_release(object, n);
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned n, unsigned flags)
{
    ENTER("cuGraphRetainUserObject");
    struct user_reference *u = calloc(1, sizeof *u);
    if (graph == NULL || object == NULL || n == 0 || u == NULL) {
        free(u);
        return CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_lock(&driver_lock);
    if (flags != CU_GRAPH_USER_OBJECT_MOVE)
        user_object_retain(object, n);
    *u = (struct user_reference){object, n, graph->users};
    graph->users = u;
    pthread_mutex_unlock(&driver_lock);
    return CUDA_SUCCESS;
}

API CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned n)
{
    ENTER("cuGraphReleaseUserObject");
    CUresult r = CUDA_ERROR_INVALID_VALUE;
    if (graph == NULL || object == NULL || n == 0)
        return r;
    pthread_mutex_lock(&driver_lock);
    for (struct user_reference **link = &graph->users; *link != NULL; link = &(*link)->next) {
        struct user_reference *u = *link;
        if (u->object != object || u->n < n)
            continue;
        u->n -= n;
        if (u->n == 0) {
            *link = u->next;
            free(u);
        }
        user_object_release(object, n);
        r = CUDA_SUCCESS;
        break;
    }
    pthread_mutex_unlock(&driver_lock);
    return r;
}
