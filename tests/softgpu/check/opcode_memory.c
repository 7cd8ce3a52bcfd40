/* SPDX-License-Identifier: BSD-3-Clause
 * Loads and stores of every width, space, cache hint and vector length, in memory of the thread's
 * own. No state. */
#include "opcode.h"
#include "opcode_ptx.h"

#include <string.h>

static uint64_t extend(const char *type, uint64_t bits, int to)
{
    int n = type_bits(type);

    bits = low_bits(bits, n);
    return type_is_signed(type) ? low_bits((uint64_t)sign_extend(bits, n), to) : bits;
}

/* Into registers of the type's own width, of 32 and of 64 bits: extended by the type's sign. */
static void ref_load(const struct insn *in, const uint64_t *s, struct want *w)
{
    const char *type = insn_type(in, 0);
    int bits = type_bits(type);

    want_bits(&w[0], extend(type, s[0], bits < 16 ? 16 : bits));
    want_bits(&w[1], extend(type, s[0], 32));
    want_bits(&w[2], extend(type, s[0], 64));
}

/* Vectors from 16 bytes: the sources a and b. */
static void ref_load_vector(const struct insn *in, const uint64_t *s, struct want *w)
{
    const char *type = insn_type(in, 0);
    int bits = type_bits(type), n = insn_has(in, "v4") ? 4 : 2;

    for (int i = 0; i < n; i++) {
        uint64_t v = i * bits < 64 ? s[0] >> i * bits : s[1] >> (i * bits - 64);

        want_bits(&w[i], extend(type, v, bits < 16 ? 16 : bits));
    }
}

/* Of kernel parameters and constants: the pattern of the generated module. */
static void ref_load_fixed(const struct insn *in, const uint64_t *s, struct want *w)
{
    const char *type = insn_type(in, 0);
    int bits = type_bits(type), n = insn_has(in, "v4") ? 4 : insn_has(in, "v2") ? 2 : 1;

    (void)s;
    for (int i = 0; i < n; i++) {
        uint64_t v = 0;

        for (int b = 0; b < bits / 8; b++)
            v |= (uint64_t)fixed_byte(16 + i * bits / 8 + b) << 8 * b;
        want_bits(&w[i], extend(type, v, bits < 16 ? 16 : bits));
    }
}

/* d: memory that held b after the store of a; e: the same, stored from a 64-bit register. */
static void ref_store(const struct insn *in, const uint64_t *s, struct want *w)
{
    int bits = type_bits(insn_type(in, 0));
    uint64_t keep = bits == 64 ? 0 : s[1] >> bits << bits;

    want_bits(&w[0], keep | low_bits(s[0], bits));
    want_bits(&w[1], keep | low_bits(s[2], bits));
}

/* d, e: 16 bytes that held c twice, after the store of a, b, a, b. */
static void ref_store_vector(const struct insn *in, const uint64_t *s, struct want *w)
{
    int bits = type_bits(insn_type(in, 0)), n = insn_has(in, "v4") ? 4 : 2;

    want_bits(&w[0], s[2]);
    want_bits(&w[1], s[2]);
    for (int i = 0; i < n; i++) {
        struct want *half = &w[i * bits / 64];
        int at = i * bits % 64;
        uint64_t mask = low_bits(~0ull, bits) << at;

        half->bits = (half->bits & ~mask) | (low_bits(s[i & 1], bits) << at & mask);
    }
}

#define ALL    "{b8,b16,b32,b64,u8,u16,u32,u64,s8,s16,s32,s64,f32,f64}"
#define NARROW "{b8,b16,b32,u8,u16,u32,s8,s16,s32}"
#define FOUR   "{b8,b16,b32,u8,u16,u32,s8,s16,s32,f32}"
#define SIZES  "{b8,b16,b32,b64}"
#define SCOPES "{.cta,.gpu,.sys}"
#define CACHE  "{.ca,.cg,.cs,.lu,.cv}"

#define LOAD(_space, _address) "st" _space ".b64 [" _address "], $A; $m $d, [" _address "];"
#define LOAD_WIDE(_space, _address)                                                                \
    LOAD(_space, _address) " $m $e, [" _address "]; $m $f, [" _address "];"
#define LOAD2(_space, _address)                                                                    \
    "st" _space ".b64 [" _address "], $A; st" _space ".b64 [" _address                             \
    "+8], $B; $m {$d, $e}, [" _address "];"
#define LOAD4(_space, _address)                                                                    \
    "st" _space ".b64 [" _address "], $A; st" _space ".b64 [" _address "+8], $B; "                 \
    "$m {$d, $e, $f, $h}, [" _address "];"
#define STORE(_space, _address)                                                                    \
    "st" _space ".b64 [" _address "], $B; $m [" _address "], $a; ld" _space ".b64 $d, [" _address  \
    "];"
#define STORE_WIDE(_space, _address)                                                               \
    STORE(_space, _address)                                                                        \
    " st" _space ".b64 [" _address "+16], $B; $m [" _address "+16], $c; ld" _space                 \
    ".b64 $e, [" _address "+16];"
#define STORE_VECTOR(_space, _address, _list)                                                      \
    "st" _space ".b64 [" _address "], $C; st" _space ".b64 [" _address "+8], $C; $m [" _address    \
    "], " _list "; ld" _space ".b64 $d, [" _address "]; ld" _space ".b64 $e, [" _address "+8];"

static const struct family families[] = {
    {"ld.global." ALL, "T=b64", LOAD(".global", "$g"), ref_load, NULL, NULL, 0},
    {"ld.shared." ALL, "T=b64", LOAD(".shared", "$s"), ref_load, NULL, NULL, 0},
    {"ld.local." ALL, "T=b64", LOAD(".local", "$l"), ref_load, NULL, NULL, 0},
    {"ld." ALL, "T=b64", LOAD("", "$G"), ref_load, NULL, NULL, 0},
    {"ld." ALL, "T=b64", LOAD("", "$S"), ref_load, NULL, NULL, 0},
    {"ld." ALL, "T=b64", LOAD("", "$L"), ref_load, NULL, NULL, 0},
    {"ld{.global,.global.nc,.volatile.global}." NARROW, "T,u32,u64=b64", LOAD_WIDE(".global", "$g"),
     ref_load, NULL, NULL, 0},
    {"ld{.shared,.volatile.shared}." NARROW, "T,u32,u64=b64", LOAD_WIDE(".shared", "$s"), ref_load,
     NULL, NULL, 0},
    {"ld.local." NARROW, "T,u32,u64=b64", LOAD_WIDE(".local", "$l"), ref_load, NULL, NULL, 0},
    {"ld." NARROW, "T,u32,u64=b64", LOAD_WIDE("", "$G"), ref_load, NULL, NULL, 0},
    {"ld.global" CACHE "." ALL, "T=b64", LOAD(".global", "$g"), ref_load, NULL, NULL, 0},
    {"ld.global.nc." ALL, "T=b64", LOAD(".global", "$g"), ref_load, NULL, NULL, 0},
    {"ld.global{.ca,.cg,.cs}.nc." ALL, "T=b64", LOAD(".global", "$g"), ref_load, NULL, NULL, 0},
    {"ld.global{,.nc}{.L1::no_allocate,.L1::evict_last,.L2::128B,.L1::no_allocate.L2::256B}." SIZES,
     "T=b64", LOAD(".global", "$g"), ref_load, NULL, NULL, 0},
    {"ld.volatile{.global,}." ALL, "T=b64", LOAD(".global", "$g"), ref_load, NULL, NULL, 0},
    {"ld.volatile.shared." ALL, "T=b64", LOAD(".shared", "$s"), ref_load, NULL, NULL, 0},
    {"ld{.relaxed,.acquire}" SCOPES "{.global,}." ALL, "T=b64", LOAD(".global", "$g"), ref_load,
     NULL, NULL, 0},
    {"ld{.relaxed,.acquire}" SCOPES ".shared." ALL, "T=b64", LOAD(".shared", "$s"), ref_load, NULL,
     NULL, 0},
    {"ldu.global." ALL, "T=b64", LOAD(".global", "$g"), ref_load, NULL, NULL, 0},
    {"ld.weak.global." SIZES, "T=b64", LOAD(".global", "$g"), ref_load, NULL, NULL, 0},
    {"ld.const." ALL, "T=b32", "$m $d, [table+16];", ref_load_fixed, NULL, NULL, OP_NO_ALIAS},
    {"ld.const.v2." ALL, "T,T=b32", "$m {$d, $e}, [table+16];", ref_load_fixed, NULL, NULL,
     OP_NO_ALIAS},
    {"ld.const.v4." FOUR, "T,T,T,T=b32", "$m {$d, $e, $f, $h}, [table+16];", ref_load_fixed, NULL,
     NULL, OP_NO_ALIAS},
    {"ld.param." ALL, "T=b32", "$m $d, [fixed+16];", ref_load_fixed, NULL, NULL, OP_NO_ALIAS},
    {"ld.param.v2." ALL, "T,T=b32", "$m {$d, $e}, [fixed+16];", ref_load_fixed, NULL, NULL,
     OP_NO_ALIAS},
    {"ld.param.v4." FOUR, "T,T,T,T=b32", "$m {$d, $e, $f, $h}, [fixed+16];", ref_load_fixed, NULL,
     NULL, OP_NO_ALIAS},
    {"ld.global{,.nc,.cs,.cg}.v2." ALL, "T,T=b64,b64", LOAD2(".global", "$g"), ref_load_vector,
     NULL, NULL, 0},
    {"ld{.volatile,.relaxed.gpu}.global.v2." ALL, "T,T=b64,b64", LOAD2(".global", "$g"),
     ref_load_vector, NULL, NULL, 0},
    {"ld{,.volatile}.shared.v2." ALL, "T,T=b64,b64", LOAD2(".shared", "$s"), ref_load_vector, NULL,
     NULL, 0},
    {"ld.local.v2." ALL, "T,T=b64,b64", LOAD2(".local", "$l"), ref_load_vector, NULL, NULL, 0},
    {"ld.v2." ALL, "T,T=b64,b64", LOAD2("", "$G"), ref_load_vector, NULL, NULL, 0},
    {"ld.global{,.nc,.cs,.cg}.v4." FOUR, "T,T,T,T=b64,b64", LOAD4(".global", "$g"), ref_load_vector,
     NULL, NULL, 0},
    {"ld{.volatile,.relaxed.gpu}.global.v4." FOUR, "T,T,T,T=b64,b64", LOAD4(".global", "$g"),
     ref_load_vector, NULL, NULL, 0},
    {"ld{,.volatile}.shared.v4." FOUR, "T,T,T,T=b64,b64", LOAD4(".shared", "$s"), ref_load_vector,
     NULL, NULL, 0},
    {"ld.local.v4." FOUR, "T,T,T,T=b64,b64", LOAD4(".local", "$l"), ref_load_vector, NULL, NULL, 0},
    {"ld.v4." FOUR, "T,T,T,T=b64,b64", LOAD4("", "$G"), ref_load_vector, NULL, NULL, 0},

    {"st.global." ALL, "b64=T,b64", STORE(".global", "$g"), ref_store, NULL, "b", OP_NO_ALIAS},
    {"st.shared." ALL, "b64=T,b64", STORE(".shared", "$s"), ref_store, NULL, "b", OP_NO_ALIAS},
    {"st.local." ALL, "b64=T,b64", STORE(".local", "$l"), ref_store, NULL, "b", OP_NO_ALIAS},
    {"st." ALL, "b64=T,b64", STORE("", "$G"), ref_store, NULL, "b", OP_NO_ALIAS},
    {"st." ALL, "b64=T,b64", STORE("", "$S"), ref_store, NULL, "b", OP_NO_ALIAS},
    {"st." ALL, "b64=T,b64", STORE("", "$L"), ref_store, NULL, "b", OP_NO_ALIAS},
    {"st.global." NARROW, "b64,b64=T,b64,b64", STORE_WIDE(".global", "$g"), ref_store, NULL, "bb",
     OP_NO_ALIAS},
    {"st.shared." NARROW, "b64,b64=T,b64,b64", STORE_WIDE(".shared", "$s"), ref_store, NULL, "bb",
     OP_NO_ALIAS},
    {"st.local." NARROW, "b64,b64=T,b64,b64", STORE_WIDE(".local", "$l"), ref_store, NULL, "bb",
     OP_NO_ALIAS},
    {"st." NARROW, "b64,b64=T,b64,b64", STORE_WIDE("", "$G"), ref_store, NULL, "bb", OP_NO_ALIAS},
    {"st.global{.wb,.cg,.cs,.wt}." ALL, "b64=T,b64", STORE(".global", "$g"), ref_store, NULL, "b",
     OP_NO_ALIAS},
    {"st.global{.L1::no_allocate,.L1::evict_last}." SIZES, "b64=T,b64", STORE(".global", "$g"),
     ref_store, NULL, "b", OP_NO_ALIAS},
    {"st.volatile{.global,}." ALL, "b64=T,b64", STORE(".global", "$g"), ref_store, NULL, "b",
     OP_NO_ALIAS},
    {"st.volatile.shared." ALL, "b64=T,b64", STORE(".shared", "$s"), ref_store, NULL, "b",
     OP_NO_ALIAS},
    {"st{.relaxed,.release}" SCOPES "{.global,}." ALL, "b64=T,b64", STORE(".global", "$g"),
     ref_store, NULL, "b", OP_NO_ALIAS},
    {"st{.relaxed,.release}" SCOPES ".shared." ALL, "b64=T,b64", STORE(".shared", "$s"), ref_store,
     NULL, "b", OP_NO_ALIAS},
    {"st.weak.global." SIZES, "b64=T,b64", STORE(".global", "$g"), ref_store, NULL, "b",
     OP_NO_ALIAS},
    {"st.global{,.cs,.cg,.wt}.v2." ALL, "b64,b64=T,T,b64",
     STORE_VECTOR(".global", "$g", "{$a, $b}"), ref_store_vector, NULL, "cc", OP_NO_ALIAS},
    {"st{.volatile,.relaxed.gpu}.global.v2." ALL, "b64,b64=T,T,b64",
     STORE_VECTOR(".global", "$g", "{$a, $b}"), ref_store_vector, NULL, "cc", OP_NO_ALIAS},
    {"st{,.volatile}.shared.v2." ALL, "b64,b64=T,T,b64", STORE_VECTOR(".shared", "$s", "{$a, $b}"),
     ref_store_vector, NULL, "cc", OP_NO_ALIAS},
    {"st.local.v2." ALL, "b64,b64=T,T,b64", STORE_VECTOR(".local", "$l", "{$a, $b}"),
     ref_store_vector, NULL, "cc", OP_NO_ALIAS},
    {"st.v2." ALL, "b64,b64=T,T,b64", STORE_VECTOR("", "$G", "{$a, $b}"), ref_store_vector, NULL,
     "cc", OP_NO_ALIAS},
    {"st.global{,.cs,.cg,.wt}.v4." FOUR, "b64,b64=T,T,b64",
     STORE_VECTOR(".global", "$g", "{$a, $b, $a, $b}"), ref_store_vector, NULL, "cc", OP_NO_ALIAS},
    {"st{.volatile,.relaxed.gpu}.global.v4." FOUR, "b64,b64=T,T,b64",
     STORE_VECTOR(".global", "$g", "{$a, $b, $a, $b}"), ref_store_vector, NULL, "cc", OP_NO_ALIAS},
    {"st{,.volatile}.shared.v4." FOUR, "b64,b64=T,T,b64",
     STORE_VECTOR(".shared", "$s", "{$a, $b, $a, $b}"), ref_store_vector, NULL, "cc", OP_NO_ALIAS},
    {"st.local.v4." FOUR, "b64,b64=T,T,b64", STORE_VECTOR(".local", "$l", "{$a, $b, $a, $b}"),
     ref_store_vector, NULL, "cc", OP_NO_ALIAS},
    {"st.v4." FOUR, "b64,b64=T,T,b64", STORE_VECTOR("", "$G", "{$a, $b, $a, $b}"), ref_store_vector,
     NULL, "cc", OP_NO_ALIAS},
};

TABLE(table_memory, families);
