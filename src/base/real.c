/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the real functions; with base/dlsym.c the only file that looks symbols up. Owns the tables, which are
 * made once a library, published in lists that only grow, and never freed. Its lock guards the
 * lists alone and is never held across a dl* call. */
#include "config.h"
#include "base/real.h"
#include "base/dlsym.h"

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

struct lt_entry {
    struct real_lt lt;
    bool usable;
    uintptr_t base;
    struct lt_entry *next;
    char path[PATH_BYTES];
};

struct blas_entry {
    struct real_blas blas;
    uintptr_t base;
    struct blas_entry *next;
    char path[PATH_BYTES];
};

static struct {
    pthread_mutex_t lock;
    struct blas_entry *blas;
    struct lt_entry *lt;
    _Atomic(const struct real_cuda *) cuda;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

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

static void *symbol_of(void *library, const char *name)
{
    const dlsym_function next = dlsym_next();
    return next != NULL ? next(library, name) : NULL;
}

/* Which of several loaded libraries the caller means. */
static unsigned choose_object(const struct found *found, const void *caller, const char *symbol)
{
    if (found->n == 1)
        return 0;
    for (unsigned i = 0; i < found->n; i++)
        if (caller_needs(caller, found->object[i].path))
            return i;
    void *next = symbol_of(RTLD_NEXT, symbol);
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

/* Names as text by one level of #: cublas_v2.h and cuda.h define macros for some of them. */
#define FILL(_sym, _name)    set_pointer(&table->_sym, symbol_of(library, _name));
#define REQUIRE(_sym)        ok = ok && table->_sym != NULL;

static void fill_seen(void **seen, void *library, const char *wanted)
{
    static const struct {
        const char *owner, *name;
    } names[REAL_SEEN] = {
#define HOOK(_lib, _sym)
#define SEEN(_lib, _sym, _kind) {#_lib, #_sym},
#include "symbols.def"
#undef HOOK
#undef SEEN
    };
    for (size_t i = 0; i < REAL_SEEN; i++)
        if (strcmp(names[i].owner, wanted) == 0)
            seen[i] = symbol_of(library, names[i].name);
}

#define FILL_CUBLAS_IN_CUBLAS(_s, _n)     FILL(_s, _n)
#define FILL_CUBLAS_IN_CUBLASLT(_s, _n)
#define FILL_CUBLAS_IN_CUDA(_s, _n)
#define FILL_CUBLASLT_IN_CUBLAS(_s, _n)
#define FILL_CUBLASLT_IN_CUBLASLT(_s, _n) FILL(_s, _n)
#define FILL_CUBLASLT_IN_CUDA(_s, _n)
#define FILL_CUDA_IN_CUBLAS(_s, _n)
#define FILL_CUDA_IN_CUBLASLT(_s, _n)
#define FILL_CUDA_IN_CUDA(_s, _n)         FILL(_s, _n)
#define FILL_LIBC_IN_CUBLAS(_s, _n)
#define FILL_LIBC_IN_CUBLASLT(_s, _n)
#define FILL_LIBC_IN_CUDA(_s, _n)
#define REQUIRE_CUBLAS_IN_CUBLASLT(_s)
#define REQUIRE_CUBLAS_IN_CUDA(_s)
#define REQUIRE_CUBLASLT_IN_CUBLASLT(_s)  REQUIRE(_s)
#define REQUIRE_CUBLASLT_IN_CUDA(_s)
#define REQUIRE_CUDA_IN_CUBLASLT(_s)
#define REQUIRE_CUDA_IN_CUDA(_s)          REQUIRE(_s)
#define SEEN(_lib, _sym, _kind)

static void fill_blas(struct real_blas *table, void *library)
{
#define HOOK(_lib, _sym)            FILL_##_lib##_IN_CUBLAS(_sym, #_sym)
#define IMPORT(_lib, _sym)          FILL_##_lib##_IN_CUBLAS(_sym, #_sym)
#define IMPORT_OPTIONAL(_lib, _sym) FILL_##_lib##_IN_CUBLAS(_sym, #_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef IMPORT
#undef IMPORT_OPTIONAL
    fill_seen(table->seen, library, "CUBLAS");
}

static bool fill_lt(struct real_lt *table, void *library)
{
    bool ok = true;
#define HOOK(_lib, _sym)            FILL_##_lib##_IN_CUBLASLT(_sym, #_sym)
#define IMPORT(_lib, _sym)          FILL_##_lib##_IN_CUBLASLT(_sym, #_sym) REQUIRE_##_lib##_IN_CUBLASLT(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) FILL_##_lib##_IN_CUBLASLT(_sym, #_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef IMPORT
#undef IMPORT_OPTIONAL
    return ok && table->cublasLtMatmul != NULL;
}

static bool fill_cuda(struct real_cuda *table, void *library)
{
    bool ok = true;
#define HOOK(_lib, _sym)            FILL_##_lib##_IN_CUDA(_sym, #_sym)
#define IMPORT(_lib, _sym)          FILL_##_lib##_IN_CUDA(_sym, #_sym) REQUIRE_##_lib##_IN_CUDA(_sym)
#define IMPORT_OPTIONAL(_lib, _sym) FILL_##_lib##_IN_CUDA(_sym, #_sym)
#include "imports.def"
#include "symbols.def"
#undef HOOK
#undef SEEN
#undef IMPORT
#undef IMPORT_OPTIONAL
    fill_seen(table->seen, library, "CUDA");
    return ok;
}

/* The table of one loaded cuBLASLt, made at the first call. NULL: it lacks a function. */
static const struct real_lt *lt_of(uintptr_t base, const char *path)
{
    pthread_mutex_lock(&state.lock);
    struct lt_entry *entry = state.lt;
    while (entry != NULL && !(entry->base == base && strcmp(entry->path, path) == 0))
        entry = entry->next;
    pthread_mutex_unlock(&state.lock);
    if (entry != NULL)
        return entry->usable ? &entry->lt : NULL;
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    struct lt_entry *fresh = library != NULL ? calloc(1, sizeof *fresh) : NULL;
    if (fresh != NULL) {
        fresh->usable = fill_lt(&fresh->lt, library);
        fresh->base = base;
        snprintf(fresh->path, sizeof fresh->path, "%s", path);
        pthread_mutex_lock(&state.lock);
        fresh->next = state.lt; /* a second thread's twin does no harm */
        state.lt = fresh;
        pthread_mutex_unlock(&state.lock);
    }
    if (library != NULL)
        dlclose(library);
    return fresh != NULL && fresh->usable ? &fresh->lt : NULL;
}

/* The cuBLASLt whose version begins like that of the cuBLAS at path. */
static const struct real_lt *lt_beside(const char *path)
{
    struct found found;
    find_objects("libcublasLt", &found);
    size_t major = strcspn(so_version(path), ".");
    for (unsigned i = 0; i < found.n; i++) {
        const char *version = so_version(found.object[i].path);
        if (found.n == 1 || (strcspn(version, ".") == major &&
                             strncmp(version, so_version(path), major) == 0))
            return lt_of(found.object[i].base, found.object[i].path);
    }
    return NULL;
}

const struct real_lt *real_lt(const void *caller)
{
    struct found found;
    find_objects("libcublasLt", &found);
    if (found.n == 0)
        return NULL;
    unsigned i = choose_object(&found, caller, "cublasLtMatmul");
    return lt_of(found.object[i].base, found.object[i].path);
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
        fresh->blas.lt = lt_beside(path);
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
