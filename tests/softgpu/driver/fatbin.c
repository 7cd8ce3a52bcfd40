/* SPDX-License-Identifier: BSD-3-Clause
 * Finds the PTX in what a program hands to the driver: PTX text, a fat binary container, or the
 * wrapper around containers that nvcc's host code registers. Machine code (cubins) is passed over.
 * Pure: no state. */
#include "tests/softgpu/driver/module.h"

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define WRAPPER_MAGIC   0x466243b1u
#define CONTAINER_MAGIC 0xba55ed50u
enum {
    ENTRY_PTX = 1,
    ENTRY_ELF = 2, /* machine code */
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    NEWEST_PTX = 90, /* ISA version 9.0, of CUDA 13.0 */
    MAX_PTX_BYTES = 1 << 30
};

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *containers; /* version 2: one per object file, then NULL */
};

struct container {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes; /* of all entries */
};

struct entry {
    uint16_t kind, version;
    uint32_t header_bytes;
    uint64_t payload_bytes; /* padded */
    uint32_t packed_bytes;  /* 0: stored */
    uint32_t options_offset;
    uint16_t isa_minor, isa_major;
    uint32_t sm;
    uint32_t unused[2];
    uint64_t flags, unused2;
    uint64_t bytes; /* unpacked */
};

/* A malloc'ed text of one entry; NULL: it can't be unpacked. */
static char *unpack(const unsigned char *at, const struct entry *e, size_t *bytes_p)
{
    const char *payload = (const char *)at + e->header_bytes;
    size_t bytes = e->packed_bytes == 0 ? e->payload_bytes : e->bytes;
    if (bytes > MAX_PTX_BYTES || e->packed_bytes > e->payload_bytes)
        return NULL;
    char *text = malloc(bytes + 1);
    if (text == NULL)
        return NULL;
    bool good = true;
    if (e->packed_bytes == 0)
        memcpy(text, payload, bytes);
    else if (e->flags & FLAG_ZSTD)
        good = ZSTD_decompress(text, bytes, payload, e->packed_bytes) == bytes;
    else if (e->flags & FLAG_LZ4)
        good = LZ4_decompress_safe(payload, text, (int)e->packed_bytes, (int)bytes) == (int)bytes;
    else
        good = false;
    if (!good) {
        free(text);
        return NULL;
    }
    text[bytes] = '\0';
    *bytes_p = strlen(text); /* the payload may end in zeros */
    return text;
}

bool ptx_target(const char *text, unsigned *sm_p, char *suffix_p)
{
    const char *at = strstr(text, ".target");
    char suffix = '\0';
    if (at == NULL || sscanf(at, ".target sm_%u%c", sm_p, &suffix) < 1)
        return false;
    *suffix_p = suffix == 'a' || suffix == 'f' ? suffix : '\0';
    return true;
}

static unsigned ptx_version(const char *text)
{
    unsigned major = 0, minor = 0;
    const char *at = strstr(text, ".version");
    return at != NULL && sscanf(at, ".version %u.%u", &major, &minor) == 2 ? 10 * major + minor : 0;
}

/* Is code for this target right for a GPU of this compute capability? */
static bool suits(unsigned sm, char suffix, int capability)
{
    if (suffix == 'a')
        return (int)sm == capability;
    if (suffix == 'f')
        return (int)sm <= capability && (int)sm / 10 == capability / 10;
    return (int)sm <= capability;
}

static bool text_suits(const char *text, int capability)
{
    unsigned sm;
    char suffix;
    return ptx_target(text, &sm, &suffix) && suits(sm, suffix, capability);
}

/* Would a GPU of this capability run the machine code? */
static bool is_native(const struct entry *e, int capability)
{
    return e->kind == ENTRY_ELF && (int)e->sm <= capability && (int)e->sm / 10 == capability / 10;
}

/* The best PTX of one container; NULL with *error_p. *native_p: there is machine code instead. */
static char *from_container(const void *image, int capability, size_t *bytes_p, CUresult *error_p,
                            bool *native_p)
{
    *native_p = false;
    struct container c;
    memcpy(&c, image, sizeof c);
    *error_p = CUDA_ERROR_INVALID_IMAGE;
    if (c.magic != CONTAINER_MAGIC || c.header_bytes < sizeof c)
        return NULL;
    const unsigned char *begin = (const unsigned char *)image + c.header_bytes;
    char *best = NULL;
    uint32_t best_sm = 0;
    *error_p = CUDA_ERROR_NO_BINARY_FOR_GPU;
    for (uint64_t at = 0; at + sizeof(struct entry) <= c.bytes;) {
        struct entry e;
        size_t bytes = 0;
        memcpy(&e, begin + at, sizeof e);
        uint64_t whole = e.header_bytes + e.payload_bytes;
        if (e.header_bytes < sizeof e || e.payload_bytes > c.bytes || at + whole > c.bytes) {
            *error_p = CUDA_ERROR_INVALID_IMAGE;
            break;
        }
        *native_p = *native_p || is_native(&e, capability);
        bool wanted = e.kind == ENTRY_PTX && (int)e.sm <= capability && e.sm >= best_sm;
        bool too_new = 10 * e.isa_major + e.isa_minor > NEWEST_PTX;
        if (wanted && too_new) {
            *error_p = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
        } else if (wanted) {
            char *text = unpack(begin + at, &e, &bytes);
            if (text == NULL)
                *error_p = CUDA_ERROR_INVALID_IMAGE;
            if (text != NULL && text_suits(text, capability)) {
                free(best);
                best = text;
                best_sm = e.sm;
                *bytes_p = bytes;
            } else {
                free(text);
            }
        }
        at += whole;
    }
    return best;
}

static unsigned from_text(const char *text, int capability, char **ptx, size_t *bytes,
                          CUresult *error_p)
{
    unsigned sm;
    char suffix;
    if (ptx_version(text) == 0 || !ptx_target(text, &sm, &suffix))
        *error_p = CUDA_ERROR_INVALID_IMAGE;
    else if (ptx_version(text) > NEWEST_PTX)
        *error_p = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    else if (!suits(sm, suffix, capability))
        *error_p = CUDA_ERROR_INVALID_PTX;
    else if ((ptx[0] = strdup(text)) == NULL)
        *error_p = CUDA_ERROR_OUT_OF_MEMORY;
    else {
        bytes[0] = strlen(text);
        return 1;
    }
    return 0;
}

/* Reads no byte past the first that differs: a text may be shorter than a magic number. */
static bool begins_with(const void *image, const void *magic, size_t n)
{
    const unsigned char *a = image, *b = magic;
    while (n > 0 && *a == *b) {
        a++;
        b++;
        n--;
    }
    return n == 0;
}

static unsigned from_linked(const void *image, char **ptx, size_t *bytes, unsigned max,
                            CUresult *error_p)
{
    struct linked linked;
    memcpy(&linked, image, sizeof linked);
    const char *text = (const char *)image + sizeof linked;
    unsigned n = 0;
    while (n < linked.n && n < max && (ptx[n] = strdup(text)) != NULL) {
        bytes[n] = strlen(text);
        text += bytes[n++] + 1;
    }
    if (n == linked.n)
        return n;
    while (n > 0)
        free(ptx[--n]);
    *error_p = CUDA_ERROR_OUT_OF_MEMORY;
    return 0;
}

unsigned fatbin_ptx(const void *image, int compute_capability, char **ptx, size_t *bytes,
                    unsigned max, CUresult *error_p)
{
    static const uint32_t wrapper_magic = WRAPPER_MAGIC, container_magic = CONTAINER_MAGIC;
    struct wrapper w;
    unsigned n = 0;
    bool native;
    *error_p = CUDA_SUCCESS;
    if (begins_with(image, &container_magic, sizeof container_magic)) {
        ptx[0] = from_container(image, compute_capability, &bytes[0], error_p, &native);
        return ptx[0] != NULL;
    }
    if (begins_with(image, LINKED_MAGIC, sizeof LINKED_MAGIC))
        return from_linked(image, ptx, bytes, max, error_p);
    if (begins_with(image, "\177ELF", 4)) {
        *error_p = CUDA_ERROR_NO_BINARY_FOR_GPU;
        return 0;
    }
    if (!begins_with(image, &wrapper_magic, sizeof wrapper_magic))
        return from_text(image, compute_capability, ptx, bytes, error_p);
    memcpy(&w, image, sizeof w);
    if (w.version == 1) {
        ptx[0] = from_container(w.data, compute_capability, &bytes[0], error_p, &native);
        return ptx[0] != NULL;
    }
    /* The container that nvlink made holds machine code only; the PTX of each object is beside. One
     * that has none for this GPU is left out: the device runtime, which nvcc links to every
     * program, has its PTX for the newest GPU alone. What does need it then lacks a function and is
     * told so. */
    for (const void *const *p = w.containers; w.version == 2 && p != NULL && *p != NULL; p++) {
        native = false;
        char *text =
            n < max ? from_container(*p, compute_capability, &bytes[n], error_p, &native) : NULL;
        if (text == NULL && native && *error_p == CUDA_ERROR_NO_BINARY_FOR_GPU)
            continue;
        if (text == NULL) {
            if (n == max)
                *error_p = CUDA_ERROR_INVALID_IMAGE;
            while (n > 0)
                free(ptx[--n]);
            return 0;
        }
        ptx[n++] = text;
    }
    *error_p = CUDA_SUCCESS;
    if (n == 0)
        *error_p = w.version == 2 ? CUDA_ERROR_NO_BINARY_FOR_GPU : CUDA_ERROR_INVALID_IMAGE;
    return n;
}
