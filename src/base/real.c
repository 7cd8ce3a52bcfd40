/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the real functions; with base/dlsym.c the only file that looks symbols up. Owns the tables,
 * which are made once a library, published in lists that only grow, and never freed. Its lock
 * guards the lists alone and is never held across a dl* call. */
#include "config.h"
#include "base/real.h"
#include "base/dlsym.h"
#include "base/object.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct lt_entry {
    struct real_lt lt;
    bool usable;
    uintptr_t base;
    struct lt_entry *next;
    char path[OBJECT_PATH_BYTES];
};

struct dnn_entry {
    struct real_dnn dnn;
    uintptr_t base;
    struct dnn_entry *next;
    _Atomic uint64_t loads; /* how often objects had come and gone when it was found the only one */
    char path[OBJECT_PATH_BYTES];
};

struct blas_entry {
    struct real_blas blas;
    uintptr_t base;
    struct blas_entry *next;
    char path[OBJECT_PATH_BYTES];
};

static struct {
    pthread_mutex_t lock;
    struct blas_entry *blas;
    struct lt_entry *lt;
    struct dnn_entry *dnn;
    _Atomic(struct dnn_entry *) only_dnn;
    _Atomic(const struct real_cuda *) cuda;
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *symbol_of(void *library, const char *name)
{
    const dlsym_function next = dlsym_next();
    return next != NULL ? next(library, name) : NULL;
}

/* What the object that holds code address caller finds among its own dependencies. */
static void *symbol_in_scope(const void *caller, const char *name)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (caller == NULL || dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
        map == NULL || map->l_name == NULL || map->l_name[0] == '\0')
        return NULL;
    void *object = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (object == NULL)
        return NULL;
    void *symbol = symbol_of(object, name);
    dlclose(object);
    return symbol;
}

/* Which of several loaded libraries the caller means: the one that it was linked with, else as the
 * dynamic linker would bind a name without a version: global scope first, then its own. */
static const struct object *choose_object(const struct objects *objects, const void *caller,
                                          const char *symbol)
{
    if (objects->n == 1)
        return &objects->object[0];
    for (unsigned i = 0; i < objects->n; i++)
        if (object_needs(caller, objects->object[i].path))
            return &objects->object[i];
    const struct object *found = objects_holding(objects, symbol_of(RTLD_NEXT, symbol));
    if (found == NULL)
        found = objects_holding(objects, symbol_in_scope(caller, symbol));
    (void)dlerror();
    return found != NULL ? found : &objects->object[0];
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
    fill_seen(table->seen, library, "CUBLASLT");
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

/* NULL, and no message for dlerror, where the program has not loaded it. */
static void *open_loaded(const char *path)
{
    return dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
}

/* Our reference is given back: the program may unload its library. A function that was not found has
 * left a message for dlerror, which the program would take for the failure of a call of its own. */
static void close_filled(void *library)
{
    if (library != NULL && library != RTLD_NEXT)
        dlclose(library);
    (void)dlerror();
}

/* The table of one loaded cuBLASLt, made at the first call. NULL: it lacks a function. */
static const struct real_lt *lt_of(const struct object *object)
{
    pthread_mutex_lock(&state.lock);
    struct lt_entry *entry = state.lt;
    while (entry != NULL && !(entry->base == object->base && strcmp(entry->path, object->path) == 0))
        entry = entry->next;
    pthread_mutex_unlock(&state.lock);
    if (entry != NULL)
        return entry->usable ? &entry->lt : NULL;
    void *library = open_loaded(object->path);
    struct lt_entry *fresh = library != NULL ? calloc(1, sizeof *fresh) : NULL;
    if (fresh != NULL) {
        fresh->usable = fill_lt(&fresh->lt, library);
        fresh->base = object->base;
        snprintf(fresh->path, sizeof fresh->path, "%s", object->path);
        fresh->lt.path = fresh->path;
        pthread_mutex_lock(&state.lock);
        fresh->next = state.lt; /* a second thread's twin does no harm */
        state.lt = fresh;
        pthread_mutex_unlock(&state.lock);
    }
    close_filled(library);
    return fresh != NULL && fresh->usable ? &fresh->lt : NULL;
}

/* The cuBLASLt whose version begins like that of the cuBLAS at path. */
static const struct real_lt *lt_beside(const char *path)
{
    struct objects found;
    objects_find("libcublasLt", &found);
    size_t major = strcspn(object_version(path), ".");
    for (unsigned i = 0; i < found.n; i++) {
        const char *version = object_version(found.object[i].path);
        if (found.n == 1 || (strcspn(version, ".") == major &&
                             strncmp(version, object_version(path), major) == 0))
            return lt_of(&found.object[i]);
    }
    return NULL;
}

/* The entry of a library, after fresh (or NULL) was entered where there was none. The cuBLASLt
 * belongs to the key: after both were unloaded, one may come back where it was and the other
 * elsewhere. */
static struct blas_entry *known_entry(const struct object *object, const struct real_lt *lt,
                                      struct blas_entry *fresh)
{
    pthread_mutex_lock(&state.lock);
    struct blas_entry *e = state.blas;
    while (e != NULL &&
           !(e->base == object->base && e->blas.lt == lt && strcmp(e->path, object->path) == 0))
        e = e->next;
    if (e == NULL && fresh != NULL) {
        fresh->next = state.blas;
        state.blas = e = fresh;
    }
    pthread_mutex_unlock(&state.lock);
    return e;
}

/* The table of one loaded cuBLAS, made at the first call. */
static const struct real_blas *blas_of(const struct object *object, void *library)
{
    const struct real_lt *lt = lt_beside(object->path);
    struct blas_entry *entry = known_entry(object, lt, NULL);
    if (entry != NULL)
        return &entry->blas;
    struct blas_entry *fresh = calloc(1, sizeof *fresh);
    if (library == NULL)
        library = open_loaded(object->path);
    if (library == NULL)
        library = RTLD_NEXT;
    if (fresh != NULL) {
        fill_blas(&fresh->blas, library);
        fresh->base = object->base;
        snprintf(fresh->path, sizeof fresh->path, "%s", object->path);
        fresh->blas.path = fresh->path;
        fresh->blas.lt = lt;
    }
    close_filled(library);
    if (fresh == NULL || fresh->blas.cublasCreate_v2 == NULL) {
        free(fresh);
        return NULL;
    }
    entry = known_entry(object, lt, fresh);
    if (entry != fresh)
        free(fresh); /* another thread was quicker */
    return &entry->blas;
}

const struct real_lt *real_lt(const void *caller)
{
    const int saved = errno;
    struct objects found;
    objects_find("libcublasLt", &found);
    const struct real_lt *lt =
        found.n > 0 ? lt_of(choose_object(&found, caller, "cublasLtMatmul")) : NULL;
    errno = saved;
    return lt;
}

const struct real_blas *real_blas(const void *caller)
{
    static const struct object next = {.path = "(next in search order)"};
    const int saved = errno;
    struct objects found;
    objects_find("libcublas", &found);
    const struct real_blas *blas =
        found.n > 0 ? blas_of(choose_object(&found, caller, "cublasCreate_v2"), NULL)
                    : blas_of(&next, RTLD_NEXT);
    errno = saved;
    return blas;
}

const struct real_blas *real_blas_of(const void *function, unsigned *loaded_p)
{
    const int saved = errno;
    struct objects found;
    objects_find("libcublas", &found);
    const struct object *object = objects_holding(&found, function);
    const struct real_blas *blas = object != NULL ? blas_of(object, NULL) : NULL;
    *loaded_p = found.n;
    errno = saved;
    return blas;
}

const struct real_lt *real_lt_of(const void *function)
{
    const int saved = errno;
    struct objects found;
    objects_find("libcublasLt", &found);
    const struct object *object = objects_holding(&found, function);
    const struct real_lt *lt = object != NULL ? lt_of(object) : NULL;
    errno = saved;
    return lt;
}

/* The table of one loaded cuDNN, made at the first call; NULL: out of memory. */
static struct dnn_entry *dnn_of(const struct object *object, void *library)
{
    pthread_mutex_lock(&state.lock);
    struct dnn_entry *entry = state.dnn;
    while (entry != NULL && !(entry->base == object->base && strcmp(entry->path, object->path) == 0))
        entry = entry->next;
    pthread_mutex_unlock(&state.lock);
    struct dnn_entry *fresh = entry == NULL ? calloc(1, sizeof *fresh) : NULL;
    if (fresh == NULL)
        return entry;
    if (library == NULL)
        library = open_loaded(object->path);
    fill_seen(fresh->dnn.seen, library != NULL ? library : RTLD_NEXT, "CUDNN");
    fresh->base = object->base;
    snprintf(fresh->path, sizeof fresh->path, "%s", object->path);
    close_filled(library);
    pthread_mutex_lock(&state.lock);
    fresh->next = state.dnn; /* a second thread's twin does no harm */
    state.dnn = fresh;
    pthread_mutex_unlock(&state.lock);
    return fresh;
}

static int read_loads(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    *(uint64_t *)arg = (uint64_t)info->dlpi_adds + (uint64_t)info->dlpi_subs;
    return 1;
}

const struct real_dnn *real_dnn(const void *caller)
{
    static const struct object next = {.path = "(next in search order)"};
    const int saved = errno;
    uint64_t loads = 0;
    dl_iterate_phdr(read_loads, &loads);
    struct dnn_entry *entry = atomic_load_explicit(&state.only_dnn, memory_order_acquire);
    if (entry == NULL || atomic_load_explicit(&entry->loads, memory_order_relaxed) != loads) {
        struct objects found;
        objects_find("libcudnn", &found);
        entry = found.n > 0 ? dnn_of(choose_object(&found, caller, "cudnnCreate"), NULL)
                            : dnn_of(&next, RTLD_NEXT);
        if (found.n == 1 && entry != NULL) {
            atomic_store_explicit(&entry->loads, loads, memory_order_relaxed);
            atomic_store_explicit(&state.only_dnn, entry, memory_order_release);
        }
    }
    errno = saved;
    return entry != NULL ? &entry->dnn : NULL;
}

bool real_dnn_holds(const void *function)
{
    struct objects found;
    objects_find("libcudnn", &found);
    return objects_holding(&found, function) != NULL;
}

static const struct real_cuda *open_cuda(void)
{
    const struct real_cuda *known = NULL;
    void *library = open_loaded("libcuda.so.1");
    struct real_cuda *fresh = library != NULL ? calloc(1, sizeof *fresh) : NULL;
    if (fresh != NULL)
        fresh->complete = fill_cuda(fresh, library);
    if (fresh != NULL && atomic_compare_exchange_strong(&state.cuda, &known, fresh)) {
        (void)dlerror();
        return fresh; /* libcuda stays loaded: its functions are called until the process ends */
    }
    free(fresh);
    close_filled(library);
    return known;
}

const struct real_cuda *real_driver(void)
{
    const struct real_cuda *cuda = atomic_load_explicit(&state.cuda, memory_order_acquire);
    if (cuda != NULL)
        return cuda;
    const int saved = errno;
    cuda = open_cuda();
    errno = saved;
    return cuda;
}

const struct real_cuda *real_cuda(void)
{
    const struct real_cuda *cuda = real_driver();
    return cuda != NULL && cuda->complete ? cuda : NULL;
}
