/* SPDX-License-Identifier: BSD-3-Clause
 * Answers dlsym for the names of symbols.def: the hook, but only after the real look-up succeeded,
 * for cuBLAS and cuDNN only where it found a function of that library itself (a wrapper's stays what
 * it is, and cuDNN looks its own parts up by the same names), and
 * never for RTLD_NEXT or RTLD_DEFAULT (those already see this object as the search order says).
 * Owns the table of names, made at the first look-up of a name that begins like one of ours. */
#include "config.h"
#include "base/dlsym.h"
#include "base/env.h"
#include "base/real.h"
#include "hook/create.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What the assembly entry does: jump there if jump is set, else return result. */
struct dlsym_decision {
    void *result;
    union {
        void *jump;
        dlsym_function jump_dlsym;
        dlvsym_function jump_dlvsym;
    };
};

struct dlsym_decision dlsym_route(void *handle, const char *name);
struct dlsym_decision dlvsym_route(void *handle, const char *name, const char *version);

/* The hooks as addresses; their prototypes do not matter here. */
#define HOOK(_lib, _sym)        extern const char hook_##_sym[] __asm__(#_sym);
#define SEEN(_lib, _sym, _kind) extern const char hook_##_sym[] __asm__(#_sym);
#include "symbols.def"
#undef HOOK
#undef SEEN

enum library { LIBRARY_CUBLAS, LIBRARY_CUBLASLT, LIBRARY_CUDNN, LIBRARY_OTHER };
enum { LIBRARY_CUDA = LIBRARY_OTHER, LIBRARY_LIBC = LIBRARY_OTHER };

struct entry {
    const char *name;
    const void *hook;
    enum library library;
};

static const struct entry entries[] = {
#define HOOK(_lib, _sym)        {#_sym, hook_##_sym, (enum library)LIBRARY_##_lib},
#define SEEN(_lib, _sym, _kind) {#_sym, hook_##_sym, (enum library)LIBRARY_##_lib},
#include "symbols.def"
#undef HOOK
#undef SEEN
};

enum { ENTRIES = sizeof entries / sizeof entries[0], SLOTS = 2048 };
_Static_assert(ENTRIES * 3 < SLOTS, "the table of names is too full");

static struct {
    pthread_once_t once;
    uint16_t slot[SLOTS]; /* index into entries + 1 */
} table = {.once = PTHREAD_ONCE_INIT};

static uint32_t hash(const char *name)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *name != '\0'; name++)
        h = (h ^ (unsigned char)*name) * 16777619u;
    return (h ^ (h >> 15)) % SLOTS;
}

static void fill_table(void)
{
    for (uint16_t i = 0; i < ENTRIES; i++) {
        uint32_t at = hash(entries[i].name);
        while (table.slot[at] != 0)
            at = (at + 1) % SLOTS;
        table.slot[at] = (uint16_t)(i + 1);
    }
}

static const struct entry *entry_named(const char *name)
{
    /* Every name begins with "cu", "nccl" or is dlsym itself: most look-ups end here. */
    if (name == NULL || !((name[0] == 'c' && name[1] == 'u') || (name[0] == 'd' && name[1] == 'l')))
        return NULL;
    pthread_once(&table.once, fill_table);
    for (uint32_t at = hash(name); table.slot[at] != 0; at = (at + 1) % SLOTS)
        if (strcmp(entries[table.slot[at] - 1].name, name) == 0)
            return &entries[table.slot[at] - 1];
    return NULL;
}

static const struct entry *entry_to_give(void *handle, const char *name)
{
    if (handle == RTLD_NEXT || handle == RTLD_DEFAULT)
        return NULL;
    const struct entry *entry = entry_named(name);
    if (entry == NULL)
        return NULL;
    const int saved = errno;
    const bool enabled = env_get()->enabled;
    errno = saved;
    return enabled ? entry : NULL;
}

/* cublasSgemm, which has a cublasSgemm_v2 beside it, takes no handle that tells the library. */
static bool takes_no_handle(const char *name)
{
    char second[64];
    const size_t n = strlen(name);
    if (n + sizeof "_v2" > sizeof second)
        return false;
    memcpy(second, name, n);
    memcpy(second + n, "_v2", sizeof "_v2");
    return entry_named(second) != NULL;
}

static const void *answer_cublas(const struct entry *entry, void *found)
{
    unsigned loaded;
    const struct real_blas *real = real_blas_of(found, &loaded);
    const void *pinned = NULL;
    if (real == NULL || (loaded > 1 && takes_no_handle(entry->name)))
        return found;
    if (strcmp(entry->name, "cublasCreate_v2") == 0)
        pinned = create_pinned(real);
    return pinned != NULL ? pinned : entry->hook;
}

static const void *answer_cublaslt(const struct entry *entry, void *found)
{
    const struct real_lt *lt = real_lt_of(found);
    const void *pinned = NULL;
    if (lt == NULL)
        return found;
    if (strcmp(entry->name, "cublasLtCreate") == 0)
        pinned = create_pinned_lt(lt);
    return pinned != NULL ? pinned : entry->hook;
}

/* What to give the program in place of what the real look-up found. */
static void *answer(const struct entry *entry, void *found)
{
    if (found == NULL || found == entry->hook)
        return found;
    const int saved = errno;
    const void *given = entry->library == LIBRARY_CUBLAS     ? answer_cublas(entry, found)
                        : entry->library == LIBRARY_CUBLASLT ? answer_cublaslt(entry, found)
                        : entry->library == LIBRARY_CUDNN && !real_dnn_holds(found) ? found
                                                                                     : entry->hook;
    errno = saved;
    return (void *)(uintptr_t)given;
}

struct dlsym_decision dlsym_route(void *handle, const char *name)
{
    const dlsym_function next = dlsym_next();
    const struct entry *entry = entry_to_give(handle, name);
    struct dlsym_decision decision = {NULL, {NULL}};
    if (entry == NULL)
        decision.jump_dlsym = next;
    else
        decision.result = answer(entry, next(handle, name));
    return decision;
}

struct dlsym_decision dlvsym_route(void *handle, const char *name, const char *version)
{
    const dlvsym_function next = dlvsym_next();
    const struct entry *entry = entry_to_give(handle, name);
    struct dlsym_decision decision = {NULL, {NULL}};
    if (entry == NULL)
        decision.jump_dlvsym = next;
    else
        decision.result = answer(entry, next(handle, name, version));
    return decision;
}
