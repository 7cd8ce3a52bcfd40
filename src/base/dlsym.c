/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the C library's dlsym in its symbol table (ELF gABI; the GNU hash table is described in
 * the GNU linker's documentation and in public articles), because to ask dlsym for it would ask
 * ourselves. Owns the three pointers, which are set once. No function of the C library is called here
 * but dl_iterate_phdr: a sanitizer asks for names while it is still taking those functions over. */
#include "config.h"
#include "base/dlsym.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VERSION_HIDDEN 0x8000 /* in DT_VERSYM: not the default version of the name */

struct symbols {
    const ElfW(Sym) *table;
    const char *strings;
    const uint32_t *gnu_hash;
    const ElfW(Half) *versions;
};

struct search {
    const char *name;
    void *found;
};

/* ISO C has no conversion from void * to a function pointer; POSIX gives both one representation. */
union pointer {
    void *object;
    dlsym_function by_name;
    dlvsym_function by_version;
    dlclose_function close;
};

static _Atomic(void *) next_dlsym, next_dlvsym, next_dlclose;

static bool begins(const char *text, const char *prefix)
{
    while (*prefix != '\0')
        if (*text++ != *prefix++)
            return false;
    return true;
}

static bool equal(const char *a, const char *b)
{
    while (*a == *b && *a != '\0')
        a++, b++;
    return *a == *b;
}

static const char *base_name(const char *path)
{
    const char *name = path;
    for (; *path != '\0'; path++)
        if (*path == '/')
            name = path + 1;
    return name;
}

static bool read_dynamic(const struct dl_phdr_info *info, struct symbols *s)
{
    const ElfW(Dyn) *dynamic = NULL;
    *s = (struct symbols){NULL, NULL, NULL, NULL};
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
        /* glibc has relocated these pointers; a linker that has not leaves small offsets */
        uintptr_t p = dynamic->d_un.d_ptr;
        if (p < info->dlpi_addr)
            p += info->dlpi_addr;
        switch (dynamic->d_tag) {
        case DT_SYMTAB:
            s->table = (const ElfW(Sym) *)p;
            break;
        case DT_STRTAB:
            s->strings = (const char *)p;
            break;
        case DT_GNU_HASH:
            s->gnu_hash = (const uint32_t *)p;
            break;
        case DT_VERSYM:
            s->versions = (const ElfW(Half) *)p;
            break;
        default:
            break;
        }
    }
    return s->table != NULL && s->strings != NULL && s->gnu_hash != NULL;
}

static uint32_t gnu_hash(const char *name)
{
    uint32_t h = 5381;
    for (; *name != '\0'; name++)
        h = h * 33 + (unsigned char)*name;
    return h;
}

/* The default version of a defined function. */
static const ElfW(Sym) *look_up(const struct symbols *s, const char *name)
{
    const uint32_t buckets = s->gnu_hash[0], first = s->gnu_hash[1], bloom = s->gnu_hash[2];
    const uint32_t *bucket =
        (const uint32_t *)((const ElfW(Addr) *)(s->gnu_hash + 4) + bloom);
    const uint32_t *chain = bucket + buckets;
    const uint32_t hash = gnu_hash(name);
    if (buckets == 0)
        return NULL;
    for (uint32_t i = bucket[hash % buckets]; i >= first; i++) {
        const uint32_t h = chain[i - first];
        const ElfW(Sym) *symbol = &s->table[i];
        if ((h | 1) == (hash | 1) && equal(s->strings + symbol->st_name, name) &&
            symbol->st_shndx != SHN_UNDEF &&
            (s->versions == NULL || (s->versions[i] & VERSION_HIDDEN) == 0))
            return symbol;
        if ((h & 1) != 0)
            break;
    }
    return NULL;
}

/* The C library: glibc keeps dlsym in libdl.so.2 before 2.34 and in libc.so.6 since. */
static int visit_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct search *search = arg;
    const char *name = base_name(info->dlpi_name != NULL ? info->dlpi_name : "");
    struct symbols symbols;
    if (!begins(name, "libc.so") && !begins(name, "libdl.so"))
        return 0;
    if (!read_dynamic(info, &symbols))
        return 0;
    const ElfW(Sym) *symbol = look_up(&symbols, search->name);
    if (symbol != NULL)
        search->found = (void *)(info->dlpi_addr + symbol->st_value);
    return search->found != NULL;
}

static void *libc_function(const char *name)
{
    struct search search = {name, NULL};
    dl_iterate_phdr(visit_object, &search);
    return search.found;
}

static void *next_of(_Atomic(void *) *cache, const char *name)
{
    void *next = atomic_load_explicit(cache, memory_order_acquire);
    if (next != NULL)
        return next;
    const union pointer libc = {.object = libc_function("dlsym")};
    if (libc.object == NULL)
        return NULL;
    next = libc.by_name(RTLD_NEXT, name); /* the call comes from this object */
    if (next == NULL)
        next = libc_function(name);
    atomic_store_explicit(cache, next, memory_order_release);
    return next;
}

dlsym_function dlsym_next(void)
{
    return (union pointer){.object = next_of(&next_dlsym, "dlsym")}.by_name;
}

dlvsym_function dlvsym_next(void)
{
    return (union pointer){.object = next_of(&next_dlvsym, "dlvsym")}.by_version;
}

dlclose_function dlclose_next(void)
{
    return (union pointer){.object = next_of(&next_dlclose, "dlclose")}.close;
}
