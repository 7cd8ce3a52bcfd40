/* SPDX-License-Identifier: BSD-3-Clause
 * Operations of a whole warp: shuffles, votes, matches, reductions. No state. */
#include "opcode.h"

#include <string.h>

static int low_lane(uint32_t mask)
{
    int i = 0;

    while (!(mask >> i & 1))
        i++;
    return i;
}

/* a: value, b: distance or lane, c: bits 4..0 the last lane, bits 12..8 which lane bits name the
 * part of the warp. d: the value found, own value where none; e: found. */
static void warp_shfl(const struct insn *in, uint64_t s[OP_WARP][OP_SOURCES],
                      struct want w[OP_WARP][OP_DESTS], uint32_t mask)
{
    for (int lane = 0; lane < OP_WARP; lane++) {
        int b = (int)(s[lane][1] & 31), c = (int)(s[lane][2] & 31),
            part = (int)(s[lane][2] >> 8 & 31);
        int last = (lane & part) | (c & ~part), first = lane & part, from;
        bool found;

        if (insn_has(in, "up")) {
            from = lane - b;
            found = from >= last;
        } else {
            from = insn_has(in, "down")   ? lane + b
                   : insn_has(in, "bfly") ? lane ^ b
                                          : first | (b & ~part);
            found = from <= last;
        }
        if (!found)
            from = lane;
        want_bits(&w[lane][0], s[from][0]);
        if (!(mask >> from & 1)) /* from a lane that takes no part */
            w[lane][0].rule = RULE_ANY;
        want_bits(&w[lane][1], found);
    }
}

static uint32_t ballot(uint64_t s[OP_WARP][OP_SOURCES], uint32_t mask)
{
    uint32_t r = 0;

    for (int i = 0; i < OP_WARP; i++)
        r |= (uint32_t)(s[i][0] != 0) << i;
    return r & mask;
}

static void warp_vote(const struct insn *in, uint64_t s[OP_WARP][OP_SOURCES],
                      struct want w[OP_WARP][OP_DESTS], uint32_t mask)
{
    uint32_t r = ballot(s, mask);

    for (int i = 0; i < OP_WARP; i++)
        want_bits(&w[i][0], insn_has(in, "ballot") ? r
                            : insn_has(in, "all")  ? r == mask
                            : insn_has(in, "any")  ? r != 0
                                                   : r == 0 || r == mask);
}

static void warp_activemask(const struct insn *in, uint64_t s[OP_WARP][OP_SOURCES],
                            struct want w[OP_WARP][OP_DESTS], uint32_t mask)
{
    (void)in;
    (void)s;
    for (int i = 0; i < OP_WARP; i++)
        want_bits(&w[i][0], mask);
}

static void warp_match_any(const struct insn *in, uint64_t s[OP_WARP][OP_SOURCES],
                           struct want w[OP_WARP][OP_DESTS], uint32_t mask)
{
    (void)in;
    for (int i = 0; i < OP_WARP; i++) {
        uint32_t same = 0;

        for (int k = 0; k < OP_WARP; k++)
            same |= (uint32_t)(s[k][0] == s[i][0]) << k;
        want_bits(&w[i][0], same & mask);
    }
}

static void warp_match_all(const struct insn *in, uint64_t s[OP_WARP][OP_SOURCES],
                           struct want w[OP_WARP][OP_DESTS], uint32_t mask)
{
    bool all = true;

    (void)in;
    for (int i = 0; i < OP_WARP && mask; i++)
        if (mask >> i & 1)
            all = all && s[i][0] == s[low_lane(mask)][0];
    for (int i = 0; i < OP_WARP; i++) {
        want_bits(&w[i][0], all ? mask : 0);
        want_bits(&w[i][1], all);
    }
}

static void warp_redux(const struct insn *in, uint64_t s[OP_WARP][OP_SOURCES],
                       struct want w[OP_WARP][OP_DESTS], uint32_t mask)
{
    bool is_signed = type_is_signed(insn_type(in, 0)), first = true;
    int64_t r = 0;

    for (int i = 0; i < OP_WARP; i++) {
        int64_t v = is_signed ? sign_extend(s[i][0], 32) : (int64_t)s[i][0];

        if (!(mask >> i & 1))
            continue;
        if (first)
            r = v;
        else if (insn_has(in, "add"))
            r += v;
        else if (insn_has(in, "min"))
            r = v < r ? v : r;
        else if (insn_has(in, "max"))
            r = v > r ? v : r;
        else
            r = insn_has(in, "and") ? (r & v) : insn_has(in, "or") ? (r | v) : (r ^ v);
        first = false;
    }
    for (int i = 0; i < OP_WARP; i++)
        want_bits(&w[i][0], low_bits((uint64_t)r, 32));
}

static const struct family families[] = {
    {"shfl.sync.{up,down,bfly,idx}.b32", "b32,pred=b32,count,segment", "$m $d|$e, $a, $b, $c, $k;",
     NULL, warp_shfl, NULL, 0},
    {"shfl.sync.{up,down,bfly,idx}.b32", "b32=b32,count,segment", "$m $d, $a, $b, $c, $k;", NULL,
     warp_shfl, NULL, 0},
    {"vote.sync.{all,any,uni}.pred", "pred=pred", "$m $d, $a, $k;", NULL, warp_vote, NULL, 0},
    {"vote.sync.{all,any,uni}.pred", "pred=common", "setp.ne.u32 $p, $a, 0; $m $d, $p, $k;", NULL,
     warp_vote, NULL, 0},
    {"vote.sync.ballot.b32", "b32=pred", "$m $d, $a, $k;", NULL, warp_vote, NULL, 0},
    {"activemask.b32", "b32=b32", "$m $d;", NULL, warp_activemask, NULL, OP_NO_ALIAS},
    {"match.any.sync.b32", "b32=common", "$m $d, $a, $k;", NULL, warp_match_any, NULL, 0},
    {"match.any.sync.b32", "b32=b32", "$m $d, $a, $k;", NULL, warp_match_any, NULL, 0},
    {"match.any.sync.b64", "b32=common", "mul.wide.u32 $t, $a, 0x10000001; $m $d, $t, $k;", NULL,
     warp_match_any, NULL, 0},
    {"match.all.sync.b32", "b32,pred=common", "$m $d|$e, $a, $k;", NULL, warp_match_all, NULL, 0},
    {"match.all.sync.b64", "b32,pred=common", "mul.wide.u32 $t, $a, 0x10000001; $m $d|$e, $t, $k;",
     NULL, warp_match_all, NULL, 0},
    {"redux.sync.{add,min,max}.{u32,s32}", "T=T", "$m $d, $a, $k;", NULL, warp_redux, NULL, 0},
    {"redux.sync.{and,or,xor}.b32", "T=T", "$m $d, $a, $k;", NULL, warp_redux, NULL, 0},
};

TABLE(table_warp, families);
