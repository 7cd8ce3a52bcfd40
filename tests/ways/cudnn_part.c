/* SPDX-License-Identifier: BSD-3-Clause
 * The library behind libcudnn.so.9: the functions add their arguments up. One of them is computed by
 * another, which is a name of the front library too. */
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#define ARGUMENTS                                                                                  \
    void *handle, const void *alpha, uintptr_t a, uintptr_t b, uintptr_t c, uintptr_t d,           \
        uintptr_t e, uintptr_t f, const float *last

EXPORT int cudnnBackendExecute(ARGUMENTS);
EXPORT int cudnnConvolutionForward(ARGUMENTS);

int cudnnBackendExecute(ARGUMENTS)
{
    return (int)((uintptr_t)handle + (uintptr_t)alpha + a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f) +
           (int)*last;
}

int cudnnConvolutionForward(ARGUMENTS)
{
    return cudnnBackendExecute(handle, alpha, a, b, c, d, e, f, last);
}
