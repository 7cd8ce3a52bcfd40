/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the real functions; the only file that calls the dl* functions. Owns the tables, which are
 * made once a library, published in lists that only grow, and never freed. Its lock guards the
 * lists alone and is never held across a dl* call. */
#include "config.h"
#include "base/real.h"
#include "base/log.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FOUND = 8, PATH_BYTES = 512 };

/* Loaded objects whose file name begins with one prefix. */
struct found {
    const char *prefix;
    unsigned n;
    struct {
        uintptr_t base;
        char path[PATH_BYTES];
    } object[MAX_FOUND];
};

struct blas_entry {
    struct real_blas blas;
    struct real_lt lt;
    uintptr_t base;
    struct blas_entry *next;
    char path[PATH_BYTES];
};

static struct {
    pthread_mutex_t lock;
    struct blas_entry *blas;
    _Atomic(const struct real_cuda *) cuda;
} state = {PTHREAD_MUTEX_INITIALIZER, NULL, NULL};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* libcublas.so.13, and libcublas-1a2b3c.so.13 as some wheels rename it, but not libcublasLt. */
static bool name_matches(const char *path, const char *prefix)
{
    const char *name = base_name(path);
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 && (name[n] == '.' || name[n] == '-') &&
           strstr(name + n, ".so") != NULL;
}

static int collect_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct found *found = arg;
    if (info->dlpi_name == NULL || !name_matches(info->dlpi_name, found->prefix) ||
        strlen(info->dlpi_name) >= PATH_BYTES)
        return 0;
    if (found->n < MAX_FOUND) {
        found->object[found->n].base = info->dlpi_addr;
        strcpy(found->object[found->n].path, info->dlpi_name);
        found->n++;
    }
    return 0;
}

static void find_objects(const char *prefix, struct found *found)
{
    found->prefix = prefix;
    found->n = 0;
    dl_iterate_phdr(collect_object, found);
}

/* Does the object that holds code address caller list the file name among its DT_NEEDED? */
static bool caller_needs(const void *caller, const char *path)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (caller == NULL || dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || map == NULL)
        return false;
    const char *strings = NULL;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
    for (const ElfW(Dyn) *d = map->l_ld; strings != NULL && d->d_tag != DT_NULL; d++) {
        /* libcublas.so.12 is a prefix of the file libcublas.so.12.9.1.4 behind it */
        const char *needed = strings + d->d_un.d_val;
        if (d->d_tag == DT_NEEDED &&
            strncmp(base_name(path), base_name(needed), strlen(base_name(needed))) == 0)
            return true;
    }
    return false;
}

/* Which of several loaded libraries the caller means. */
static unsigned choose_object(const struct found *found, const void *caller, const char *symbol)
{
    if (found->n == 1)
        return 0;
    for (unsigned i = 0; i < found->n; i++)
        if (caller_needs(caller, found->object[i].path))
            return i;
    void *next = dlsym(RTLD_NEXT, symbol);
    Dl_info info;
    if (next != NULL && dladdr(next, &info) != 0)
        for (unsigned i = 0; i < found->n; i++)
            if (found->object[i].base == (uintptr_t)info.dli_fbase)
                return i;
    return 0;
}

/* The digits after ".so." of a file name, or "". */
static const char *so_version(const char *path)
{
    const char *so = strstr(base_name(path), ".so.");
    return so != NULL ? so + 4 : "";
}

/* ISO C has no conversion from void * to a function pointer; POSIX gives both one representation. */
static void set_pointer(void *member, void *function)
{
    memcpy(member, &function, sizeof function);
}

#define FILL(_sym)                    set_pointer(&table->_sym, dlsym(library, #_sym));
#define REQUIRE(_sym)                 ok = ok && table->_sym != NULL;
#define FILL_BLAS_CUBLAS(_sym)        FILL(_sym)
#define FILL_BLAS_CUBLASLT(_sym)
#define FILL_BLAS_CUDA(_sym)
#define FILL_LT_CUBLAS(_sym)
#define FILL_LT_CUBLASLT(_sym)        FILL(_sym)
#define FILL_LT_CUDA(_sym)
#define REQUIRE_LT_CUBLAS(_sym)
#define REQUIRE_LT_CUBLASLT(_sym)     REQUIRE(_sym)
#define REQUIRE_LT_CUDA(_sym)
#define FILL_CUDA_CUBLAS(_sym)
#define FILL_CUDA_CUBLASLT(_sym)
#define FILL_CUDA_CUDA(_sym)          FILL(_sym)
#define REQUIRE_CUDA_CUBLAS(_sym)
#define REQUIRE_CUDA_CUBLASLT(_sym)
#define REQUIRE_CUDA_CUDA(_sym)       REQUIRE(_sym)

static void fill_blas(struct real_blas *table, void *library)
{
#define HOOK(_lib, _sym)            FILL_BLAS_##_lib(_sym)
#define IMPORT(_lib, _sym)          FILL_BLAS_##_lib(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) FILL_BLAS_##_lib(_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef IMPORT
#undef IMPORT_OPTIONAL
}

static bool fill_lt(struct real_lt *table, void *library)
{
    bool ok = true;
#define IMPORT(_lib, _sym)          FILL_LT_##_lib(_sym) REQUIRE_LT_##_lib(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) FILL_LT_##_lib(_sym)
#include "imports.def"
#undef IMPORT
#undef IMPORT_OPTIONAL
    return ok;
}

static bool fill_cuda(struct real_cuda *table, void *library)
{
    bool ok = true;
#define IMPORT(_lib, _sym)          FILL_CUDA_##_lib(_sym) REQUIRE_CUDA_##_lib(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) FILL_CUDA_##_lib(_sym)
#include "imports.def"
#undef IMPORT
#undef IMPORT_OPTIONAL
    return ok;
}

/* The cuBLASLt whose version begins like that of the cuBLAS at path. */
static bool resolve_lt(const char *path, struct real_lt *lt)
{
    struct found found;
    find_objects("libcublasLt", &found);
    size_t major = strcspn(so_version(path), ".");
    for (unsigned i = 0; i < found.n; i++) {
        const char *version = so_version(found.object[i].path);
        if (found.n > 1 && (strcspn(version, ".") != major ||
                            strncmp(version, so_version(path), major) != 0))
            continue;
        void *library = dlopen(found.object[i].path, RTLD_LAZY | RTLD_NOLOAD);
        if (library == NULL)
            continue;
        bool ok = fill_lt(lt, library);
        dlclose(library);
        return ok;
    }
    return false;
}

static struct blas_entry *known_entry(uintptr_t base, const char *path)
{
    for (struct blas_entry *e = state.blas; e != NULL; e = e->next)
        if (e->base == base && strcmp(e->path, path) == 0)
            return e;
    return NULL;
}

static const struct real_blas *publish_blas(struct blas_entry *fresh)
{
    pthread_mutex_lock(&state.lock);
    struct blas_entry *entry = known_entry(fresh->base, fresh->path);
    if (entry == NULL) {
        fresh->next = state.blas;
        state.blas = fresh;
        entry = fresh;
    }
    pthread_mutex_unlock(&state.lock);
    if (entry != fresh)
        free(fresh);
    return &entry->blas;
}

const struct real_blas *real_blas(const void *caller)
{
    struct found found;
    find_objects("libcublas", &found);
    uintptr_t base = 0;
    const char *path = "(next in search order)";
    void *library = RTLD_NEXT;
    if (found.n > 0) {
        unsigned i = choose_object(&found, caller, "cublasCreate_v2");
        base = found.object[i].base;
        path = found.object[i].path;
        library = NULL;
    }
    pthread_mutex_lock(&state.lock);
    struct blas_entry *entry = known_entry(base, path);
    pthread_mutex_unlock(&state.lock);
    if (entry != NULL)
        return &entry->blas;
    if (library == NULL)
        library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        library = RTLD_NEXT;
    struct blas_entry *fresh = calloc(1, sizeof *fresh);
    if (fresh != NULL) {
        fill_blas(&fresh->blas, library);
        fresh->base = base;
        snprintf(fresh->path, sizeof fresh->path, "%s", path);
        fresh->blas.path = fresh->path;
        if (resolve_lt(path, &fresh->lt))
            fresh->blas.lt = &fresh->lt;
    }
    /* Our reference is given back: the program may unload its library. */
    if (library != RTLD_NEXT)
        dlclose(library);
    if (fresh == NULL)
        return NULL;
    if (fresh->blas.cublasCreate_v2 == NULL) {
        free(fresh);
        return NULL;
    }
    return publish_blas(fresh);
}

const struct real_cuda *real_cuda(void)
{
    const struct real_cuda *cuda = atomic_load_explicit(&state.cuda, memory_order_acquire);
    if (cuda != NULL)
        return cuda;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return NULL;
    struct real_cuda *fresh = calloc(1, sizeof *fresh);
    if (fresh == NULL || !fill_cuda(fresh, library)) {
        free(fresh);
        dlclose(library);
        return NULL;
    }
    /* libcuda stays loaded: its functions are called until the process ends. */
    if (!atomic_compare_exchange_strong(&state.cuda, &cuda, fresh)) {
        free(fresh);
        dlclose(library);
        return cuda;
    }
    return fresh;
}
