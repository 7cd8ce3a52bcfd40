/* SPDX-License-Identifier: BSD-3-Clause
 * The machine that executes decoded PTX. A register is a row: one value per lane, 4 bytes wide for
 * types of up to 32 bits, else 8; a predicate is a mask of 32 bits. A decoded instruction names its
 * rows as (base, offset): registers in the warp's current frame, constants and parameters in rows
 * that a launch fills once, block indices, thread indices. An operation is a function that works
 * on all lanes of w->mask and returns the next instruction, or STOP with w->event set. */
#ifndef SOFTGPU_MACHINE_H
#define SOFTGPU_MACHINE_H

#include "engine.h"

enum { LANES = 32, ROW = 4 * LANES, ROW8 = 8 * LANES, BARRIERS = 17 /* 16 and the cluster's */ };
#define ALL_LANES 0xffffffffu

enum base { BASE_FRAME, BASE_LAUNCH, BASE_BLOCK, BASE_WARP, BASES };

/* Rows at BASE_BLOCK and BASE_WARP, in this order. */
enum { BLOCK_CTAID_X, BLOCK_CTAID_Y, BLOCK_CTAID_Z, BLOCK_SMID, BLOCK_ROWS };
enum {
    WARP_TID_X, WARP_TID_Y, WARP_TID_Z, WARP_LANEID, WARP_EQ, WARP_LE, WARP_LT, WARP_GE, WARP_GT,
    WARP_WARPID, WARP_ROWS
};

/* A frame begins with each lane's return address, where its local memory starts and where the
 * caller's alloca had come to. */
enum { FRAME_RETURN = 0, FRAME_LOCAL = ROW8, FRAME_STACK = ROW8 + ROW, FRAME_HEADER = ROW8 + 2 * ROW };

struct insn;
struct warp;
typedef const struct insn *(*op_fn)(struct warp *w, const struct insn *i);
#define STOP ((const struct insn *)UINTPTR_MAX)

struct insn {
    op_fn fn;
    uint32_t off[4];  /* [0] is the destination */
    uint8_t base[4];
    uint32_t guard;   /* offset of a predicate in the frame */
    uint8_t neg;      /* the guard, or a source predicate, is negated: all ones */
    uint8_t size, n, kind; /* operation specific: bytes of an access, elements, variant */
    int64_t imm;
    union {
        const struct insn *target;
        const uint32_t *list;
        const struct call *call;
        const struct switch_table *table;
        const void *data;
    };
    uint32_t line;
    uint32_t slot;    /* of the worker's range cache */
};

struct switch_table {
    uint32_t n;
    const struct insn *target[];
};

/* A function inside a program. */
struct routine {
    const char *name;
    const struct insn *entry;
    uint32_t frame_bytes, local_bytes;
    uint32_t nparams, nrets;
    const uint32_t *param_off, *param_words, *ret_off, *ret_words; /* rows in the frame */
};

struct call {
    const struct routine *caller, *callee; /* callee NULL: indirect, by the row of source 1 */
    uint32_t nargs, nrets;
    const uint32_t *arg_off, *arg_words, *ret_off, *ret_words;
};

/* What executing the instructions before this one adds up to, in program order. */
struct tally {
    uint32_t insns, f16, bf16, f32, f64;
};

enum fill_kind {
    FILL_CONST, FILL_PARAM, FILL_PARAM_ADDRESS, FILL_NTID, FILL_NCTAID, FILL_GRID,
    FILL_DYNAMIC_SHARED, FILL_TOTAL_SHARED, FILL_NWARPID, FILL_NSMID,
    FILL_GRID_BARRIER /* value 0: low half, 1: high half of an address */
};

struct range {
    uint64_t lo, hi; /* hi: behind the last byte */
};

/* One row at BASE_LAUNCH and where its value comes from. */
struct fill {
    enum fill_kind kind;
    uint32_t off;
    uint8_t width;      /* of a lane: 4 or 8 */
    uint8_t bytes;      /* of the parameter */
    bool sign;
    uint64_t value;     /* or the parameter's offset, or a dimension */
};

/* Everything a kernel executes: itself and all functions it may call. Owned by the module. */
struct program {
    struct sg_kernel kernel; /* first: a kernel is found by it */
    struct insn *code;
    uint32_t ninsns, nslots;
    struct tally *tally;     /* ninsns + 1 */
    const struct insn *entry;
    const struct fill *fill;
    uint32_t nfills, launch_bytes;
    struct routine *routine; /* by function index of the module; entry NULL: not part of this */
    uint32_t nroutines;
    uint32_t stack_bytes, local_bytes, shared_bytes, dynamic_offset;
    uint32_t reserved_shared; /* RESERVED_SHARED or 0; part of shared_bytes */
    bool has_flops, has_alloca;
    struct sg_arena *vars;
    const struct range *consts; /* the module's .const variables */
    uint32_t nconsts;
    struct kept {
        struct kept *next;
        _Alignas(16) char data[];
    } *kept; /* what the pointers above point to */
};

/* Address windows: reserved, never mapped. A generic address inside one is an offset into it. */
enum { WINDOW_BYTES = 16 << 20, MAX_SHARED = 227 << 10 /* of a block */ };
/* Shared memory in front of the program's, where a kernel asks for it: for the system, and from the
 * middle on for cooperative groups. */
enum { RESERVED_SHARED = 1 << 10 };
enum window { WINDOW_SHARED, WINDOW_LOCAL, WINDOW_CODE, WINDOWS };
uint64_t window_base(enum window which); /* 0: could not be reserved */
extern uint64_t windows_at;              /* the first window, once reserved */

enum event { EVENT_NONE, EVENT_BLOCKED, EVENT_YIELD, EVENT_EXIT, EVENT_SPLIT, EVENT_FAULT };

struct barrier {
    uint32_t threads, rounded; /* arrived: exact, and counting a whole warp as 32 */
    uint32_t wanted;           /* 0: all threads of the block */
    uint32_t count;            /* reduction: threads whose predicate is true */
    uint32_t result, result_threads; /* of the last one completed */
};

struct warp {
    char *base[BASES];
    const struct insn *limit;  /* the group runs while its pc is below */
    uint32_t mask;             /* lanes that execute */
    uint32_t alive, blocked;   /* not exited; of those, parked at a barrier */
    uint32_t syncing;          /* parked at a warp-synchronous instruction */
    uint32_t carry;            /* CC.CF */
    int32_t budget;            /* backward branches until others get a turn */
    enum event event;
    bool ahead;                /* the group was chosen out of order: lower ones wait */
    bool whole;                /* all alive lanes are at pc; else each is at its lane_pc */
    const struct insn *pc;
    const struct insn *run;    /* instructions from here on are not counted yet */
    struct worker *worker;
    struct block *block;
    const struct program *program;
    char *frames, *frames_end;
    char *local;               /* of lane 0; the next lane's is local_bytes further */
    uint32_t number;           /* in the block */
    uint32_t turn;             /* where looking for a group starts when one spins */
    uint32_t blocked_at[BARRIERS];
    uint32_t stack[LANES];     /* alloca's memory: from here to the end of the local memory */
    const struct insn *lane_pc[LANES];
    char *lane_frame[LANES];
    /* the race checker's times */
    uint32_t met, observed[LANES], published[LANES];
};

struct block {
    struct worker *worker;
    char *shared;
    uint32_t shared_bytes;
    uint32_t quick_bytes; /* the same, or 0 when every access is to take the general way */
    uint32_t nwarps, nthreads, alive; /* threads */
    uint32_t index[3];
    uint64_t linear;
    struct warp *warp;
    char *rows; /* at BASE_BLOCK */
    struct barrier barrier[BARRIERS];
    uint32_t turns;
    uint32_t met, began, observed, last_observed; /* the race checker's times */
    size_t bytes; /* of the mapping it heads */
    struct block *next;
};

/* One CPU thread's part of a launch. */
struct worker {
    struct run *run;
    struct range *range;  /* by slot: the allocation an instruction used last */
    struct sg_counts counts;
    uint64_t quota;               /* blocks it may still start */
    struct block *blocks, *spare; /* resident; memory of ended ones */
    unsigned nresident;
};

enum { WORKSPACE_BYTES = 32 };

/* A launch being executed. */
struct run {
    const struct sg_launch *launch;
    const struct program *program;
    char *rows; /* at BASE_LAUNCH */
    char *params;
    char *workspace; /* of the grid barrier: WORKSPACE_BYTES, zeroed */
    uint32_t nwarps, nthreads, nworkers;
    uint32_t shared_bytes;
    uint64_t nblocks, serial;
    struct shadow *shadow; /* of the race checker */
    /* shared by the workers */
    _Atomic uint64_t next;
    _Atomic bool stop;
    struct sg_fault *fault;
};

/* Records the launch's first fault and stops it. Returns STOP. */
const struct insn *fault(struct warp *w, const struct insn *i, enum sg_fault_kind kind, unsigned lane,
                         uint64_t address, uint32_t bytes, bool write, const char *format, ...)
    __attribute__((format(printf, 8, 9)));

#endif
