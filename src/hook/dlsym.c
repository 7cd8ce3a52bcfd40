/* SPDX-License-Identifier: BSD-3-Clause
 * Answers dlsym for the names of symbols.def: the hook, but only after the real look-up succeeded
 * and never for RTLD_NEXT or RTLD_DEFAULT (those already see this object as the search order says).
 * Owns the table of names, made at the first look-up of a name that begins like one of ours. */
#include "config.h"
#include "base/dlsym.h"
#include "base/env.h"

#include <dlfcn.h>
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

struct entry {
    const char *name;
    const void *hook;
};

static const struct entry entries[] = {
#define HOOK(_lib, _sym)        {#_sym, hook_##_sym},
#define SEEN(_lib, _sym, _kind) {#_sym, hook_##_sym},
#include "symbols.def"
#undef HOOK
#undef SEEN
};

enum { ENTRIES = sizeof entries / sizeof entries[0], SLOTS = 1024 };
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

static const void *hook_named(const char *name)
{
    /* Every name begins with "cu", "nccl" or is dlsym itself: most look-ups end here. */
    if (name == NULL || !((name[0] == 'c' && name[1] == 'u') || (name[0] == 'd' && name[1] == 'l')))
        return NULL;
    pthread_once(&table.once, fill_table);
    for (uint32_t at = hash(name); table.slot[at] != 0; at = (at + 1) % SLOTS)
        if (strcmp(entries[table.slot[at] - 1].name, name) == 0)
            return entries[table.slot[at] - 1].hook;
    return NULL;
}

static const void *hook_to_give(void *handle, const char *name)
{
    if (handle == RTLD_NEXT || handle == RTLD_DEFAULT)
        return NULL;
    const void *hook = hook_named(name);
    return hook != NULL && env_get()->enabled ? hook : NULL;
}

struct dlsym_decision dlsym_route(void *handle, const char *name)
{
    const dlsym_function next = dlsym_next();
    const void *hook = hook_to_give(handle, name);
    struct dlsym_decision decision = {NULL, {NULL}};
    if (hook == NULL)
        decision.jump_dlsym = next;
    else if (next(handle, name) != NULL)
        decision.result = (void *)(uintptr_t)hook;
    return decision;
}

struct dlsym_decision dlvsym_route(void *handle, const char *name, const char *version)
{
    const dlvsym_function next = dlvsym_next();
    const void *hook = hook_to_give(handle, name);
    struct dlsym_decision decision = {NULL, {NULL}};
    if (hook == NULL)
        decision.jump_dlvsym = next;
    else if (next(handle, name, version) != NULL)
        decision.result = (void *)(uintptr_t)hook;
    return decision;
}
