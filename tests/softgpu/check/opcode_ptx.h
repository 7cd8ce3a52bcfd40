/* SPDX-License-Identifier: BSD-3-Clause
 * The layout shared by the generated PTX module of an opcode test and the code that runs it. */
#ifndef SOFTGPU_CHECK_OPCODE_PTX_H
#define SOFTGPU_CHECK_OPCODE_PTX_H

#include "opcode.h"

/* One thread's records. In: 64-bit slots: the sources, then what follows. */
enum {
    SLOT_ALL = 5,  /* member mask of an unguarded warp operation */
    SLOT_MASK = 6, /* member mask of the guarded one */
    SLOT_GUARD = 7,
    IN_SLOTS = 8,
    OUT_SLOTS = 16, /* variant * OP_DESTS + destination */
    SCRATCH_BYTES = 64,
    BLOCK_THREADS = 128,
};

/* How the instruction is written. */
enum variant {
    VARIANT_PLAIN,
    VARIANT_GUARDED, /* under a predicate that is false in some lanes */
    VARIANT_ALIAS,   /* destination is a source register too */
    VARIANT_IMMEDIATE,
    VARIANTS
};

extern const char *const variant_names[VARIANTS];

/* How a source's values are chosen. */
enum operand_kind {
    KIND_TYPE,    /* by its type */
    KIND_COUNT,   /* mostly small: shifts, positions, lengths */
    KIND_SEGMENT, /* the c operand of shfl */
    KIND_COMMON,  /* few values, in some warps only one */
};

struct shape {
    int nsources, ndests;
    const char *source[OP_SOURCES], *dest[OP_DESTS]; /* types */
    enum operand_kind kind[OP_SOURCES];
    int source_bits[OP_SOURCES], dest_bits[OP_DESTS]; /* destinations: of their registers */
    const struct num_format *dest_format[OP_DESTS];   /* NULL: no floating-point type */
    bool source_pair[OP_SOURCES], dest_pair[OP_DESTS];
    char text[256]; /* what they point into */
    int alias;      /* source that destination 0 may be; -1: none */
    bool immediate; /* the last source may be an immediate */
};

/* The bytes of the module's constant array "table" and of its kernel's parameter "fixed". */
enum { FIXED_BYTES = 64 };
unsigned char fixed_byte(int i);

/* The kernel's parameters. */
struct opcode_params {
    uint64_t in, out, scratch, unused;
    unsigned char fixed[FIXED_BYTES];
};

void shape_of(struct shape *shape, const struct family *family, const struct insn *in);
/* What VARIANT_IMMEDIATE has as its last source. */
uint64_t opcode_immediate(const struct shape *shape, uint64_t seed);

#endif
