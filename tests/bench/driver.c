/* SPDX-License-Identifier: BSD-3-Clause
 * Prints what calls of the driver cost, against a driver that only notes them: CPU ns per call,
 * medians of batches. Run with and without the preload (make bench-driver). */
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CALLS = 50000, BATCHES = 61 };

typedef int (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                        uintptr_t, uintptr_t, uintptr_t, uintptr_t);

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double measure(function f)
{
    double ns[BATCHES];
    for (int b = 0; b < BATCHES; b++) {
        const double start = now_ns();
        for (int i = 0; i < CALLS; i++)
            f(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0);
        ns[b] = (now_ns() - start) / CALLS;
    }
    qsort(ns, BATCHES, sizeof ns[0], by_value);
    return ns[BATCHES / 2];
}

int main(void)
{
    static const char *const names[] = {"cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuMemAlloc_v2",
                                        "cuGraphLaunch"};
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    for (size_t i = 0; cuda != NULL && i < sizeof names / sizeof names[0]; i++) {
        function f;
        void *p = dlsym(cuda, names[i]);
        if (p == NULL)
            return 1;
        memcpy(&f, &p, sizeof f);
        printf(" %20s %5.1f", names[i], measure(f));
    }
    printf("\n");
    return cuda == NULL;
}
