/* SPDX-License-Identifier: BSD-3-Clause
 * A libcuda.so.1 that does nothing but note the arguments of each call and return the status that
 * it was told to. It has the functions of src/symbols.def and src/imports.def. Includes no header of
 * CUDA: all functions take words. */
#include "spy_cuda.h"

#include <stddef.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define WORDS                                                                                      \
    uintptr_t a0, uintptr_t a1, uintptr_t a2, uintptr_t a3, uintptr_t a4, uintptr_t a5,            \
        uintptr_t a6, uintptr_t a7, uintptr_t a8, uintptr_t a9, uintptr_t a10, uintptr_t a11

EXPORT int spy_status = 801; /* not supported */

static int note(struct spy_call *call, WORDS)
{
    const uintptr_t words[SPY_WORDS] = {a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11};
    memcpy(call->words, words, sizeof words);
    call->n++;
    return spy_status;
}

#define DEFINE(_name, _attribute)                                                                  \
    static struct spy_call call_##_name;                                                           \
    EXPORT _attribute int _name(WORDS);                                                            \
    int _name(WORDS)                                                                               \
    {                                                                                              \
        return note(&call_##_name, a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11);              \
    }

#define IN_CUBLAS(_name)
#define IN_CUBLASLT(_name)
#define IN_CUDNN(_name)
#define IN_LIBC(_name)
#define IN_CUDA(_name)          DEFINE(_name, )
#define HOOK(_lib, _name)
#define SEEN(_lib, _name, _kind) IN_##_lib(_name)
#include "src/symbols.def"
#undef HOOK
#undef SEEN
#undef IN_CUDA

struct entry {
    const char *name;
    int (*function)(WORDS);
    struct spy_call *call;
};

#define IN_CUDA(_name) {#_name, _name, &call_##_name},
static const struct entry entries[] = {
#define HOOK(_lib, _name)
#define SEEN(_lib, _name, _kind) IN_##_lib(_name)
#include "src/symbols.def"
};

EXPORT struct spy_call *spy_find(const char *name)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strcmp(entries[i].name, name) == 0)
            return entries[i].call;
    return NULL;
}

/* Knows names as the linker does, whatever the version. */
static int get(const char *name, void **function)
{
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (strcmp(entries[i].name, name) == 0) {
            memcpy(function, &entries[i].function, sizeof *function);
            return 0;
        }
    return 500; /* not found */
}

EXPORT int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags);
int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    (void)version;
    (void)flags;
    return get(name, function);
}

EXPORT int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                               int *status);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    (void)version;
    (void)flags;
    (void)status;
    return get(name, function);
}
