/* SPDX-License-Identifier: BSD-3-Clause
 * Runs calls of the casting kernels. Owns the record, the predictions and the expected totals. */
#include "kernels/call.h"
#include "reference/scale.h"

#include <check.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SITES = 4, SLOTS = 8 };

static struct {
    CUdeviceptr record, predictions, sites;
    struct apex_site *mirror, expected[SITES];
    CUdeviceptr mirror_device;
    int32_t prediction[SLOTS];
} shared;

void calls_start(void)
{
    static const struct apex_record clean;
    static const int32_t none[APEX_PREDICTIONS];
    shared.record = gpu_new(&clean, sizeof clean);
    shared.predictions = gpu_new(none, sizeof none);
    shared.sites = gpu_sites();
    OK(cuMemHostAlloc((void **)&shared.mirror, APEX_SITES * sizeof *shared.mirror,
                      CU_MEMHOSTALLOC_DEVICEMAP));
    OK(cuMemHostGetDevicePointer(&shared.mirror_device, shared.mirror, 0));
    memset(shared.mirror, 0, APEX_SITES * sizeof *shared.mirror);
}

void calls_stop(void)
{
    gpu_free(shared.record);
    gpu_free(shared.predictions);
    OK(cuMemFreeHost(shared.mirror));
}

CUdeviceptr calls_record(void)
{
    return shared.record;
}

struct apex_site *calls_site(uint32_t site)
{
    return (struct apex_site *)(uintptr_t)shared.sites + site;
}

struct apex_site *calls_mirror(uint32_t site)
{
    return (struct apex_site *)(uintptr_t)shared.mirror_device + site;
}

struct apex_site calls_read_site(uint32_t site)
{
    struct apex_site s;
    gpu_read(&s, (CUdeviceptr)(uintptr_t)calls_site(site), sizeof s);
    ck_assert_msg(memcmp(&s, &shared.mirror[site], sizeof s) == 0, "the mirror is not the site");
    return s;
}

static const char *const casts[] = {APEX_KERNEL_CASTS};
static const char *const checks[] = {APEX_KERNEL_CHECKS};

static uint32_t blocks_of(const struct call *call)
{
    return call->operand[0].blocks + call->operand[1].blocks;
}

static struct apex_cast_params params_of(const struct call *call, CUdeviceptr scalars)
{
    int32_t *predictions = (int32_t *)(uintptr_t)shared.predictions;
    const float *device = (const float *)(uintptr_t)scalars;
    return (struct apex_cast_params){
        .source = {call->operand[0].source, call->operand[1].source},
        .target = {call->operand[0].target, call->operand[1].target},
        .blocks_of_a = call->operand[0].blocks,
        .blocks = blocks_of(call),
        .mode = call->mode,
        .fixed = {call->guess[0], call->guess[1]},
        .prediction = {predictions + call->slot[0], predictions + call->slot[1]},
        .record = (struct apex_record *)(uintptr_t)shared.record,
        .site = call->counted ? calls_site(call->site) : NULL,
        .mirror = call->counted ? calls_mirror(call->site) : NULL,
        .elements = {(uint64_t)draw_int(1, 1000), (uint64_t)draw_int(1, 1000)},
        .alpha_device = call->device_scalars ? device : NULL,
        .beta_device = call->device_scalars ? device + 1 : NULL,
        .alpha = call->device_scalars ? NAN : call->alpha,
        .beta = call->device_scalars ? NAN : call->beta,
    };
}

static struct apex_record read_record(void)
{
    struct apex_record record;
    gpu_read(&record, shared.record, sizeof record);
    return record;
}

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void check_float(float got, float want, const char *what)
{
    if (isnan(want) ? !isnan(got) : bits_of(got) != bits_of(want))
        ck_abort_msg("%s is %a instead of %a", what, (double)got, (double)want);
}

static void check_maxima(const struct call *call, const struct apex_record *record)
{
    for (int i = 0; i < 2; i++)
        ck_assert_uint_eq(record->amax_bits[i], bits_of((float)operand_amax(&call->operand[i])));
}

static void check_first_cast(const struct call *call)
{
    const struct apex_record record = read_record();
    check_maxima(call, &record);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(record.used[i], call->guess[i]);
        ck_assert_uint_eq(record.lost[0][i], operand_lost(&call->operand[i], call->guess[i]));
        operand_check_copy(&call->operand[i], call->guess[i], "first cast");
    }
}

/* After the last kernel of a call: as the next one needs it, and as the GEMM reads it. */
static void check_record(const struct call *call, struct ref_exponents e)
{
    const struct apex_record record = read_record();
    ck_assert_uint_eq(record.amax_bits[0] | record.amax_bits[1], 0);
    ck_assert_uint_eq(record.lost[0][0] | record.lost[0][1] | record.lost[1][0] | record.lost[1][1],
                      0);
    ck_assert_uint_eq(record.ticket, 0);
    ck_assert_int_eq(record.exponent[0], e.a);
    ck_assert_int_eq(record.exponent[1], e.b);
    check_float(record.alpha, ref_scaled_alpha(e, call->alpha), "alpha");
    check_float(record.beta, call->beta, "beta");
    check_float(record.one, 1, "one");
    operand_check_copy(&call->operand[0], e.a, "in the end");
    operand_check_copy(&call->operand[1], e.b, "in the end");
}

static void check_totals(const struct call *call, struct ref_exponents e,
                         const struct apex_cast_params *params)
{
    struct apex_site *want = &shared.expected[call->site];
    if (call->counted) {
        want->calls++;
        if (call->mode == APEX_DYNAMIC)
            want->misses += (uint64_t)(call->guess[0] != e.a) + (call->guess[1] != e.b);
        want->lost[0] += operand_lost(&call->operand[0], e.a);
        want->lost[1] += operand_lost(&call->operand[1], e.b);
        want->elements[0] += params->elements[0];
        want->elements[1] += params->elements[1];
    }
    const struct apex_site got = calls_read_site(call->site);
    ck_assert_uint_eq(got.calls, want->calls);
    ck_assert_uint_eq(got.misses, want->misses);
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(got.lost[i], want->lost[i]);
        ck_assert_uint_eq(got.elements[i], want->elements[i]);
    }
}

static void check_predictions(const struct call *call, struct ref_exponents e)
{
    int32_t got[SLOTS];
    shared.prediction[call->slot[0]] = e.a + APEX_PREDICTED;
    shared.prediction[call->slot[1]] = e.b + APEX_PREDICTED;
    gpu_read(got, shared.predictions, sizeof got);
    for (int i = 0; i < SLOTS; i++)
        ck_assert_int_eq(got[i], shared.prediction[i]);
}

static void predict(struct call *call, struct ref_exponents e, const enum guess guess[2])
{
    const int right[2] = {e.a, e.b};
    for (int i = 0; i < 2; i++) {
        call->slot[i] = (uint32_t)(i + 2 * draw_int(0, SLOTS / 2 - 1));
        call->guess[i] = guess[i] == GUESS_NONE    ? APEX_FIRST_GUESS
                         : guess[i] == GUESS_RIGHT ? right[i]
                                                   : (int)draw_int(-150, 160);
        shared.prediction[call->slot[i]] =
            guess[i] == GUESS_NONE ? 0 : call->guess[i] + APEX_PREDICTED;
    }
    gpu_write(shared.predictions, shared.prediction, sizeof shared.prediction);
}

static void run_scaled(struct call *call, const struct apex_cast_params *params,
                       struct ref_exponents e)
{
    if (call->mode == APEX_EXACT) {
        const struct apex_amax_params amax = {
            {params->source[0], params->source[1]}, params->blocks_of_a, params->record};
        gpu_launch(APEX_KERNEL_AMAX, &amax, params->blocks);
        const struct apex_record record = read_record();
        check_maxima(call, &record);
    } else {
        gpu_launch(casts[call->format], params, params->blocks);
        check_first_cast(call);
    }
    gpu_launch(checks[call->format], params, (uint32_t)draw_int(1, params->blocks));
    check_record(call, e);
    check_totals(call, e, params);
    check_predictions(call, e);
}

void call_run(struct call *call, const enum guess guess[2])
{
    const float scalars[2] = {call->alpha, call->beta};
    const CUdeviceptr device = gpu_new(scalars, sizeof scalars);
    struct ref_exponents e = ref_exponents(operand_amax(&call->operand[0]),
                                           operand_amax(&call->operand[1]), call->alpha);
    if (checks[call->format] != NULL && call->mode != APEX_FIXED) {
        predict(call, e, guess);
        const struct apex_cast_params params = params_of(call, device);
        run_scaled(call, &params, e);
    } else {
        const struct apex_cast_params params = params_of(call, device);
        gpu_launch(casts[call->format], &params, params.blocks);
        if (checks[call->format] == NULL)
            call->guess[0] = call->guess[1] = 0;
        e = (struct ref_exponents){call->guess[0], call->guess[1]};
        check_record(call, e);
    }
    operand_check_source(&call->operand[0]);
    operand_check_source(&call->operand[1]);
    gpu_free(device);
}
