/* SPDX-License-Identifier: BSD-3-Clause
 * Ranks for the checks of the NCCL stand-in: processes that fork before any of them touches the
 * driver, or threads of one process. Expected values come from num.c, by integers alone. */
#ifndef CHECK_NCCL_RANKS_H
#define CHECK_NCCL_RANKS_H

#include <check.h>
#include <cuda.h>
#include <nccl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* The header declares these without parameters. */
#define GROUP_START() NCCL(((ncclResult_t(*)(void))ncclGroupStart)())
#define GROUP_END()   ((ncclResult_t(*)(void))ncclGroupEnd)()

enum { MAX_RANKS = 8, SHARED_WORDS = 4096 };

struct rank {
    int rank, nranks;
    ncclUniqueId id;
    ncclComm_t comm; /* made before the test's function runs, unless it is to do so itself */
    CUstream stream;
    uint64_t *shared; /* SHARED_WORDS words that all ranks and the test see */
    const void *arg;
};

struct setting {
    const char *transport; /* NULL: the default */
    unsigned seed;         /* of the order of streams; 0: work runs when it is put */
    bool no_comm;          /* the function meets the others itself */
    bool may_die;          /* how a rank ends is the function's matter */
};

/* Runs fn in nranks processes; each must end well. Returns the shared words. */
uint64_t *run_ranks(int nranks, struct setting setting, void (*fn)(struct rank *r),
                    const void *arg);

/* In a rank: ends it with a message. */
#define MUST(_condition)      must(_condition, #_condition, __FILE__, __LINE__)
#define NCCL(_call)           nccl_must(_call, ncclSuccess, #_call, __FILE__, __LINE__)
#define NCCL_IS(_call, _want) nccl_must(_call, _want, #_call, __FILE__, __LINE__)
#define CU(_call)             cu_must(_call, #_call, __FILE__, __LINE__)
void must(bool ok, const char *what, const char *file, int line);
void nccl_must(ncclResult_t got, ncclResult_t want, const char *what, const char *file, int line);
void cu_must(CUresult got, const char *what, const char *file, int line);

/* Device memory with a guard behind it, full of poison. */
struct buffer {
    char *p;
    size_t bytes;
};
struct buffer buffer_new(size_t bytes);
void buffer_poison(struct buffer b);
void buffer_check(struct buffer b); /* the guard is untouched */
void buffer_free(struct buffer b);

/* Elements: a value of any type as bits; a pure function of its place. */
struct element_type {
    ncclDataType_t type;
    const char *name; /* num.h's, or "int", "uint" */
    unsigned bytes;
};
extern const struct element_type element_types[12];
uint64_t element(const struct element_type *t, uint64_t seed, int rank, size_t i);
void elements_fill(void *p, const struct element_type *t, uint64_t seed, int rank, size_t n);

/* Is `got` what the operation makes of element i of all ranks? factor: of PreMulSum (op
 * ncclNumOps), the same type. Integers: exactly; floating point: within the rounding of nranks
 * steps. */
bool element_right(const struct element_type *t, uint64_t got, uint64_t seed, int nranks, size_t i,
                   int op, uint64_t factor);
uint64_t element_at(const void *p, const struct element_type *t, size_t i);
/* A small factor, and a value, as the type has it. */
uint64_t element_of(const struct element_type *t, int numerator, int exponent);

Suite *suite_collective(void);
Suite *suite_comm(void);
Suite *suite_order(void);

#endif
