/* SPDX-License-Identifier: BSD-3-Clause
 * From parsed PTX to a program. decode.c drives; each family of instructions that no operation table
 * covers has a form (does it exist with these modifiers?) and a decoder (with these operands). */
#ifndef SOFTGPU_DECODE_H
#define SOFTGPU_DECODE_H

#include "control.h"
#include "lanes.h"
#include "memory.h"
#include "ptx.h"

/* Rows of registers and parameters that the calls of a warp may take, in bytes. */
enum { MAX_STACK = 256 << 20 };

/* Where a value is. */
struct ref {
    uint32_t off;
    uint8_t base;
};

struct fixup {
    uint32_t at, target; /* indices of instructions */
};

struct reg_place {
    bool placed, constant; /* constant: the register has this one value all the time */
    struct ref ref;
};

struct decoder {
    struct loader *ld;
    struct ptx_module *module;
    struct program *program;
    /* code so far */
    struct insn *code;
    struct tally *info; /* what each instruction adds */
    unsigned n, room, info_n, info_room, pending;
    struct fill *fill;
    unsigned nfills, fills_room;
    struct map fills;
    struct fixup *fixup;
    unsigned nfixups, fixups_room;
    /* the function in work */
    struct ptx_func *func;
    struct routine *routine;
    struct reg_place *reg;
    uint32_t frame_bytes, local_bytes;
    uint32_t *insn_at;    /* code index of each PTX instruction, and of the end */
    bool indirect;        /* the program calls through pointers */
    const char *mnemonic; /* of the instruction in work, and its line */
    unsigned line;
};

/* An instruction's modifiers, ticked off one by one; all must be. */
struct form {
    const struct ptx_insn *insn;
    uint32_t used;
    enum ptx_type type, source; /* destination or only type; second type of a cvt */
    unsigned kind, n, size;     /* family specific; elements; bytes */
    unsigned flags;
    const void *row;
};

struct family {
    const char *op;
    bool (*form)(struct form *f);
    void (*decode)(struct decoder *d, const struct form *f);
    bool flow; /* may change which lanes run: a guard becomes a branch around it */
};

/* Lists ended by a NULL op. */
extern const struct family flow_families[], memory_families[], convert_families[], compare_families[],
    warp_families[], misc_families[], atomic_families[], async_families[], matrix_families[],
    wmma_families[];

/* modifiers */
bool form_take(struct form *f, const char *mod);
/* The index of the one of a NULL-ended list that is there, else -1. */
int form_one(struct form *f, const char *const *mods);
enum ptx_type form_type(struct form *f); /* the next type among the modifiers; T_NONE */
bool form_done(const struct form *f);
/* Scopes and cache hints, which make no difference here. */
void form_take_hints(struct form *f);

/* Operand k; there must be one. */
const struct ptx_operand *operand(const struct decoder *d, const struct form *f, unsigned k);

/* Do bytes from the offset on lie in the variable? */
bool in_var(const struct ptx_var *var, int64_t off, uint64_t bytes);

/* Appends an instruction; the pointer is good until the next one. */
struct insn *emit(struct decoder *d, op_fn fn, unsigned line);
void insn_src(struct insn *i, unsigned k, struct ref ref);

/* Rows. letter: as in an operation table. */
struct ref ref_source(struct decoder *d, const struct ptx_operand *o, char letter);
struct ref ref_dest(struct decoder *d, const struct ptx_operand *o, char letter);
struct ref ref_const(struct decoder *d, uint64_t value, unsigned width);
struct ref ref_fill(struct decoder *d, struct fill fill);
struct ref ref_temp(struct decoder *d, unsigned width);
unsigned reg_width(const struct decoder *d, unsigned reg); /* 4, 8, 16; predicate: 0 */
/* A predicate that may be negated. */
struct ref pred_source(struct decoder *d, const struct ptx_operand *o, uint8_t *neg_p);
/* A row for a register of any width as `width` bytes: narrows or widens where needed. */
struct ref ref_any(struct decoder *d, const struct ptx_operand *o, unsigned width);
char letter_of(enum ptx_type type);
/* The value of a name: an address, an offset or a function's handle; or a parameter's fill. */
bool symbol_ref(struct decoder *d, const struct ptx_operand *o, unsigned width, struct ref *out);
bool sreg_ref(struct decoder *d, const char *name, unsigned width, struct ref *out);
/* decode_memory.c: the address of a memory operand */
struct address {
    struct ref ref;
    int64_t imm;
    unsigned flags;            /* MEM_ADDRESS_32 */
    const struct ptx_var *var; /* named by it */
};
/* Its value in each lane, while the program runs. */
void operand_addresses(const struct warp *w, const struct address *a, uint64_t *out);
void memory_operand(struct decoder *d, const struct ptx_operand *o, struct address *out);
/* dest = where the function's local memory starts, + off */
void emit_local_base(struct decoder *d, struct ref dest, uint32_t off, unsigned width);
/* decode_flow.c: formal parameters that are registers, loaded on entry or stored before a return */
void emit_formals(struct decoder *d, struct ptx_var *const *var, unsigned n, bool store);
const struct op_row *op_find(const char *mnemonic);
void emit_row(struct decoder *d, const struct op_row *row, const struct ptx_insn *in);
void count_flops(struct decoder *d, enum flop_kind kind, unsigned flops);
void *keep(struct decoder *d, size_t bytes); /* memory that lives as long as the module */
uint64_t function_handle(const struct ptx_func *func);

/* op_packed.c: conversions to and from packed formats, which cvt tries first */
bool packed_form(struct form *f);
void packed_decode(struct decoder *d, const struct form *f);

/* Decodes the kernel and what it calls into d->program. */
void decode_program(struct decoder *d, struct ptx_func *kernel);
bool mnemonic_form(struct form *f, const struct family **family_p);

#endif
