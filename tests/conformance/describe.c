/* SPDX-License-Identifier: BSD-3-Clause
 * A problem in words: what tells cases apart, and what a failure prints. */
#include "conformance/problem.h"

#include <stdio.h>

void problem_describe(const struct problem *p, char *text, size_t bytes)
{
    static const char ops[] = "NTC";
    static const char *const aliases[] = {"", " A=B", " A|B", " C in A", " alpha=beta"};
    static const char *const specials[] = {"", " in A", " in B", " in C", " A=0", " C=NaN"};
    size_t n = (size_t)snprintf(
        text, bytes,
        "%s types %d,%d compute %d math %d algo %d%s%s%s atomics %d sms %d at +%zu,%zu,%zu,%zu",
        p->routine->name, (int)p->ab, (int)p->cd, p->compute, p->math,
        family_ex(p->routine->family) ? p->algo : 0, p->device_scalars ? " device scalars" : "",
        aliases[p->alias], specials[p->special], p->atomics, p->sm_count,
        p->buffer[BUFFER_A].misaligned, p->buffer[BUFFER_B].misaligned,
        p->buffer[BUFFER_C].misaligned, p->buffer[BUFFER_D].misaligned);
    for (int i = 0; i < p->parts && n < bytes; i++) {
        const struct part *q = &p->part[i];
        n += (size_t)snprintf(
            text + n, bytes - n,
            "; %c%c m=%lld n=%lld k=%lld batch=%lld ld=%lld,%lld,%lld,%lld "
            "stride=%lld,%lld,%lld,%lld order=%d%d%d%d first=%lld,%lld alpha=%g,%g beta=%g,%g",
            ops[q->transa], ops[q->transb], (long long)q->m, (long long)q->n, (long long)q->k,
            (long long)q->batch, (long long)q->a.ld, (long long)q->b.ld, (long long)q->c.ld,
            (long long)q->d.ld, (long long)q->a.stride, (long long)q->b.stride,
            (long long)q->c.stride, (long long)q->d.stride, q->a.row_order + 2 * q->a.backwards,
            q->b.row_order + 2 * q->b.backwards, q->c.row_order + 2 * q->c.backwards,
            q->d.row_order, (long long)q->a.first, (long long)q->b.first, q->alpha.re, q->alpha.im,
            q->beta.re, q->beta.im);
    }
    if (p->routine->family == LT && n < bytes)
        snprintf(text + n, bytes - n, "; epilogue %u pointers %d workspace %zu aux ld %lld%s",
                 p->lt.epilogue, (int)p->lt.pointers, p->lt.workspace, (long long)p->lt.aux_ld,
                 p->lt.no_c_layout ? " no Cdesc" : "");
}
