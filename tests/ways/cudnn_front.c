/* SPDX-License-Identifier: BSD-3-Clause
 * A libcudnn.so.9 as the real one is since version 8: it loads the library that does the work and
 * finds the functions there by the same names. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

typedef int (*function)(void *, const void *, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                        uintptr_t, const float *);

static function find(const char *name)
{
    void *part = dlopen("libcudnn_part.so.9", RTLD_NOW | RTLD_LOCAL);
    function f = NULL;
    if (part != NULL)
        *(void **)&f = dlsym(part, name);
    if (f == NULL)
        abort();
    return f;
}

#define FORWARD(_name)                                                                             \
    __attribute__((visibility("default"))) int _name(                                              \
        void *handle, const void *alpha, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,       \
        uintptr_t e, uintptr_t f, const float *last);                                              \
    int _name(void *handle, const void *alpha, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d, \
              uintptr_t e, uintptr_t f, const float *last)                                         \
    {                                                                                              \
        return find(#_name)(handle, alpha, a, b, c, d, e, f, last);                                \
    }

FORWARD(cudnnConvolutionForward)
FORWARD(cudnnBackendExecute)
