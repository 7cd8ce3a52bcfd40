/* SPDX-License-Identifier: BSD-3-Clause
 * Checked access to device memory (op_mem.c), for loads, stores, atomics and copies. */
#ifndef SOFTGPU_MEMORY_H
#define SOFTGPU_MEMORY_H

#include "machine.h"

/* insn.kind of memory operations; no space bit: generic */
enum {
    MEM_GLOBAL = 1, MEM_SHARED = 2, MEM_LOCAL = 4,
    MEM_ADDRESS_32 = 8, /* the address row is 32 bits wide */
    MEM_SIGNED = 16,
    MEM_STRONG = 32,    /* volatile, relaxed or acquire: no race with its like */
    MEM_CHECKED = 64,   /* general form wanted */
    MEM_PARAM = 128,    /* a parameter at a computed place: no device memory, not counted */
};

enum where { WHERE_FAULT, WHERE_GLOBAL, WHERE_SHARED, WHERE_LOCAL };

/* Host addresses of what the executing lanes access, in address[]; counts the bytes. On WHERE_FAULT
 * the fault is recorded. A mix of spaces gives one that was met. */
enum where resolve(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes, bool write);
/* The same for an atomic operation; counts no bytes. */
enum where resolve_atomic(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes);
/* The same for addresses that the caller computed; does not count. */
enum where check_global(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes,
                        bool write);
enum where check_shared(struct warp *w, const struct insn *i, uint64_t *address, unsigned bytes,
                        bool write);
/* The allocation that holds a global address. */
bool space_find(const struct warp *w, uint64_t address, struct range *out);

/* Race checks of a plain or strong access that resolve() let pass. False: a fault. */
bool checked_load(struct warp *w, const struct insn *i, const uint64_t *address, unsigned bytes,
                  enum where where);
bool checked_store(struct warp *w, const struct insn *i, const uint64_t *address, enum where where);

/* The general forms (op_mem.c), and the best form for an access (op_quick.c). width: of the row. */
extern const op_fn op_load, op_store;
op_fn load_fn(unsigned kind, unsigned size, unsigned n, unsigned width);
op_fn store_fn(unsigned kind, unsigned size, unsigned n, unsigned width);

#endif
