/* SPDX-License-Identifier: BSD-3-Clause
 * The JIT linker: collects PTX and gives an image that holds all of it; a module made of that image
 * links it. Owns the link states. */
#include "tests/softgpu/driver/module.h"

#include <stdlib.h>
#include <string.h>

struct CUlinkState_st {
    struct handle handle;
    struct texts texts;
    struct jit_log log;
    char *image;
};

API CUresult cuLinkCreate_v2(unsigned n, CUjit_option *options, void **values, CUlinkState *state_p)
{
    CUcontext context;
    ENTER("cuLinkCreate_v2");
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (state_p == NULL || (n > 0 && (options == NULL || values == NULL)))
        return CUDA_ERROR_INVALID_VALUE;
    CUlinkState state = calloc(1, sizeof *state);
    if (state == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    jit_log_read(&state->log, n, options, values);
    pthread_mutex_lock(&module_lock);
    handle_add(&state->handle, HANDLE_LINK);
    pthread_mutex_unlock(&module_lock);
    *state_p = state;
    return CUDA_SUCCESS;
}

static CUresult enter_link(CUlinkState state)
{
    pthread_mutex_lock(&module_lock);
    if (handle_is(state, HANDLE_LINK))
        return CUDA_SUCCESS;
    pthread_mutex_unlock(&module_lock);
    return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult add_texts(CUlinkState state, const void *image)
{
    struct texts found;
    CUresult r = texts_find(image, &found);
    if (r != CUDA_SUCCESS)
        return r;
    struct texts *all = &state->texts;
    if (all->n == 0)
        all->target = found.target;
    for (unsigned i = 0; i < found.n; i++) {
        if (all->n < MAX_TEXTS) {
            all->bytes[all->n] = found.bytes[i];
            all->ptx[all->n++] = found.ptx[i];
        } else {
            free(found.ptx[i]);
            r = CUDA_ERROR_OUT_OF_MEMORY;
        }
    }
    return r;
}

/* A copy that ends in a zero, so that reading text always stops. */
static CUresult add(CUlinkState state, CUjitInputType type, const void *data, size_t bytes)
{
    CUresult r = enter_link(state);
    if (r != CUDA_SUCCESS)
        return r;
    char *copy = NULL;
    if (state->image != NULL || data == NULL || bytes == 0)
        r = CUDA_ERROR_INVALID_VALUE;
    else if (type == CU_JIT_INPUT_CUBIN)
        r = CUDA_ERROR_NO_BINARY_FOR_GPU; /* machine code: there is nothing to run it on */
    else if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY)
        r = CUDA_ERROR_NOT_SUPPORTED;
    else if ((copy = calloc(1, bytes + 1)) == NULL)
        r = CUDA_ERROR_OUT_OF_MEMORY;
    if (r == CUDA_SUCCESS) {
        memcpy(copy, data, bytes);
        r = add_texts(state, copy);
    }
    free(copy);
    pthread_mutex_unlock(&module_lock);
    return r;
}

API CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void *data, size_t bytes,
                              const char *name, unsigned n, CUjit_option *options, void **values)
{
    (void)name;
    (void)n; /* compiler options */
    (void)options;
    (void)values;
    ENTER("cuLinkAddData_v2");
    return add(state, type, data, bytes);
}

API CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char *path, unsigned n,
                              CUjit_option *options, void **values)
{
    char *data;
    size_t bytes;
    (void)n;
    (void)options;
    (void)values;
    ENTER("cuLinkAddFile_v2");
    if (path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = read_file(path, &data, &bytes);
    if (r != CUDA_SUCCESS)
        return r;
    r = add(state, type, data, bytes);
    free(data);
    return r;
}

static CUresult make_image(CUlinkState state, size_t *bytes_p)
{
    struct linked head = {LINKED_MAGIC, state->texts.n};
    size_t bytes = sizeof head;
    for (unsigned i = 0; i < state->texts.n; i++)
        bytes += state->texts.bytes[i] + 1;
    state->image = malloc(bytes);
    if (state->image == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(state->image, &head, sizeof head);
    char *to = state->image + sizeof head;
    for (unsigned i = 0; i < state->texts.n; i++) {
        memcpy(to, state->texts.ptx[i], state->texts.bytes[i] + 1);
        to += state->texts.bytes[i] + 1;
    }
    *bytes_p = bytes;
    return CUDA_SUCCESS;
}

API CUresult cuLinkComplete(CUlinkState state, void **image_p, size_t *bytes_p)
{
    char *message = NULL;
    size_t bytes = 0;
    ENTER("cuLinkComplete");
    CUresult r = enter_link(state);
    if (r != CUDA_SUCCESS)
        return r;
    if (image_p == NULL || state->image != NULL || state->texts.n == 0)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = texts_check(&state->texts, "linked", &message, NULL, NULL);
    if (r == CUDA_SUCCESS)
        r = make_image(state, &bytes);
    jit_log_write(&state->log, message);
    free(message);
    if (r == CUDA_SUCCESS) {
        *image_p = state->image;
        if (bytes_p != NULL)
            *bytes_p = bytes;
    }
    pthread_mutex_unlock(&module_lock);
    return r;
}

API CUresult cuLinkDestroy(CUlinkState state)
{
    ENTER("cuLinkDestroy");
    CUresult r = enter_link(state);
    if (r != CUDA_SUCCESS)
        return r;
    state->handle.dead = true;
    texts_free(&state->texts);
    free(state->image);
    state->image = NULL;
    pthread_mutex_unlock(&module_lock);
    return CUDA_SUCCESS;
}
