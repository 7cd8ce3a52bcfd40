/* SPDX-License-Identifier: BSD-3-Clause
 * Under the preload, with the libcuda.so.1 of spy_cuda.c: every intercepted function of the driver
 * is found by dlsym and by cuGetProcAddress as the shim's, and hands every argument bit for bit to the
 * driver's function, once, and its status back. Without the preload or switched off (argument
 * "off"): the driver's own functions are found. Includes no header of CUDA. */
#include "spy_cuda.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROUNDS = 20 };

struct name {
    const char *name;
    int wrapped;
};

static const struct name names[] = {
#define IN_CUBLAS(_name, _w)
#define IN_CUBLASLT(_name, _w)
#define IN_CUDNN(_name, _w)
#define IN_LIBC(_name, _w)
#define IN_CUDA(_name, _w) {#_name, _w},
#define HOOK(_lib, _name)
#define SEEN(_lib, _name, _kind) IN_##_lib(_name, 0)
#define WRAP(_lib, _name, _kind) IN_##_lib(_name, 1)
#include "src/symbols.def"
};

/* Of functions with code of their own: p is a word, i an int, by NVIDIA's reference of the API. */
static const struct {
    const char *names, *arguments;
} signatures[] = {
    {"cuArrayCreate cuArrayCreate_v2 cuArray3DCreate cuArray3DCreate_v2", "pp"},
    {"cuMipmappedArrayCreate cuMemAllocManaged", "ppi"},
    {"cuMemAlloc", "pi"},
    {"cuMemAlloc_v2", "pp"},
    {"cuMemAllocPitch", "ppiii"},
    {"cuMemAllocPitch_v2", "ppppi"},
    {"cuMemAllocAsync cuMemAllocAsync_ptsz", "ppp"},
    {"cuMemAllocFromPoolAsync cuMemAllocFromPoolAsync_ptsz cuMemCreate", "pppp"},
    {"cuCtxDestroy cuCtxDestroy_v2 cuCtxDetach", "p"},
    {"cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2", "i"},
    {"cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2", "i"},
    {"cuStreamBeginCapture cuStreamBeginCapture_ptsz", "p"},
    {"cuStreamBeginCapture_v2 cuStreamBeginCapture_v2_ptsz", "pi"},
    {"cuStreamBeginCaptureToGraph cuStreamBeginCaptureToGraph_ptsz", "pppppi"},
    {"cuStreamEndCapture cuStreamEndCapture_ptsz cuGraphLaunch cuGraphLaunch_ptsz", "pp"},
    {"cuGraphInstantiate cuGraphInstantiate_v2", "ppppp"},
    {"cuGraphInstantiateWithFlags", "ppp"},
    {"cuGraphInstantiateWithParams cuGraphInstantiateWithParams_ptsz", "ppp"},
    {"cuGraphExecUpdate", "pppp"},
    {"cuGraphExecUpdate_v2 cuGraphExecChildGraphNodeSetParams cuGraphExecNodeSetParams", "ppp"},
    {"cuGraphClone", "pp"},
    {"cuGraphAddChildGraphNode cuGraphAddNode", "ppppp"},
    {"cuGraphAddNode_v2", "pppppp"},
    {"cuGraphDestroyNode cuGraphDestroy cuGraphExecDestroy", "p"},
};

typedef int (*function)(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
                        uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
typedef int (*get_v1)(const char *, void **, int, uint64_t);
typedef int (*get_v2)(const char *, void **, int, uint64_t, int *);

static int *status;
static struct spy_call *(*find)(const char *);
static uint64_t seed;
static int failures;

static void fail(const char *name, const char *what)
{
    printf("%s: %s\n", name, what);
    failures++;
}

static uint64_t draw(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static const char *arguments_of(const struct name *n)
{
    for (size_t i = 0; n->wrapped && i < sizeof signatures / sizeof signatures[0]; i++) {
        char list[256], *rest;
        snprintf(list, sizeof list, "%s", signatures[i].names);
        for (char *s = strtok_r(list, " ", &rest); s != NULL; s = strtok_r(NULL, " ", &rest))
            if (strcmp(s, n->name) == 0)
                return signatures[i].arguments;
    }
    /* What has no code of its own must lose nothing at all. */
    return n->wrapped ? NULL : "pppppppppppp";
}

static int is_in(const void *address, const char *object)
{
    Dl_info info;
    return address != NULL && dladdr(address, &info) != 0 && strstr(info.dli_fname, object) != NULL;
}

static void call(const struct name *n, void *hook)
{
    static const int statuses[] = {1, 2, 100, 201, 400, 500, 700, 801, 900, 999};
    /* What an argument may point to. */
    static const char nothing[65536] __attribute__((aligned(16)));
    const char *arguments = arguments_of(n);
    struct spy_call *spy = find(n->name);
    uintptr_t w[SPY_WORDS];
    function f;
    memcpy(&f, &hook, sizeof f);
    if (arguments == NULL || spy == NULL) {
        fail(n->name, "is not known to this test");
        return;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < SPY_WORDS; i++)
            w[i] = (uintptr_t)&nothing[draw() % (sizeof nothing - 256) & ~UINT64_C(15)];
        *status = statuses[draw() % (sizeof statuses / sizeof statuses[0])];
        const unsigned long before = spy->n;
        const int got =
            f(w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11]);
        if (got != *status)
            fail(n->name, "returns another status");
        if (spy->n != before + 1)
            fail(n->name, "does not call the driver once");
        for (size_t i = 0; i < strlen(arguments); i++)
            if (arguments[i] == 'p' ? spy->words[i] != w[i] : (int)spy->words[i] != (int)w[i])
                fail(n->name, "hands another argument on");
    }
}

int main(int argc, char **argv)
{
    const int off = argc > 1 && strcmp(argv[1], "off") == 0;
    const char *owner = off ? "libcuda" : "libapexshim";
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    get_v1 get1;
    get_v2 get2;
    if (cuda == NULL || (status = dlsym(cuda, "spy_status")) == NULL)
        return 2;
    *(void **)&find = dlsym(cuda, "spy_find");
    *(void **)&get1 = dlsym(cuda, "cuGetProcAddress");
    *(void **)&get2 = dlsym(cuda, "cuGetProcAddress_v2");
    seed = (uint64_t)time(NULL) * 2654435761u + 1;
    printf("seed %llu\n", (unsigned long long)seed);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *name = names[i].name;
        void *by_name = dlsym(cuda, name), *by_v1 = NULL, *by_v2 = NULL;
        if (!is_in(by_name, owner))
            fail(name, "dlsym finds another one's");
        if (get1(name, &by_v1, 11000, 0) != 0 || by_v1 != by_name)
            fail(name, "cuGetProcAddress finds another one's");
        if (get2(name, &by_v2, 12000, 0, NULL) != 0 || by_v2 != by_name)
            fail(name, "cuGetProcAddress_v2 finds another one's");
        if (by_name != NULL)
            call(&names[i], by_name);
    }
    printf("%zu functions, %d failures\n", sizeof names / sizeof names[0], failures);
    return failures != 0;
}
