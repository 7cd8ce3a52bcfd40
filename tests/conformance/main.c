/* SPDX-License-Identifier: BSD-3-Clause
 * Conformance of the GEMMs of cuBLAS and cuBLASLt: random calls of every form, transpose, size,
 * leading dimension, scalar, mode, data scale and special value, each against a double-precision
 * reference with operands rounded as the named path demands. Knows nothing of the preload: which
 * path to expect is an argument. With --path fp32 and no preload it judges cuBLAS itself. Cases are
 * counted once, however often they are drawn. */
#include "conformance/judge.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void usage(void)
{
    fprintf(stderr, "usage: conformance --path PATH [OPTION...]\n"
                    "  PATH          fp32, tf32, fp16, bf16, fp16x2, bf16x3 or bf16x6\n"
                    "  --cases N     distinct cases for each entry point (100)\n"
                    "  --seed S      of the random numbers (the time)\n"
                    "  --only NAMES  entry points that match this file name pattern\n"
                    "  --plain       only what the path converts without doubt\n"
                    "  --real        a real GPU: roundings of operands are not known exactly\n");
    exit(2);
}

/* --- the set of cases seen --- */

enum { SLOTS = 1 << 20 };
static uint64_t seen[SLOTS];

static uint64_t hash_of(const struct problem *p)
{
    char text[2048];
    uint64_t h = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    problem_describe(p, text, sizeof text);
    for (const char *c = text; *c != '\0'; c++)
        h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return h != 0 ? h : 1;
}

/* False: it has been here before. */
static bool enter(uint64_t hash)
{
    size_t at = hash % SLOTS;
    for (size_t i = 0; i < SLOTS && seen[at] != 0; i++, at = (at + 1) % SLOTS)
        if (seen[at] == hash)
            return false;
    seen[at] = hash;
    return true;
}

struct totals {
    long distinct, failed;
};

static void run_routine(struct judge *judge, const struct routine *routine, long cases,
                        struct totals *totals)
{
    long distinct = 0, failed = 0;
    if (routine->lt == LT_EPILOGUE)
        cases *= 4; /* there are fifteen of them */
    for (long tries = 0; distinct < cases && tries < 2 * cases; tries++) {
        struct problem p;
        problem_draw(&judge->drawing, routine, &p);
        if (enter(hash_of(&p))) {
            distinct++;
            failed += !judge_case(judge, &p);
        }
        problem_free(&p);
    }
    printf("%-36s %6ld cases %6ld failed\n", routine->name, distinct, failed);
    totals->distinct += distinct;
    totals->failed += failed;
}

int main(int argc, char **argv)
{
    const char *path = NULL, *only = "*";
    long cases = 100;
    unsigned long seed = (unsigned long)time(NULL);
    struct judge judge = {.path = PATH_FP32};
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--plain") == 0) {
            judge.drawing.plain = true;
            continue;
        }
        if (strcmp(argv[i], "--real") == 0) {
            judge.loose = judge.drawing.real = true;
            continue;
        }
        if (value == NULL)
            usage();
        if (strcmp(argv[i], "--path") == 0)
            path = value;
        else if (strcmp(argv[i], "--cases") == 0)
            cases = strtol(value, NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--only") == 0)
            only = value;
        else
            usage();
        i++;
    }
    if (path == NULL)
        usage();
    if (path_named(path) < 0)
        usage();
    judge.path = (enum path)path_named(path);
    judge.drawing.random = seed * 2 + 1;
    for (int i = 0; i < 4; i++) /* small seeds would begin alike */
        (void)random_next(&judge.drawing.random);
    printf("path %s, seed %lu\n", path, seed);
    judge_open(&judge);
    struct totals totals = {0, 0};
    for (int i = 0; i < routine_count; i++)
        if ((!judge.drawing.plain || routines[i].coverage == ALWAYS) &&
            fnmatch(only, routines[i].name, 0) == 0)
            run_routine(&judge, &routines[i], cases, &totals);
    judge_close(&judge);
    if (judge.refused > 0)
        printf("%ld calls are not supported here\n", judge.refused);
    printf("converted %ld of %ld calls expected\n", judge.converted, judge.calls);
    printf("%ld passed, %ld failed\n", totals.distinct - totals.failed, totals.failed);
    return totals.failed != 0;
}
