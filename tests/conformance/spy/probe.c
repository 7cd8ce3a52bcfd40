/* SPDX-License-Identifier: BSD-3-Clause
 * Calls every function that the preload sees, with random bits in every argument or as a sensible
 * program would, and compares what arrives in a spied library, the status that comes back and
 * errno. Prints how many calls differ. Usage: probe [--list] [CALLS [SEED]]. Owns the spies' note.
 */
#include "conformance/spy/probe.h"
#include "conformance/random.h"
#include "conformance/spy/spy.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

struct spy spy;
int answer_got;

static uint64_t state;
static unsigned char wanted[sizeof spy.argument];
static size_t wanted_bytes;
static unsigned long calls_before, differ, calls;
static bool sensible; /* this call */
static void *handle;  /* a real one, now and then, as the first argument */

/* Small numbers, all bits, or the ends of the range. */
static uint64_t draw_bits(void)
{
    switch (random_below(&state, 8)) {
    case 0:
        return random_next(&state) & 255;
    case 1:
        return 0;
    case 2:
        return UINT64_MAX;
    case 3:
        return UINT64_C(0x8000000080000000);
    default:
        return random_next(&state);
    }
}

/* Leading dimensions come after the sizes: they are larger. All arguments of a call differ. */
static uint64_t draw_sensible(enum kind kind)
{
    const uint64_t at = wanted_bytes;
    switch (kind) {
    case OPERATION:
        return (uint64_t)random_below(&state, 3);
    case TYPE:
        return CUDA_R_32F;
    case COMPUTE:
        return CUBLAS_COMPUTE_32F;
    case SIZE:
        return 64 + at;
    case STRIDE:
        return UINT64_C(0x100000000) + at;
    default:
        return UINT64_C(0x7f0000000000) + at * 256;
    }
}

void draw(void *value, size_t bytes, enum kind kind)
{
    if (wanted_bytes == 0)
        sensible = random_once_in(&state, 2);
    for (size_t i = 0; i < bytes; i += 8) {
        const uint64_t word = sensible ? draw_sensible(kind) : draw_bits();
        memcpy((char *)value + i, &word, bytes - i < 8 ? bytes - i : 8);
    }
    if (wanted_bytes == 0 && bytes == sizeof handle && (sensible || random_once_in(&state, 4)))
        memcpy(value, &handle, sizeof handle);
    memcpy(wanted + wanted_bytes, value, bytes);
    wanted_bytes += bytes;
}

void begin(void)
{
    calls_before = spy.calls;
    spy.answer = (int)random_below(&state, 17);
    spy.error_number = (int)random_below(&state, 130);
    answer_got = spy.answer;
    errno = (int)random_below(&state, 130);
}

void end(const char *name)
{
    const int error_number = errno;
    const char *what = NULL;
    if (spy.calls != calls_before + 1)
        what = "the call did not arrive once";
    else if (strcmp(spy.name, name) != 0)
        what = "it arrived as another function";
    else if (spy.bytes != wanted_bytes || memcmp(spy.argument, wanted, wanted_bytes) != 0)
        what = "an argument arrived changed";
    else if (answer_got != spy.answer)
        what = "the status came back changed";
    else if (error_number != spy.error_number)
        what = "errno is not what the library left";
    if (what != NULL && differ++ < 20)
        printf("FAILED %s: %s\n", name, what);
    calls++;
    wanted_bytes = 0;
}

/* The vendor's header shows the half precision functions to C++ alone. */
#define ENTRY(_name, ...) cublasStatus_t _name(__VA_ARGS__);
#include "conformance/spy/entries.def"
#undef ENTRY

#define KIND(_argument)                                                                            \
    _Generic((_argument), cublasOperation_t                                                        \
             : OPERATION, cudaDataType                                                             \
             : TYPE, cublasComputeType_t                                                           \
             : COMPUTE, int                                                                        \
             : SIZE, int64_t                                                                       \
             : SIZE, long long                                                                     \
             : STRIDE, default                                                                     \
             : OTHER)
#define ENTRY(_name, ...) PROBE(cublasStatus_t, _name, answer_got = (int), __VA_ARGS__)
#include "conformance/spy/entries.def"
ENTRY(cublasLtMatmul, cublasLtHandle_t, cublasLtMatmulDesc_t, const void *, const void *,
      cublasLtMatrixLayout_t, const void *, cublasLtMatrixLayout_t, const void *, const void *,
      cublasLtMatrixLayout_t, void *, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t *, void *,
      size_t, cudaStream_t)
#undef ENTRY

static const struct probe probes[] = {
#define ENTRY(_name, ...) {#_name, probe_##_name},
#include "conformance/spy/entries.def"
    ENTRY(cublasLtMatmul)
#undef ENTRY
};

static void run(const struct probe *all, size_t count, long repeats, bool list)
{
    for (size_t i = 0; i < count; i++) {
        if (list)
            puts(all[i].name);
        for (long j = 0; j < repeats && !list; j++)
            all[i].run();
    }
}

int main(int argc, char **argv)
{
    const bool list = argc > 1 && strcmp(argv[1], "--list") == 0;
    const long repeats = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
    state = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) * 2 + 1;
    cublasHandle_t real;
    if (cublasCreate(&real) != CUBLAS_STATUS_SUCCESS)
        return 1;
    handle = real;
    run(probes, sizeof probes / sizeof probes[0], repeats, list);
    run(legacy_probes, legacy_probe_count, repeats, list);
    cublasDestroy(real);
    if (list)
        return 0;
    printf("%zu functions, %lu calls, %lu differ, %lu changed a handle\n",
           sizeof probes / sizeof probes[0] + legacy_probe_count, calls, differ, spy.state_calls);
    return differ != 0 || spy.state_calls != 0;
}
