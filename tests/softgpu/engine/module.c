/* SPDX-License-Identifier: BSD-3-Clause
 * Modules: PTX texts parsed and linked, variables placed and initialised, one program per kernel,
 * and the table of what the engine can execute. A module owns its programs; the parsed text is
 * dropped when the load ends. */
#include "decode.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Bytes: of a kernel's parameters, as PTX has it; of all variables of a module. */
enum { MAX_PARAMS = 32764 };
#define MAX_VARIABLES ((uint64_t)8 << 30)
/* Memory a load may take: far more than a compiler's output needs. */
#define LOAD_BYTES ((size_t)256 << 20)
enum { LOAD_BYTES_PER_BYTE = 64 };

struct global {
    char *name;
    void *address;
    size_t bytes;
};

struct sg_module {
    struct sg_arena *vars;
    struct program **program;
    unsigned nprograms;
    struct global *global;
    unsigned nglobals;
    struct range *consts;
    unsigned nconsts;
    char **mnemonic;
    unsigned nmnemonics;
};

uint64_t windows_at;
static pthread_once_t windows_once = PTHREAD_ONCE_INIT;

/* The windows never hold memory: an address in one can't be an allocation's. */
static void reserve_windows(void)
{
    void *p = mmap(NULL, (size_t)WINDOWS * WINDOW_BYTES, PROT_NONE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    windows_at = p == MAP_FAILED ? 0 : (uintptr_t)p;
}

uint64_t window_base(enum window which)
{
    pthread_once(&windows_once, reserve_windows);
    return windows_at ? windows_at + (uint64_t)which * WINDOW_BYTES : 0;
}

static const struct op_row *const tables[] = {
    ops_int, ops_bits, ops_carry, ops_float, ops_double, ops_half, ops_approx, ops_round,
};
static const struct family *const families[] = {
    flow_families, memory_families, convert_families, compare_families, warp_families,
    misc_families, atomic_families, async_families, matrix_families, wmma_families,
};

/* All rows by name, for the length of the process. */
static struct {
    pthread_once_t once;
    struct pool pool;
    struct map ops;
} table = {.once = PTHREAD_ONCE_INIT};

static void no_memory(void *arg)
{
    (void)arg;
    abort();
}

static void build_table(void)
{
    table.pool.exhausted = no_memory;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const struct op_row *row = tables[t]; row->name; row++)
            map_put(&table.ops, &table.pool, row->name, (void *)(uintptr_t)row);
}

const struct op_row *op_find(const char *mnemonic)
{
    pthread_once(&table.once, build_table);
    return map_get(&table.ops, mnemonic);
}

bool mnemonic_form(struct form *f, const struct family **family_p)
{
    for (size_t t = 0; t < sizeof families / sizeof *families; t++) {
        for (const struct family *family = families[t]; family->op; family++) {
            if (strcmp(family->op, f->insn->op))
                continue;
            *family_p = family;
            return family->form(f);
        }
    }
    return false;
}

bool sg_mnemonic_known(const char *mnemonic)
{
    struct pool pool = {.exhausted = no_memory};
    struct ptx_insn insn = {0};
    struct form f = {.insn = &insn};
    const struct family *family;
    bool known;

    if (op_find(mnemonic))
        return true;
    known = ptx_split(&pool, mnemonic, &insn) && mnemonic_form(&f, &family);
    pool_free(&pool);
    return known;
}

static void place_vars(struct loader *ld, struct ptx_module *m, struct sg_module *out)
{
    uint64_t total = 0;

    out->global = calloc(m->nvars + 1, sizeof *out->global);
    out->consts = calloc(m->nvars + 1, sizeof *out->consts);
    for (unsigned k = 0; k < m->nvars; k++) {
        struct ptx_var *var = m->var[k];
        struct global *g;
        void *p;

        if (var->space == SPACE_SHARED)
            continue;
        if (var->external)
            loader_fail(ld, var->line, "variable %s is not defined", var->name);
        total += var->bytes;
        p = total > MAX_VARIABLES ? NULL : sg_arena_alloc(out->vars, var->bytes ? var->bytes : 1);
        if (!p || !out->global || !out->consts)
            loader_fail(ld, var->line, "no memory for variable %s of %llu bytes", var->name,
                        (unsigned long long)var->bytes);
        sg_arena_clear(out->vars, p);
        g = &out->global[out->nglobals];
        var->address = (uintptr_t)p;
        g->name = strdup(var->name);
        g->address = p;
        g->bytes = var->bytes;
        out->nglobals++;
        if (var->space == SPACE_CONST)
            out->consts[out->nconsts++] = (struct range){var->address, var->address + var->bytes};
    }
}

static uint64_t init_value(struct loader *ld, struct ptx_module *m, const struct ptx_init *init)
{
    const struct ptx_var *var;
    const struct ptx_func *func;
    uint64_t v;

    if (!init->symbol)
        return init->bits;
    var = map_get(&m->vars, init->symbol);
    func = map_get(&m->funcs, init->symbol);
    if (var && var->space != SPACE_SHARED)
        v = var->address;
    else if (func)
        v = function_handle(func);
    else
        loader_fail(ld, init->line, "no address of %s", init->symbol);
    v += init->bits;
    if (init->mask)
        v = (v & init->mask) >> __builtin_ctzll(init->mask);
    return v;
}

static void init_vars(struct loader *ld, struct ptx_module *m)
{
    for (unsigned k = 0; k < m->nvars; k++) {
        struct ptx_var *var = m->var[k];
        unsigned size = ptx_type_bytes(var->type);

        if (var->space == SPACE_SHARED)
            continue;
        if ((uint64_t)var->ninit * size > var->bytes)
            loader_fail(ld, var->line, "too many initialisers of %s", var->name);
        for (unsigned n = 0; n < var->ninit; n++) {
            uint64_t v = init_value(ld, m, &var->init[n]);

            memcpy((char *)(uintptr_t)var->address + (size_t)n * size, &v, size > 8 ? 8 : size);
        }
    }
}

/* Notes each mnemonic once. Functions that no kernel calls are not decoded; their instructions must
 * be known all the same. */
static void note_mnemonics(struct loader *ld, const struct ptx_module *m, struct sg_module *out)
{
    struct map seen = {0};
    unsigned n = 0;

    for (unsigned k = 0; k < m->nfuncs; k++) {
        for (unsigned i = 0; i < m->func[k]->ninsns; i++) {
            const struct ptx_insn *in = &m->func[k]->insn[i];

            if (map_put(&seen, &ld->pool, in->mnemonic, (void *)(uintptr_t)1) &&
                !sg_mnemonic_known(in->mnemonic))
                loader_fail(ld, in->line, "unknown instruction %s", in->mnemonic);
        }
    }
    out->mnemonic = calloc(seen.n + 1, sizeof *out->mnemonic);
    if (!out->mnemonic)
        loader_fail(ld, 0, "out of memory");
    for (unsigned k = 0; k < seen.room; k++)
        if (seen.entry[k].key)
            out->mnemonic[n++] = strdup(seen.entry[k].key);
    out->nmnemonics = n;
}

static void place_params(struct loader *ld, struct ptx_func *func, struct program *p)
{
    struct sg_param *param = calloc(func->nparams + 1, sizeof *param);
    uint32_t off = 0;

    if (!param)
        loader_fail(ld, func->line, "out of memory");
    p->kernel.params = param;
    p->kernel.nparams = func->nparams;
    for (unsigned k = 0; k < func->nparams; k++) {
        struct ptx_var *var = func->param[k];
        uint32_t align = var->align ? var->align : 1;

        off = (off + align - 1) / align * align;
        var->offset = off;
        var->in_buffer = true;
        if (var->bytes > MAX_PARAMS || off + var->bytes > MAX_PARAMS)
            loader_fail(ld, var->line, "kernel %s has more than %d bytes of parameters", func->name,
                        MAX_PARAMS);
        param[k] = (struct sg_param){off, (uint32_t)var->bytes, align};
        off += (uint32_t)var->bytes;
    }
    p->kernel.param_bytes = off;
}

static void decode_kernel(struct loader *ld, struct ptx_module *m, struct ptx_func *func,
                          struct sg_module *out)
{
    struct program *p = calloc(1, sizeof *p);
    struct decoder d = {.ld = ld, .module = m, .program = p};

    if (!p)
        loader_fail(ld, func->line, "out of memory");
    out->program[out->nprograms++] = p;
    p->kernel.name = strdup(func->name);
    p->kernel.module = out;
    p->vars = out->vars;
    p->consts = out->consts;
    p->nconsts = out->nconsts;
    place_params(ld, func, p);
    decode_program(&d, func);
}

static void exhausted(void *arg)
{
    loader_fail(arg, 0, "out of memory");
}

struct sg_module *sg_module_load(const char *const *ptx, const size_t *len, unsigned n,
                                 const char *origin, struct sg_arena *vars, char **error_p)
{
    struct loader ld = {.origin = origin};
    struct sg_module *volatile out = calloc(1, sizeof *out);
    struct ptx_module m = {0};

    ld.pool.exhausted = exhausted;
    ld.pool.arg = &ld;
    ld.pool.limit = LOAD_BYTES;
    for (unsigned k = 0; k < n; k++)
        ld.pool.limit += LOAD_BYTES_PER_BYTE * len[k];
    if (out && !setjmp(ld.failed)) {
        out->vars = vars;
        for (unsigned k = 0; k < n; k++)
            ptx_parse(&ld, &m, ptx[k], len[k]);
        if (!window_base(WINDOW_CODE))
            loader_fail(&ld, 0, "no address space");
        note_mnemonics(&ld, &m, out);
        place_vars(&ld, &m, out);
        init_vars(&ld, &m);
        out->program = calloc(m.nfuncs + 1, sizeof *out->program);
        if (!out->program)
            loader_fail(&ld, 0, "out of memory");
        for (unsigned k = 0; k < m.nfuncs; k++)
            if (m.func[k]->entry && m.func[k]->has_body)
                decode_kernel(&ld, &m, m.func[k], out);
    }
    pool_free(&ld.pool);
    if (out && !ld.error)
        return out;
    sg_module_unload(out);
    *error_p = ld.error ? ld.error : strdup("out of memory");
    return NULL;
}

void sg_module_unload(struct sg_module *m)
{
    if (!m)
        return;
    for (unsigned k = 0; k < m->nprograms; k++) {
        struct program *p = m->program[k];

        while (p->kept) {
            struct kept *next = p->kept->next;

            free(p->kept);
            p->kept = next;
        }
        free((char *)(uintptr_t)p->kernel.name);
        free((void *)(uintptr_t)p->kernel.params);
        free(p);
    }
    for (unsigned k = 0; k < m->nglobals; k++) {
        sg_arena_free(m->vars, m->global[k].address);
        free(m->global[k].name);
    }
    for (unsigned k = 0; k < m->nmnemonics; k++)
        free(m->mnemonic[k]);
    free(m->mnemonic);
    free(m->global);
    free(m->consts);
    free(m->program);
    free(m);
}

const struct sg_kernel *sg_module_kernel(const struct sg_module *m, const char *name)
{
    for (unsigned k = 0; k < m->nprograms; k++)
        if (strcmp(m->program[k]->kernel.name, name) == 0)
            return &m->program[k]->kernel;
    return NULL;
}

unsigned sg_module_kernels(const struct sg_module *m)
{
    return m->nprograms;
}

const struct sg_kernel *sg_module_kernel_at(const struct sg_module *m, unsigned i)
{
    return i < m->nprograms ? &m->program[i]->kernel : NULL;
}

bool sg_module_global(const struct sg_module *m, const char *name, void **addr_p, size_t *bytes_p)
{
    for (unsigned k = 0; k < m->nglobals; k++) {
        if (strcmp(m->global[k].name, name) == 0) {
            *addr_p = m->global[k].address;
            *bytes_p = m->global[k].bytes;
            return true;
        }
    }
    return false;
}

unsigned sg_module_mnemonics(const struct sg_module *m)
{
    return m->nmnemonics;
}

const char *sg_module_mnemonic(const struct sg_module *m, unsigned i)
{
    return i < m->nmnemonics ? m->mnemonic[i] : NULL;
}
