/* SPDX-License-Identifier: BSD-3-Clause
 * Damaged PTX: the hand-written sources and what the compilers made of the test kernels, with
 * bytes, numbers and lines changed at random. Each text is refused with one line or loads; what
 * loads is run, for a short while, and ends or faults. Never a crash, a hang or much memory. Text
 * number i of a seed is text number 0 of seed + i. For a longer search that shows each number:
 * CK_FORK=no CK_RUN_CASE=mutate SOFTGPU_TEXTS=1000000 check_engine. No state. */
#include "engine_tests.h"
#include "random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { TEXTS = 20000, LIMIT_KB = 600 << 10, BUFFER = 64 << 10, TURNS = 4 };

static const char *const files[] = {
    "basic.compute_75",  "basic.clang",         "collect.compute_90", "groups.compute_75",
    "groups.compute_90", "language.compute_75", "language.clang",     "linear.compute_90",
    "linear.clang",      "math.compute_75",
};
enum { NFILES = sizeof files / sizeof *files };

struct text {
    char *bytes;
    size_t length, room;
};

static void text_replace(struct text *t, size_t at, size_t old, const char *with, size_t n)
{
    if (t->length - old + n > t->room) {
        t->room = 2 * (t->length + n);
        t->bytes = realloc(t->bytes, t->room);
        ck_assert_ptr_nonnull(t->bytes);
    }
    memmove(t->bytes + at + n, t->bytes + at + old, t->length - at - old);
    memcpy(t->bytes + at, with, n);
    t->length += n - old;
}

static struct text read_file(const char *name)
{
    struct text t = {.room = 1 << 20};
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.ptx", KERNELS_DIR, name);
    file = fopen(path, "r");
    t.bytes = malloc(t.room);
    ck_assert_ptr_nonnull(t.bytes);
    if (file) {
        t.length = fread(t.bytes, 1, t.room, file);
        fclose(file);
    }
    return t;
}

static struct text choose(struct random *r)
{
    size_t sources = engine_flow_source_count + engine_memory_source_count;
    struct text t;

    if (random_below(r, 8) == 0)
        return read_file(files[random_below(r, NFILES)]);
    t.bytes = engine_ptx(engine_source_at(random_below(r, (uint32_t)sources))->name);
    t.length = t.room = strlen(t.bytes);
    return t;
}

/* Where the line with this byte begins, and how long it is with its end. */
static size_t line_at(const struct text *t, size_t at, size_t *length_p)
{
    size_t begin = at, end = at;

    while (begin > 0 && t->bytes[begin - 1] != '\n')
        begin--;
    while (end < t->length && t->bytes[end] != '\n')
        end++;
    *length_p = end - begin + (end < t->length);
    return begin;
}

/* The first digit at or after this byte, and how many follow each other. */
static size_t number_at(const struct text *t, size_t at, size_t *length_p)
{
    size_t end;

    while (at < t->length && (t->bytes[at] < '0' || t->bytes[at] > '9'))
        at++;
    for (end = at; end < t->length && t->bytes[end] >= '0' && t->bytes[end] <= '9';)
        end++;
    *length_p = end - at;
    return at;
}

static void mutate(struct text *t, struct random *r)
{
    static const char *const pieces[] = {
        "{",          "}",
        "(",          ")",
        "[",          "]",
        ";",          ",",
        "|",          "@",
        "!",          "<",
        ">",          "/*",
        "*/",         "//",
        "\"",         "-",
        "+",          ".b128",
        ".pred",      ".u8",
        ".s64",       ".f16x2",
        ".v4",        ".shared",
        ".local",     ".param",
        ".global",    "%p1",
        "%r1",        "%rd1",
        "%f1",        "%q1",
        "%h1",        "_",
        "0f7FC00000", ".reg .b32 %r<9>;",
        ".align 64",  "bra",
        "ret;",       "exit;",
        "call",       "%tid.x",
        "%clock64",   "1e400",
        "0x",
    };
    static const char *const numbers[] = {
        "0",
        "1",
        "2",
        "3",
        "7",
        "31",
        "32",
        "33",
        "63",
        "64",
        "255",
        "65535",
        "65536",
        "1048577",
        "2147483647",
        "2147483648",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "18446744073709551615",
        "18446744073709551616",
        "-1",
        "-4",
        "-2147483649",
    };
    size_t at = random_below(r, (uint32_t)t->length), n, other, length;
    const char *piece;
    char *copy, byte;

    switch (random_below(r, 9)) {
    case 0: /* a byte becomes another */
        byte = (char)(random_below(r, 3) ? 32 + random_below(r, 95) : random_below(r, 256));
        text_replace(t, at, 1, &byte, 1);
        break;
    case 1: /* some bytes go */
        n = random_below(r, 8) + 1;
        text_replace(t, at, n < t->length - at ? n : t->length - at, "", 0);
        break;
    case 2: /* a line goes */
        at = line_at(t, at, &n);
        text_replace(t, at, n, "", 0);
        break;
    case 3: /* a line comes again, or elsewhere */
    case 4:
        at = line_at(t, at, &n);
        copy = malloc(n + 1);
        ck_assert_ptr_nonnull(copy);
        memcpy(copy, t->bytes + at, n);
        other = random_below(r, 2) ? at : line_at(t, random_below(r, (uint32_t)t->length), &length);
        text_replace(t, other, 0, copy, n);
        free(copy);
        break;
    case 5: /* something comes in between */
        piece = pieces[random_below(r, sizeof pieces / sizeof *pieces)];
        text_replace(t, at, 0, piece, strlen(piece));
        break;
    case 6: /* the end is lost */
        if (random_below(r, 8) == 0)
            text_replace(t, at, t->length - at, "", 0);
        break;
    default: /* a number becomes another */
        at = number_at(t, at, &n);
        piece = numbers[random_below(r, sizeof numbers / sizeof *numbers)];
        text_replace(t, at, n, piece, strlen(piece));
        break;
    }
}

/* Runs a kernel with addresses of a buffer for 8-byte parameters and small numbers for others. */
static void run(struct device *dev, const struct sg_kernel *kernel, void *buffer)
{
    struct sg_launch launch = {
        .kernel = kernel,
        .grid = {2, 1, 1},
        .block = {48, 1, 1},
        .dynamic_shared = 256,
        .space = &dev->space,
        .heap = dev->heap,
        .workers = 1,
        .turns = TURNS,
    };
    char *params = calloc(1, kernel->param_bytes + 1);
    struct sg_counts counts;
    struct sg_fault fault;
    uint64_t address = (uintptr_t)buffer;

    ck_assert_ptr_nonnull(params);
    for (uint32_t k = 0; k < kernel->nparams; k++) {
        const struct sg_param *p = &kernel->params[k];

        if (p->size == 8)
            memcpy(params + p->offset, &address, 8);
        else
            memset(params + p->offset, 7, p->size < 2 ? p->size : 1);
    }
    launch.params = params;
    sg_launch_run(&launch, &counts, &fault);
    ck_assert_msg(fault.kind == SG_OK || (*fault.message && !strchr(fault.message, '\n')),
                  "fault %d: \"%s\"", fault.kind, fault.message);
    free(params);
}

/* Returns whether the text loads. */
static bool try_text(struct device *dev, uint64_t seed, void *buffer)
{
    struct random r = {seed};
    struct text t = choose(&r);
    uint64_t used = sg_arena_used(dev->memory);
    struct sg_module *module;
    const char *ptx;
    char *error = NULL;

    for (unsigned n = 1 + random_below(&r, 3); n && t.length; n--)
        mutate(&t, &r);
    /* no byte behind the text is read */
    t.bytes = realloc(t.bytes, t.length ? t.length : 1);
    ptx = t.bytes;
    module = sg_module_load(&ptx, &t.length, 1, "mutant", dev->memory, &error);
    ck_assert_msg(!module == !!error, "seed %llu: a module and a message, or neither",
                  (unsigned long long)seed);
    if (error)
        ck_assert_msg(strncmp(error, "mutant:", 7) == 0 && !strchr(error, '\n'),
                      "seed %llu: \"%s\"", (unsigned long long)seed, error);
    for (unsigned k = 0; module && k < sg_module_kernels(module); k++)
        run(dev, sg_module_kernel_at(module, k), buffer);
    if (module)
        sg_module_unload(module);
    ck_assert_msg(sg_arena_used(dev->memory) == used, "seed %llu: memory stays allocated",
                  (unsigned long long)seed);
    free(error);
    free(t.bytes);
    return module;
}

static unsigned try_texts(uint64_t seed, unsigned long n, bool show)
{
    struct device dev = {.memory = sg_arena_new("device", 64 << 20),
                         .heap = sg_arena_new("heap", 1 << 20)};
    struct rusage usage;
    unsigned loaded = 0;
    void *buffer;

    ck_assert(dev.memory && dev.heap);
    dev.space = (struct sg_space){.n = 2, .arena = {dev.memory, dev.heap}};
    buffer = device_alloc(&dev, BUFFER);
    for (unsigned long k = 0; k < n; k++) {
        if (show)
            fprintf(stderr, "\r%llu ", (unsigned long long)seed + k);
        loaded += try_text(&dev, seed + k, buffer);
    }
    getrusage(RUSAGE_SELF, &usage);
    ck_assert_msg(show || usage.ru_maxrss < LIMIT_KB, "seed %llu: took %ld KB",
                  (unsigned long long)seed, usage.ru_maxrss);
    sg_arena_delete(dev.memory);
    sg_arena_delete(dev.heap);
    return loaded;
}

START_TEST(test_mutants)
{
    uint64_t seed = getenv("SOFTGPU_SEED") ? random_seed() : (uint64_t)time(NULL) * 1000000;
    const char *texts = getenv("SOFTGPU_TEXTS");
    unsigned long n = texts ? strtoul(texts, NULL, 0) : TEXTS;
    unsigned loaded;

    printf("seed of the mutants: %llu\n", (unsigned long long)seed);
    fflush(stdout);
    loaded = try_texts(seed, n, texts);
    /* some damage is harmless, some isn't */
    ck_assert_msg(texts || (loaded > n / 20 && loaded < n * 3 / 4), "%u of %lu loaded", loaded, n);
}
END_TEST

TCase *tcase_mutate(void)
{
    TCase *tc = tcase_create("mutate");

    tcase_set_timeout(tc, 120);
    tcase_add_test(tc, test_mutants);
    return tc;
}
