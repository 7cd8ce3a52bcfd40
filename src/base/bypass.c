/* SPDX-License-Identifier: BSD-3-Clause
 * Reads what the dynamic linker has bound (ELF gABI): an object whose slot for cublasSgemm_v2 holds
 * the address in libcublas, not ours, was opened with RTLD_DEEPBIND or has looked the function up
 * in a way that does not pass here. A cuBLAS that was linked in statically shows by the names of
 * its documented variables among the constants. Owns nothing. */
#include "config.h"
#include "base/bypass.h"
#include "base/env.h"
#include "base/log.h"
#include "base/object.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
enum { BOUND_CALL = R_X86_64_JUMP_SLOT, BOUND_DATA = R_X86_64_GLOB_DAT, BOUND_WORD = R_X86_64_64 };
#elif defined(__aarch64__)
enum {
    BOUND_CALL = R_AARCH64_JUMP_SLOT,
    BOUND_DATA = R_AARCH64_GLOB_DAT,
    BOUND_WORD = R_AARCH64_ABS64
};
#else
#error "bypass.c needs the relocation types of this architecture"
#endif

enum { SCAN_OBJECT = 64 << 20, SCAN_ALL = 256 << 20 }; /* bytes: more is not worth the time */

static const char *const names[] = {
#define HOOK(_lib, _sym)        #_sym,
#define SEEN(_lib, _sym, _kind) #_sym,
#include "symbols.def"
#undef HOOK
#undef SEEN
};

struct survey {
    struct objects cublas, lt, cuda, libc, libdl;
    size_t scanned;
    bool handles;
    bool deepbind, by_name, linked_in; /* what was found, for the advice */
};

/* The tables of one object that are needed to see how it was bound. */
struct tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * rela[2]; /* DT_RELA without its relative ones, DT_JMPREL */
    size_t rela_n[2];
};

static uintptr_t relocated(const struct dl_phdr_info *info, uintptr_t p)
{
    return p < info->dlpi_addr ? p + info->dlpi_addr : p;
}

static bool read_tables(const struct dl_phdr_info *info, struct tables *t)
{
    const ElfW(Dyn) *d = NULL;
    size_t relative = 0;
    memset(t, 0, sizeof *t);
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            d = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    for (; d != NULL && d->d_tag != DT_NULL; d++) {
        const uintptr_t p = relocated(info, d->d_un.d_ptr);
        switch (d->d_tag) {
        case DT_SYMTAB:
            t->symbols = (const ElfW(Sym) *)p;
            break;
        case DT_STRTAB:
            t->strings = (const char *)p;
            break;
        case DT_RELA:
            t->rela[0] = (const ElfW(Rela) *)p;
            break;
        case DT_RELASZ:
            t->rela_n[0] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        case DT_RELACOUNT:
            relative = d->d_un.d_val;
            break;
        case DT_JMPREL:
            t->rela[1] = (const ElfW(Rela) *)p;
            break;
        case DT_PLTRELSZ:
            t->rela_n[1] = d->d_un.d_val / sizeof(ElfW(Rela));
            break;
        default:
            break;
        }
    }
    if (t->rela[0] == NULL)
        t->rela_n[0] = 0;
    if (t->rela[1] == NULL)
        t->rela_n[1] = 0;
    if (relative <= t->rela_n[0]) { /* millions in some libraries, and never of interest */
        t->rela[0] += relative;
        t->rela_n[0] -= relative;
    }
    return t->symbols != NULL && t->strings != NULL;
}

static bool is_hooked(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* What one bound name tells. */
static void judge(struct survey *s, const char *name, const void *target)
{
    if (strncmp(name, "cublas", 6) == 0) {
        if ((objects_holding(&s->cublas, target) != NULL ||
             objects_holding(&s->lt, target) != NULL) &&
            is_hooked(name))
            s->deepbind = true;
    } else if (strcmp(name, "dlsym") == 0 || strcmp(name, "dlvsym") == 0) {
        if (objects_holding(&s->libc, target) != NULL || objects_holding(&s->libdl, target) != NULL)
            s->by_name = true;
    }
}

static void read_bindings(const struct dl_phdr_info *info, struct survey *s)
{
    struct tables t;
    if (!read_tables(info, &t))
        return;
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < t.rela_n[list]; i++) {
            const ElfW(Rela) *r = &t.rela[list][i];
            const uint32_t type = ELF64_R_TYPE(r->r_info);
            if (type != BOUND_CALL && type != BOUND_DATA && type != BOUND_WORD)
                continue;
            const char *name = t.strings + t.symbols[ELF64_R_SYM(r->r_info)].st_name;
            if (name[0] == 'c' || name[0] == 'd')
                judge(s, name, *(void *const *)(info->dlpi_addr + r->r_offset));
        }
}

static void scan_constants(const struct dl_phdr_info *info, struct survey *s)
{
    static const char *const variables[] = {"CUBLAS_LOGINFO_DBG", "CUBLASLT_LOG_LEVEL"};
    size_t left = SCAN_OBJECT;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & (PF_W | PF_R)) != PF_R)
            continue;
        size_t bytes = segment->p_filesz < left ? segment->p_filesz : left;
        if (bytes > SCAN_ALL - s->scanned)
            bytes = SCAN_ALL - s->scanned;
        for (size_t v = 0; v < sizeof variables / sizeof variables[0]; v++)
            if (memmem((const void *)(info->dlpi_addr + segment->p_vaddr), bytes, variables[v],
                       strlen(variables[v])) != NULL)
                s->linked_in = true;
        left -= bytes;
        s->scanned += bytes;
    }
}

static bool is_vendors(const char *name)
{
    static const char *const prefixes[] = {
        "libcublas", "libcublasLt", "libcuda",         "libcudart",
        "libc",      "libdl",       "ld-linux-x86-64", "ld-linux-aarch64"};
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (object_name_matches(name, prefixes[i]))
            return true;
    return false;
}

static int survey_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct survey *s = arg;
    const char *path = info->dlpi_name != NULL ? info->dlpi_name : "";
    const char *name = path[0] != '\0' ? object_base_name(path) : "the program";
    for (int i = 0; i < info->dlpi_phnum; i++) { /* this object itself */
        const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
        if (info->dlpi_phdr[i].p_type == PT_LOAD && (uintptr_t)names >= begin &&
            (uintptr_t)names < begin + info->dlpi_phdr[i].p_memsz)
            return 0;
    }
    if (is_vendors(path) || env_list_matches(env_get()->exclude, name))
        return 0;
    s->deepbind = s->by_name = s->linked_in = false;
    if (s->cublas.n + s->lt.n > 0)
        read_bindings(info, s);
    else
        scan_constants(info, s);
    if (s->deepbind)
        LOG_WARN(
            "WARNING: %s is bound to cuBLAS directly, past this library: its GEMMs are not seen "
            "and not converted. Was it opened with RTLD_DEEPBIND? Open it without",
            name);
    else if (s->by_name && !s->handles)
        LOG_WARN(
            "WARNING: cuBLAS was loaded, but no handle was created through this library, and "
            "%s looks names up past it: its GEMMs are not seen and not converted. Was it opened "
            "with RTLD_DEEPBIND? Open it without",
            name);
    else if (s->linked_in)
        LOG_WARN(
            "WARNING: %s seems to have cuBLAS linked in statically: its GEMMs are not seen and "
            "not converted. Link it with the shared library (-lcublas, not -lcublas_static)",
            name);
    return 0;
}

void bypass_report(bool handles)
{
    struct survey s = {.handles = handles};
    objects_find("libcublas", &s.cublas);
    objects_find("libcublasLt", &s.lt);
    objects_find("libcuda", &s.cuda);
    if (s.cublas.n + s.lt.n + s.cuda.n == 0 || !env_get()->enabled || !log_wants(LOG_LEVEL_WARN))
        return;
    objects_find("libc", &s.libc);
    objects_find("libdl", &s.libdl);
    dl_iterate_phdr(survey_object, &s);
}
