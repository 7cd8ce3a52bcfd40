/* SPDX-License-Identifier: BSD-3-Clause
 * Writes the PTX module that tests one mnemonic: it loads the operands of each thread, runs the
 * instruction in each variant and stores what the destinations then hold. No state. */
#include "opcode_ptx.h"
#include "random.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const variant_names[VARIANTS] = {"plain", "guarded", "destination = source",
                                             "immediate"};

unsigned char fixed_byte(int i)
{
    return (unsigned char)(i * 37 + 139);
}

/* Growing text. */
struct text {
    char *at;
    size_t n, room;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list args;
    int n;

    for (;;) {
        va_start(args, format);
        n = vsnprintf(t->at + t->n, t->room - t->n, format, args);
        va_end(args);
        if ((size_t)n < t->room - t->n)
            break;
        t->room = t->room * 2 + (size_t)n;
        t->at = realloc(t->at, t->room);
        if (!t->at)
            abort();
    }
    t->n += (size_t)n;
}

/* Register class of a type: the letter of its register names. */
static char class_of(const char *type)
{
    int bits = type_bits(type);

    return bits == 1 ? 'p' : bits <= 16 ? 'h' : bits == 32 ? 'r' : 'q';
}

static int class_bits(char c)
{
    return c == 'h' ? 16 : c == 'q' ? 64 : 32;
}

static enum operand_kind kind_of(const char *word)
{
    return strcmp(word, "count") == 0     ? KIND_COUNT
           : strcmp(word, "segment") == 0 ? KIND_SEGMENT
           : strcmp(word, "common") == 0  ? KIND_COMMON
                                          : KIND_TYPE;
}

/* One type of the family's list, with the letters replaced. */
static const char *resolve(const char *word, const struct insn *in)
{
    static const char *const bits[] = {"b8", "b16", "b32", "b64", "b128"};
    static const char *const unsigned_types[] = {"u8", "u16", "u32", "u64", "u64"};
    static const char *const signed_types[] = {"s8", "s16", "s32", "s64", "s64"};
    const char *last = insn_type(in, 0);
    int log = 0;

    while (8 << log < type_bits(last))
        log++;
    if (strcmp(word, "T") == 0)
        return last;
    if (strcmp(word, "S") == 0)
        return insn_type(in, 1);
    if (strcmp(word, "W") == 0)
        return type_is_signed(last) ? signed_types[log + 1] : unsigned_types[log + 1];
    if (kind_of(word) != KIND_TYPE)
        return "u32";
    if (strcmp(word, "U") == 0)
        return unsigned_types[log];
    if (strcmp(word, "B") == 0)
        return bits[log];
    return word;
}

void shape_of(struct shape *shape, const struct family *family, const struct insn *in)
{
    char *at = shape->text, *save = NULL, *word;
    bool sources = false;

    memset(shape, 0, sizeof *shape);
    shape->alias = -1;
    snprintf(shape->text, sizeof shape->text, "%s", family->types);
    /* "=" alone separates destinations from sources: "T=T,T" */
    for (char *eq = strchr(at, '='); eq; eq = NULL) {
        *eq = '\0';
        for (word = strtok_r(at, ",", &save); word; word = strtok_r(NULL, ",", &save))
            shape->dest[shape->ndests++] = resolve(word, in);
        at = eq + 1;
        sources = true;
    }
    if (sources)
        for (word = strtok_r(at, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
            shape->kind[shape->nsources] = kind_of(word);
            shape->source[shape->nsources++] = resolve(word, in);
        }
    for (int k = 0; k < shape->nsources; k++) {
        shape->source_bits[k] = type_bits(shape->source[k]);
        shape->source_pair[k] = type_is_pair(shape->source[k]);
    }
    for (int j = 0; j < shape->ndests; j++) {
        int bits = type_bits(shape->dest[j]);

        shape->dest_bits[j] = bits == 1 ? 32 : bits < 16 ? 16 : bits;
        shape->dest_format[j] = num_format_of(shape->dest[j]);
        shape->dest_pair[j] = type_is_pair(shape->dest[j]);
    }
    if (!(family->flags & OP_NO_ALIAS))
        for (int i = shape->nsources - 1; i >= 0 && shape->ndests; i--)
            if (class_of(shape->source[i]) == class_of(shape->dest[0]) &&
                class_of(shape->dest[0]) != 'p')
                shape->alias = i;
    shape->immediate = (shape->nsources > 1 || strcmp(in->op, "mov") == 0) && !family->text &&
                       !(family->flags & OP_NO_IMM);
    if (shape->nsources) {
        const char *last = shape->source[shape->nsources - 1];

        /* half-precision operands have no literals */
        if (type_bits(last) == 1 || (num_format_of(last) && type_bits(last) == 16) ||
            type_is_pair(last))
            shape->immediate = false;
    }
}

static void put_immediate(struct text *t, const char *type, uint64_t value)
{
    if (strcmp(type, "f32") == 0)
        put(t, "0f%08x", (unsigned)value);
    else if (strcmp(type, "f64") == 0)
        put(t, "0d%016llx", (unsigned long long)value);
    else if (type_is_signed(type))
        put(t, "%lld", (long long)sign_extend(value, type_bits(type)));
    else
        put(t, "0x%llx", (unsigned long long)value);
}

struct writer {
    const struct family *family;
    const struct insn *in;
    const struct shape *shape;
    enum variant variant;
    uint64_t immediate;
};

/* A register name as an operand. */
static void put_operand(struct text *t, const struct writer *w, char what)
{
    static const char sources[] = "abcxy", dests[] = "defh";
    const char *at;

    if ((at = strchr(dests, what))) {
        int j = (int)(at - dests);

        if (w->variant == VARIANT_ALIAS && j == 0)
            put(t, "%%%cs%d", class_of(w->shape->dest[0]), w->shape->alias);
        else
            put(t, "%%%cd%d", class_of(w->shape->dest[j]), j);
    } else if ((at = strchr(sources, what))) {
        int k = (int)(at - sources);

        if (w->variant == VARIANT_IMMEDIATE && w->shape->immediate && k == w->shape->nsources - 1)
            put_immediate(t, w->shape->source[k], w->immediate);
        else
            put(t, "%%%cs%d", class_of(w->shape->source[k]), k);
    }
}

static void put_template(struct text *t, const struct writer *w, const char *text)
{
    const char *type = insn_type(w->in, 0);

    put(t, "    ");
    for (; *text; text++) {
        if (*text != '$') {
            put(t, "%c", *text);
            if (*text == ';')
                put(t, "\n   ");
            continue;
        }
        switch (*++text) {
        case 'm':
            put(t, "%s%s", w->variant == VARIANT_GUARDED ? "@%pg " : "", w->in->name);
            break;
        case 'n':
            put(t, "%s", w->in->name);
            break;
        case 'k':
            put(t, "%s",
                w->variant == VARIANT_GUARDED     ? "%rmask"
                : w->variant == VARIANT_IMMEDIATE ? "0xffffffff"
                                                  : "%rall");
            break;
        case 'T':
            put(t, ".b%d", type_bits(type));
            break;
        case 'Z':
            put(t, "%d", type_bits(type) / 8);
            break;
        case 'A':
        case 'B':
        case 'C':
        case 'X':
        case 'Y':
            put(t, "%%raw%d", (int)(strchr("ABCXY", *text) - "ABCXY"));
            break;
        case 'g':
            put(t, "%%qg");
            break;
        case 's':
            put(t, "%%rsh");
            break;
        case 'l':
            put(t, "%%ql");
            break;
        case 'G':
            put(t, "%%qgg");
            break;
        case 'S':
            put(t, "%%qgs");
            break;
        case 'L':
            put(t, "%%qgl");
            break;
        case 'p':
            put(t, "%%pt");
            break;
        case 't':
            put(t, "%%qt");
            break;
        case 'u':
            put(t, "%%rt");
            break;
        default:
            put_operand(t, w, *text);
        }
    }
    put(t, "\n");
}

static void put_loads(struct text *t, const struct shape *shape)
{
    for (int k = 0; k < shape->nsources; k++) {
        char c = class_of(shape->source[k]);

        put(t, "    ld.global.b64 %%raw%d, [%%qin+%d];\n", k, k * 8);
        if (c == 'p')
            put(t, "    ld.global.b32 %%rt, [%%qin+%d];\n    setp.ne.s32 %%ps%d, %%rt, 0;\n", k * 8,
                k);
        else
            put(t, "    ld.global.b%d %%%cs%d, [%%qin+%d];\n", class_bits(c), c, k, k * 8);
    }
}

static void put_variant(struct text *t, const struct writer *w)
{
    static const char *const presets[] = {"0x5a5a", "0x5a5a5a5a", "0x5a5a5a5a5a5a5a5a"};
    const struct shape *shape = w->shape;
    char plain[64] = "$m $d";

    put(t, "// %s\n", variant_names[w->variant]);
    put_loads(t, shape);
    for (int j = 0; j < shape->ndests; j++) {
        char c = class_of(shape->dest[j]);

        if (c == 'p')
            put(t, "    setp.ne.s32 %%pd%d, %%rall, %%rall;\n", j);
        else
            put(t, "    mov.b%d %%%cd%d, %s;\n", class_bits(c), c, j,
                presets[c == 'h'   ? 0
                        : c == 'r' ? 1
                                   : 2]);
    }
    if (w->family->text) {
        put_template(t, w, w->family->text);
    } else {
        for (int k = 0; k < shape->nsources; k++)
            sprintf(plain + strlen(plain), ", $%c", "abcxy"[k]);
        strcat(plain, ";");
        put_template(t, w, plain);
    }
    for (int j = 0; j < shape->ndests; j++) {
        char c = class_of(shape->dest[j]);
        int offset = (w->variant * OP_DESTS + j) * 8;

        if (c == 'p') {
            put(t, "    selp.b32 %%rt, 1, 0, %%pd%d;\n", j);
            put(t, "    st.global.b32 [%%qout+%d], %%rt;\n", offset);
        } else if (w->variant == VARIANT_ALIAS && j == 0) {
            put(t, "    st.global.b%d [%%qout+%d], %%%cs%d;\n", class_bits(c), offset, c,
                shape->alias);
        } else {
            put(t, "    st.global.b%d [%%qout+%d], %%%cd%d;\n", class_bits(c), offset, c, j);
        }
    }
}

static bool uses(const struct family *family, const char *placeholder)
{
    return family->text && strstr(family->text, placeholder);
}

static void put_memory(struct text *t, const struct family *family)
{
    bool shared = uses(family, "$s") || uses(family, "$S");
    bool local = uses(family, "$l") || uses(family, "$L");

    if (uses(family, "$g") || uses(family, "$G")) {
        put(t, "    ld.param.b64 %%qt, [scratch];\n    cvta.to.global.u64 %%qt, %%qt;\n");
        put(t, "    mad.wide.u32 %%qg, %%rid, %d, %%qt;\n    cvta.global.u64 %%qgg, %%qg;\n",
            SCRATCH_BYTES);
    }
    if (shared) {
        put(t, "    mov.u32 %%rt, %%tid.x;\n    mov.b32 %%rsh, window;\n");
        put(t, "    mad.lo.u32 %%rsh, %%rt, %d, %%rsh;\n", SCRATCH_BYTES);
        put(t, "    cvt.u64.u32 %%qt, %%rsh;\n    cvta.shared.u64 %%qgs, %%qt;\n");
    }
    if (local)
        put(t, "    mov.b64 %%ql, frame;\n    cvta.local.u64 %%qgl, %%ql;\n");
}

char *opcode_ptx(const struct family *family, const struct insn *in, uint64_t seed)
{
    struct text t = {calloc(1, 4096), 0, 4096};
    struct writer w = {.family = family, .in = in};
    struct shape shape;

    if (!t.at)
        abort();
    shape_of(&shape, family, in);
    w.shape = &shape;
    put(&t, ".version 8.7\n.target sm_90\n.address_size 64\n\n");
    if (uses(family, "[table")) {
        put(&t, ".const .align 16 .b8 table[%d] = {", FIXED_BYTES);
        for (int i = 0; i < FIXED_BYTES; i++)
            put(&t, "%s%d", i ? ", " : "", fixed_byte(i));
        put(&t, "};\n");
    }
    put(&t,
        ".visible .entry k(.param .b64 in, .param .b64 out, .param .b64 scratch,\n"
        "    .param .b64 unused, .param .align 16 .b8 fixed[%d])\n{\n",
        FIXED_BYTES);
    put(&t, "    .reg .pred %%pg, %%pt, %%ps<5>, %%pd<4>;\n    .reg .b16 %%hs<5>, %%hd<4>;\n");
    put(&t, "    .reg .b32 %%rid, %%rt, %%rsh, %%rall, %%rmask, %%rs<5>, %%rd<4>;\n");
    put(&t, "    .reg .b64 %%qin, %%qout, %%qt, %%qg, %%ql, %%qgg, %%qgs, %%qgl, %%raw<5>, "
            "%%qs<5>, %%qd<4>;\n");
    if (uses(family, "$s") || uses(family, "$S"))
        put(&t, "    .shared .align 16 .b8 window[%d];\n", SCRATCH_BYTES * BLOCK_THREADS);
    if (uses(family, "$l") || uses(family, "$L"))
        put(&t, "    .local .align 16 .b8 frame[%d];\n", SCRATCH_BYTES);
    put(&t, "    mov.u32 %%rid, %%ctaid.x;\n    mov.u32 %%rt, %%ntid.x;\n");
    put(&t, "    mul.lo.u32 %%rid, %%rid, %%rt;\n    mov.u32 %%rt, %%tid.x;\n    add.u32 %%rid, "
            "%%rid, %%rt;\n");
    put(&t, "    ld.param.b64 %%qt, [in];\n    cvta.to.global.u64 %%qt, %%qt;\n");
    put(&t, "    mad.wide.u32 %%qin, %%rid, %d, %%qt;\n", IN_SLOTS * 8);
    put(&t, "    ld.param.b64 %%qt, [out];\n    cvta.to.global.u64 %%qt, %%qt;\n");
    put(&t, "    mad.wide.u32 %%qout, %%rid, %d, %%qt;\n", OUT_SLOTS * 8);
    put(&t, "    ld.global.b32 %%rall, [%%qin+%d];\n    ld.global.b32 %%rmask, [%%qin+%d];\n",
        SLOT_ALL * 8, SLOT_MASK * 8);
    put(&t, "    ld.global.b32 %%rt, [%%qin+%d];\n    setp.ne.s32 %%pg, %%rt, 0;\n",
        SLOT_GUARD * 8);
    put_memory(&t, family);
    for (int v = 0; v < VARIANTS; v++) {
        if ((v == VARIANT_ALIAS && shape.alias < 0) ||
            (v == VARIANT_IMMEDIATE && !shape.immediate) ||
            (v == VARIANT_GUARDED && family->flags & OP_NO_GUARD))
            continue;
        w.variant = (enum variant)v;
        w.immediate = opcode_immediate(&shape, seed);
        put_variant(&t, &w);
    }
    put(&t, "    ret;\n}\n");
    return t.at;
}
