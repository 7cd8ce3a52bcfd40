/* SPDX-License-Identifier: BSD-3-Clause
 * Measures what a process pays that has nothing to do with CUDA: start OBJECT. Starts /bin/true with
 * the object preloaded and without, in turns, and then runs the object's constructors again in this
 * process, with a clock around them. Prints us without, us with, ns of the constructors (medians). */
#include <dlfcn.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { STARTS = 301, CALLS = 1001 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return x[n / 2];
}

static double time_start(char **environment)
{
    char program[] = "/bin/true";
    char *arguments[] = {program, NULL};
    pid_t child;
    int status;
    const double start = now_ns();
    if (posix_spawn(&child, program, NULL, NULL, arguments, environment) != 0 ||
        waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "%s does not start\n", program);
        exit(1);
    }
    return now_ns() - start;
}

/* The functions of DT_INIT_ARRAY, as the dynamic linker calls them. */
static double time_constructors(const struct link_map *map)
{
    void (**constructor)(int, char **, char **) = NULL;
    size_t bytes = 0;
    double time[CALLS];
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_INIT_ARRAY)
            constructor = (void (**)(int, char **, char **))(map->l_addr + d->d_un.d_ptr);
        if (d->d_tag == DT_INIT_ARRAYSZ)
            bytes = d->d_un.d_val;
    }
    if (constructor == NULL)
        return 0;
    for (int i = 0; i < CALLS; i++) {
        const double start = now_ns();
        for (size_t j = 0; j < bytes / sizeof *constructor; j++)
            constructor[j](0, NULL, NULL);
        time[i] = now_ns() - start;
    }
    return median(time, CALLS);
}

int main(int argc, char **argv)
{
    double without[STARTS], with[STARTS];
    char preload[4096];
    char *plain[] = {NULL}, *preloaded[] = {preload, NULL};
    struct link_map *map;
    if (argc != 2)
        return 2;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", argv[1]);
    for (int i = 0; i < STARTS; i++) {
        without[i] = time_start(plain);
        with[i] = time_start(preloaded);
    }
    void *object = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (object == NULL || dlinfo(object, RTLD_DI_LINKMAP, &map) != 0) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    printf("%.1f %.1f %.0f\n", median(without, STARTS) / 1e3, median(with, STARTS) / 1e3,
           time_constructors(map));
    return 0;
}
