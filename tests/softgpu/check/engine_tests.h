/* SPDX-License-Identifier: BSD-3-Clause
 * The parts of check_engine, and the hand-written PTX they run. */
#ifndef SOFTGPU_CHECK_ENGINE_TESTS_H
#define SOFTGPU_CHECK_ENGINE_TESTS_H

#include "device.h"

#include <check.h>

TCase *tcase_flow(void);
TCase *tcase_warp(void);
TCase *tcase_memory(void);
TCase *tcase_fault(void);
TCase *tcase_load(void);
TCase *tcase_limits(void);
TCase *tcase_mutate(void);
TCase *tcase_race(void);
TCase *tcase_arena(void);

/* Every source has one kernel k(a, b, c, n): three addresses and a u32. After the prologue
 * %qa %qb %qc %n hold them, %t %nt %cta the x indices, %gid the thread's number, and
 * %qx = a + 4 gid, %qy = b + 4 gid, %qz = c + 4 gid. Registers at hand: %p0-7, %h0-7, %r0-31,
 * %q0-31. */
struct engine_source {
    const char *name, *outside, *body;
};

extern const struct engine_source engine_flow_sources[], engine_memory_sources[];
extern const size_t engine_flow_source_count, engine_memory_source_count;
const struct engine_source *engine_source_at(size_t i); /* of both; NULL: no more */

char *engine_ptx(const char *name); /* the whole module; malloc'ed */
/* Opens the device with the source; its arrays a, b, c are the caller's. */
void engine_open(struct device *dev, const char *name);
void engine_run(struct device *dev, struct dim grid, struct dim block, uint32_t shared, void *a,
                void *b, void *c, uint32_t n);
enum sg_fault_kind engine_try(struct device *dev, struct dim grid, struct dim block,
                              uint32_t shared, void *a, void *b, void *c, uint32_t n);

#endif
