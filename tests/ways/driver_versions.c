/* SPDX-License-Identifier: BSD-3-Clause
 * What cuGetProcAddress answers for every intercepted function of the driver in every version and
 * for both kinds of default stream. With the argument "list": one line each, with the name of the
 * function that the answer is; under the preload the answer must be the shim's function of that
 * name where there is one. With "call": uses such functions of several versions for what they are for,
 * and prints how many of each kind. Needs no runtime library. */
#include "config.h"

#include <cublas_v2.h>
#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef cuGetProcAddress

#define CHECK(_call)                                                                               \
    do {                                                                                           \
        if ((int)(_call) != 0) {                                                                   \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #_call);                            \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

typedef CUresult (*get_v1)(const char *, void **, int, cuuint64_t);
typedef CUresult (*get_v2)(const char *, void **, int, cuuint64_t,
                           CUdriverProcAddressQueryResult *);

static const char *const names[] = {
#define IN_CUBLAS(_name)
#define IN_CUBLASLT(_name)
#define IN_CUDNN(_name)
#define IN_LIBC(_name)
#define IN_CUDA(_name) _name, /* as text, since cuda.h redirects some names */
#define HOOK(_lib, _name)        IN_##_lib(#_name)
#define SEEN(_lib, _name, _kind) IN_##_lib(#_name)
#include "src/symbols.def"
};
enum { NAMES = sizeof names / sizeof names[0] };

static const int versions[] = {2000,  3000,  3020,  4000,  4010,  5050,  6000,  6050,  7000,
                               7050,  8000,  9000,  9020,  10000, 10010, 10020, 11000, 11010,
                               11020, 11030, 11040, 11060, 11070, 12000, 12020, 12030, 12080,
                               12090, 13000};

static get_v2 get;

/* Off with _ptsz or _ptds, then _v2, _v3, ... */
static void base_of(const char *name, char *base, size_t bytes)
{
    snprintf(base, bytes, "%s", name);
    size_t n = strlen(base);
    if (n > 5 && (strcmp(base + n - 5, "_ptsz") == 0 || strcmp(base + n - 5, "_ptds") == 0))
        base[n -= 5] = '\0';
    if (n > 3 && base[n - 3] == '_' && base[n - 2] == 'v')
        base[n - 3] = '\0';
}

static int intercepted(const char *name)
{
    for (int i = 0; i < NAMES; i++)
        if (strcmp(names[i], name) == 0)
            return 1;
    return 0;
}

static int list_one(const char *base, int version, cuuint64_t flags, const char *preload)
{
    void *p = NULL;
    Dl_info info;
    if (get(base, &p, version, flags, NULL) != CUDA_SUCCESS) {
        printf("%s %d %d -\n", base, version, (int)flags);
        return 0;
    }
    if (p == NULL || dladdr(p, &info) == 0 || info.dli_sname == NULL)
        return 1;
    printf("%s %d %d %s\n", base, version, (int)flags, info.dli_sname);
    const char *owner = preload != NULL && intercepted(info.dli_sname) ? preload : "libcuda";
    if (strstr(info.dli_fname, owner) != NULL)
        return 0;
    fprintf(stderr, "%s %d %d: %s of %s\n", base, version, (int)flags, info.dli_sname,
            info.dli_fname);
    return 1;
}

static int list(const char *preload)
{
    int failures = 0;
    for (int i = 0; i < NAMES; i++) {
        char base[128], earlier[128] = "";
        base_of(names[i], base, sizeof base);
        for (int j = 0; j < i && strcmp(earlier, base) != 0; j++)
            base_of(names[j], earlier, sizeof earlier);
        if (i > 0 && strcmp(earlier, base) == 0)
            continue; /* another version of it was first */
        for (size_t v = 0; v < sizeof versions / sizeof versions[0]; v++)
            for (cuuint64_t flags = 0; flags <= 2; flags++)
                failures += list_one(base, versions[v], flags, preload);
    }
    return failures != 0;
}

static void find(void *p, const char *base, int version, cuuint64_t flags)
{
    CHECK(get(base, p, version, flags, NULL));
}

static void copies(cuuint64_t flags, CUdeviceptr a, CUdeviceptr b, size_t bytes)
{
    CUresult (*to_device)(CUdeviceptr, const void *, size_t);
    CUresult (*across)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
    CUresult (*any)(CUdeviceptr, CUdeviceptr, size_t, CUstream);
    CUresult (*to_host)(void *, CUdeviceptr, size_t);
    CUresult (*set)(CUdeviceptr, unsigned char, size_t);
    CUresult (*set_later)(CUdeviceptr, unsigned, size_t, CUstream);
    unsigned host[64], got[64];
    for (unsigned i = 0; i < 64; i++)
        host[i] = i * 2654435761u;
    find(&to_device, "cuMemcpyHtoD", 3020, flags);
    find(&across, "cuMemcpyDtoDAsync", 3020, flags);
    find(&any, "cuMemcpyAsync", 4000, flags);
    find(&to_host, "cuMemcpyDtoH", 12000, flags);
    find(&set, "cuMemsetD8", 3020, flags);
    find(&set_later, "cuMemsetD32Async", 3020, flags);
    CHECK(to_device(a, host, sizeof host));
    CHECK(set(b, 0x55, bytes));
    CHECK(across(b, a, sizeof host, NULL));
    CHECK(any(b + sizeof host, b, sizeof host, NULL));
    CHECK(set_later(b, 0xdeadbeef, 4, NULL));
    CHECK(to_host(got, b + sizeof host, sizeof got));
    if (memcmp(host, got, sizeof host) != 0)
        exit(1);
    CHECK(to_host(got, b, sizeof got));
    if (got[3] != 0xdeadbeef || got[4] != host[4])
        exit(1);
}

static void kernels(cuuint64_t flags)
{
    static const char text[] = ".version 6.4\n.target sm_52\n.address_size 64\n"
                               ".visible .entry nothing()\n{\n ret;\n}\n";
    CUresult (*load)(CUmodule *, const void *);
    CUresult (*function)(CUfunction *, CUmodule, const char *);
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CUstream, void **, void **);
    CUmodule module;
    CUfunction f;
    find(&load, "cuModuleLoadData", 2000, 0);
    find(&function, "cuModuleGetFunction", 2000, 0);
    find(&launch, "cuLaunchKernel", 4000, flags);
    CHECK(load(&module, text));
    CHECK(function(&f, module, "nothing"));
    for (int i = 0; i < 3; i++)
        CHECK(launch(f, 2, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
}

/* Twice for each kind of default stream; the numbers are those of one of the four. */
static void use(cuuint64_t flags)
{
    CUresult (*allocate)(CUdeviceptr *, size_t);
    CUresult (*allocate_later)(CUdeviceptr *, size_t, CUstream);
    CUresult (*managed)(CUdeviceptr *, size_t, unsigned);
    CUresult (*release)(CUdeviceptr);
    CUresult (*release_later)(CUdeviceptr, CUstream);
    CUresult (*create)(CUstream *, unsigned);
    CUresult (*destroy)(CUstream);
    CUresult (*begin)(CUstream, CUstreamCaptureMode);
    CUresult (*end)(CUstream, CUgraph *);
    CUresult (*instantiate)(CUgraphExec *, CUgraph, unsigned long long);
    CUresult (*launch)(CUgraphExec, CUstream);
    CUresult (*destroy_exec)(CUgraphExec);
    CUresult (*destroy_graph)(CUgraph);
    CUresult (*synchronize)(CUstream);
    CUdeviceptr a, b, c;
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    find(&allocate, "cuMemAlloc", 3020, flags);
    find(&allocate_later, "cuMemAllocAsync", 11020, flags);
    find(&managed, "cuMemAllocManaged", 6000, flags);
    find(&release, "cuMemFree", 3020, flags);
    find(&release_later, "cuMemFreeAsync", 11020, flags);
    find(&create, "cuStreamCreate", 2000, flags);
    find(&destroy, "cuStreamDestroy", 4000, flags);
    find(&begin, "cuStreamBeginCapture", 10010, flags);
    find(&end, "cuStreamEndCapture", 10000, flags);
    find(&instantiate, "cuGraphInstantiateWithFlags", 11040, flags);
    find(&launch, "cuGraphLaunch", 10000, flags);
    find(&destroy_exec, "cuGraphExecDestroy", 10000, flags);
    find(&destroy_graph, "cuGraphDestroy", 10000, flags);
    find(&synchronize, "cuStreamSynchronize", 2000, flags);
    CHECK(allocate(&a, 4096));
    CHECK(managed(&c, 4096, CU_MEM_ATTACH_GLOBAL));
    CHECK(create(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(allocate_later(&b, 4096, stream));
    CHECK(synchronize(stream));
    copies(flags, a, b, 4096);
    copies(flags, c, a, 4096);
    kernels(flags);
    CHECK(begin(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(end(stream, &graph));
    CHECK(instantiate(&exec, graph, 0));
    CHECK(launch(exec, stream));
    CHECK(synchronize(stream));
    CHECK(destroy_exec(exec));
    CHECK(destroy_graph(graph));
    CHECK(release_later(b, stream));
    CHECK(release(a));
    CHECK(release(c));
    CHECK(destroy(stream));
}

static int use_all(void)
{
    static const cuuint64_t kinds[] = {CU_GET_PROC_ADDRESS_LEGACY_STREAM,
                                       CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM};
    CUresult (*init)(unsigned);
    CUresult (*retain)(CUcontext *, CUdevice);
    CUresult (*set)(CUcontext);
    CUresult (*release)(CUdevice);
    CUcontext context;
    cublasHandle_t handle;
    find(&init, "cuInit", 2000, 0);
    find(&retain, "cuDevicePrimaryCtxRetain", 7000, 0);
    find(&set, "cuCtxSetCurrent", 4000, 0);
    find(&release, "cuDevicePrimaryCtxRelease", 11000, 0);
    CHECK(init(0));
    CHECK(retain(&context, 0));
    CHECK(set(context));
    CHECK(cublasCreate_v2(&handle)); /* so that there is a summary */
    for (int i = 0; i < 4; i++)
        use(kinds[i % 2]);
    CHECK(cublasDestroy_v2(handle));
    CHECK(release(0));
    printf("driver calls: allocations=12 frees=12 copies=40 memsets=16 streams=8 contexts=2 "
           "captures=8 graph_changes=12\n");
    printf("not GEMMs: launches=12\n");
    return 0;
}

int main(int argc, char **argv)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    if (argc < 2 || cuda == NULL)
        return 2;
    *(void **)&get = dlsym(cuda, "cuGetProcAddress_v2");
    if (strcmp(argv[1], "call") == 0)
        return use_all();
    /* Any answer of the first version is the second's too. */
    get_v1 first;
    *(void **)&first = dlsym(cuda, "cuGetProcAddress");
    for (int i = 0; i < NAMES; i++) {
        char base[128];
        void *p = NULL, *q = NULL;
        base_of(names[i], base, sizeof base);
        if (first(base, &p, 12000, 2) != get(base, &q, 12000, 2, NULL) || p != q)
            return 1;
    }
    return list(argc > 2 ? argv[2] : NULL);
}
