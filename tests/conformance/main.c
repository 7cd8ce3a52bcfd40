/* SPDX-License-Identifier: BSD-3-Clause
 * Conformance of the intercepted GEMMs: random problems of every shape, transpose, leading
 * dimension, scalar, pointer mode, data scale and special value, each against a double-precision
 * reference with operands rounded as the named path demands. Knows nothing of the preload: which
 * path to expect is an argument. Run with --path fp32 and no preload it judges cuBLAS itself. */
#include "conformance/problem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void usage(void)
{
    fprintf(stderr, "usage: conformance --path fp32|tf32|fp16 [--cases N] [--seed S]\n");
    exit(2);
}

static enum ref_arithmetic parse_path(const char *name)
{
    if (strcmp(name, "fp32") == 0)
        return REF_FP32;
    if (strcmp(name, "tf32") == 0)
        return REF_TF32;
    if (strcmp(name, "fp16") == 0)
        return REF_FP16;
    usage();
    return REF_FP32;
}

int main(int argc, char **argv)
{
    const char *path = NULL;
    long cases = 100;
    unsigned long seed = (unsigned long)time(NULL);
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--path") == 0)
            path = argv[i + 1];
        else if (strcmp(argv[i], "--cases") == 0)
            cases = strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoul(argv[i + 1], NULL, 10);
        else
            usage();
    }
    if (path == NULL || argc % 2 == 0)
        usage();
    struct judge judge = {.arithmetic = parse_path(path), .random = seed * 2 + 1};
    printf("path %s, seed %lu\n", path, seed);
    judge_open(&judge);
    long failures = 0;
    for (int r = 0; r < ROUTINES; r++) {
        long failed = 0;
        for (long i = 0; i < cases; i++)
            failed += !judge_case(&judge, (enum routine)r);
        printf("%-32s %6ld cases %6ld failed\n", routine_name((enum routine)r), cases, failed);
        failures += failed;
    }
    judge_close(&judge);
    printf("converted %ld of %ld calls expected\n", judge.convertible, judge.calls);
    printf("%ld passed, %ld failed\n", cases * ROUTINES - failures, failures);
    return failures != 0;
}
