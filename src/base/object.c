/* SPDX-License-Identifier: BSD-3-Clause
 * Lists loaded objects. Owns nothing: each list is the caller's and a picture of one moment. */
#include "config.h"
#include "base/object.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

const char *object_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

const char *object_version(const char *path)
{
    const char *so = strstr(object_base_name(path), ".so.");
    return so != NULL ? so + 4 : "";
}

bool object_name_matches(const char *path, const char *prefix)
{
    const char *name = object_base_name(path);
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) == 0 && (name[n] == '.' || name[n] == '-') &&
           strstr(name + n, ".so") != NULL;
}

static int collect(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    struct objects *objects = arg;
    if (info->dlpi_name == NULL || !object_name_matches(info->dlpi_name, objects->prefix) ||
        strlen(info->dlpi_name) >= OBJECT_PATH_BYTES || objects->n == OBJECTS_MAX)
        return 0;
    struct object *object = &objects->object[objects->n++];
    object->base = info->dlpi_addr;
    object->begin = UINTPTR_MAX;
    object->end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type != PT_LOAD)
            continue;
        if (begin < object->begin)
            object->begin = begin;
        if (begin + segment->p_memsz > object->end)
            object->end = begin + segment->p_memsz;
    }
    strcpy(object->path, info->dlpi_name);
    return 0;
}

void objects_find(const char *prefix, struct objects *objects)
{
    objects->prefix = prefix;
    objects->n = 0;
    dl_iterate_phdr(collect, objects);
}

const struct object *objects_holding(const struct objects *objects, const void *address)
{
    for (unsigned i = 0; i < objects->n; i++)
        if ((uintptr_t)address >= objects->object[i].begin &&
            (uintptr_t)address < objects->object[i].end)
            return &objects->object[i];
    return NULL;
}

bool object_needs(const void *caller, const char *path)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (caller == NULL || dladdr1(caller, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 ||
        map == NULL)
        return false;
    const char *strings = NULL, *file = object_base_name(path);
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag == DT_STRTAB)
            strings = (const char *)d->d_un.d_ptr;
    for (const ElfW(Dyn) *d = map->l_ld; strings != NULL && d->d_tag != DT_NULL; d++) {
        if (d->d_tag != DT_NEEDED)
            continue;
        /* libcublas.so.12 is a prefix of the file libcublas.so.12.9.1.4 behind it */
        const char *needed = object_base_name(strings + d->d_un.d_val);
        if (strncmp(file, needed, strlen(needed)) == 0)
            return true;
    }
    return false;
}
