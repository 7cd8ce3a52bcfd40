/* SPDX-License-Identifier: BSD-3-Clause
 * Makes modules of the hand-written PTX and runs them. No state. */
#include "engine_tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char prologue[] =
    "{\n"
    ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<32>; .reg .b64 %q<32>;\n"
    ".reg .b32 %n, %t, %nt, %cta, %gid; .reg .b64 %qa, %qb, %qc, %qx, %qy, %qz;\n"
    "ld.param.b64 %qa, [a]; ld.param.b64 %qb, [b]; ld.param.b64 %qc, [c]; ld.param.b32 %n, [n];\n"
    "mov.u32 %t, %tid.x; mov.u32 %nt, %ntid.x; mov.u32 %cta, %ctaid.x;\n"
    "mad.lo.u32 %gid, %cta, %nt, %t;\n"
    "mad.wide.u32 %qx, %gid, 4, %qa; mad.wide.u32 %qy, %gid, 4, %qb; mad.wide.u32 %qz, %gid, 4, "
    "%qc;\n";

const struct engine_source *engine_source_at(size_t i)
{
    if (i < engine_flow_source_count)
        return &engine_flow_sources[i];
    i -= engine_flow_source_count;
    return i < engine_memory_source_count ? &engine_memory_sources[i] : NULL;
}

char *engine_ptx(const char *name)
{
    const struct engine_source *s;
    char *text;

    for (size_t i = 0; (s = engine_source_at(i)); i++) {
        if (strcmp(s->name, name) != 0)
            continue;
        if (asprintf(&text,
                     ".version 8.7\n.target sm_90\n.address_size 64\n%s"
                     ".visible .entry k(.param .b64 a, .param .b64 b, .param .b64 c, .param .b32 "
                     "n)\n%s%s}\n",
                     s->outside, prologue, s->body) < 0)
            abort();
        return text;
    }
    ck_abort_msg("no source %s", name);
    return NULL;
}

void engine_open(struct device *dev, const char *name)
{
    char *text = engine_ptx(name);

    device_open(dev, text);
    free(text);
}

enum sg_fault_kind engine_try(struct device *dev, struct dim grid, struct dim block,
                              uint32_t shared, void *a, void *b, void *c, uint32_t n)
{
    return device_try(dev, "k", grid, block, shared, ARGS(&a, &b, &c, &n));
}

void engine_run(struct device *dev, struct dim grid, struct dim block, uint32_t shared, void *a,
                void *b, void *c, uint32_t n)
{
    device_run(dev, "k", grid, block, shared, ARGS(&a, &b, &c, &n));
}
