/* SPDX-License-Identifier: BSD-3-Clause
 * The library behind libcudnn.so.9: the functions add their arguments up. One of them is computed by
 * another, which is a name of the front library too, and launches what no driver takes, by a function
 * that it has looked up as a runtime inside of it would. */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define ARGUMENTS                                                                                  \
    void *handle, const void *alpha, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,           \
        uintptr_t e, uintptr_t f, const float *last

EXPORT int cudnnBackendExecute(ARGUMENTS);
EXPORT int cudnnConvolutionForward(ARGUMENTS);

static int launch_nothing(void)
{
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (cuda == NULL)
        return 0;
    *(void **)&launch = dlsym(cuda, "cuLaunchKernel");
    return launch(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

int cudnnBackendExecute(ARGUMENTS)
{
    if (launch_nothing() == 0)
        return -1;
    return (int)((uintptr_t)handle + (uintptr_t)alpha + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) +
           (int)*last;
}

int cudnnConvolutionForward(ARGUMENTS)
{
    return cudnnBackendExecute(handle, alpha, a, b, c, d, e, f, last);
}
