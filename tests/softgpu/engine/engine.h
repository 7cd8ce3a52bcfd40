/* SPDX-License-Identifier: BSD-3-Clause
 * The engine of the software GPU: loads PTX text and runs its kernels on the CPU, a warp at a time.
 * It knows no CUDA API: streams, contexts and error codes are the driver's matter (../driver). */
#ifndef SOFTGPU_ENGINE_H
#define SOFTGPU_ENGINE_H

#include "mem.h"

struct sg_module;

struct sg_param {
    uint32_t offset, size, align; /* bytes, in the packed parameter buffer, as in .entry */
};

/* Facts of one .entry; owned by the module. */
struct sg_kernel {
    const char *name; /* as in the PTX (mangled) */
    const struct sg_module *module;
    uint32_t nparams, param_bytes;
    const struct sg_param *params;
    uint32_t static_shared; /* bytes */
    uint32_t local_bytes;   /* per thread */
    uint32_t registers;     /* an estimate: 32-bit registers per thread */
    uint32_t max_threads;   /* .maxntid product, else 1024 */
};

/* Parses and pre-decodes. Module-scope .global/.const variables get memory in vars (an arena that
 * must outlive the module), initialised. extra: PTX texts to link with this one (-rdc); n >= 1.
 * On failure NULL and *error_p a malloc'ed message that names origin, line and the mnemonic. */
struct sg_module *sg_module_load(const char *const *ptx, const size_t *len, unsigned n,
                                 const char *origin, struct sg_arena *vars, char **error_p);
void sg_module_unload(struct sg_module *module);
const struct sg_kernel *sg_module_kernel(const struct sg_module *module, const char *name);
unsigned sg_module_kernels(const struct sg_module *module); /* how many */
const struct sg_kernel *sg_module_kernel_at(const struct sg_module *module, unsigned i);
/* A module-scope variable. False: no such name. */
bool sg_module_global(const struct sg_module *module, const char *name, void **addr_p, size_t *bytes_p);
/* Every distinct full mnemonic ("fma.rn.f32") that the module uses. */
unsigned sg_module_mnemonics(const struct sg_module *module);
const char *sg_module_mnemonic(const struct sg_module *module, unsigned i);
/* True if the engine can execute this full mnemonic. */
bool sg_mnemonic_known(const char *mnemonic);

/* What a launch did. Bytes are requested bytes: active lanes times access size. */
struct sg_counts {
    uint64_t threads, warp_instructions, thread_instructions;
    uint64_t global_read_bytes, global_write_bytes, shared_bytes, atomics;
    uint64_t flop_f16, flop_bf16, flop_f32, flop_f64; /* fma counts 2 */
};

enum sg_fault_kind {
    SG_OK = 0,
    SG_FAULT_ADDRESS,    /* out of every live allocation */
    SG_FAULT_MISALIGNED,
    SG_FAULT_ADDRESS_SPACE, /* shared/local window exceeded */
    SG_FAULT_ASSERT,
    SG_FAULT_TRAP,
    SG_FAULT_DEADLOCK,   /* a barrier that some thread never reaches, or a step limit */
    SG_FAULT_RACE,       /* with check_races */
    SG_FAULT_RESOURCES,  /* block too large, too much shared memory, bad stack */
};

struct sg_fault {
    enum sg_fault_kind kind;
    uint32_t block[3], thread[3];
    uint64_t address;
    uint32_t bytes;
    bool write;
    unsigned line;     /* in the PTX */
    char message[640]; /* one line: kernel, block, thread, address, nearest allocation */
};

struct sg_launch {
    const struct sg_kernel *kernel;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    const void *params; /* kernel->param_bytes */
    const struct sg_space *space;
    struct sg_arena *heap; /* device-side malloc; may be NULL */
    bool cooperative;      /* all blocks resident, grid barriers work */
    bool check_races;      /* report conflicting shared and global accesses without synchronisation */
    unsigned workers;      /* CPU threads; 0: as many as there are cores */
    uint64_t order_seed;   /* 0: blocks in order; else a permutation of them */
    uint32_t turns;        /* of a block's warps, after which it counts as endless; 0: 2^20 */
    uint32_t sms;          /* multiprocessors, for %nsmid and %smid; 0: 1 */
    void (*print)(void *arg, const char *text, size_t len); /* device printf; NULL: dropped */
    void *print_arg;
};

/* Runs to the end, or to the first fault. Thread safe. counts_p may be NULL. */
enum sg_fault_kind sg_launch_run(const struct sg_launch *launch, struct sg_counts *counts_p,
                                 struct sg_fault *fault_p);

#endif
