/* SPDX-License-Identifier: BSD-3-Clause
 * One call of the casting kernels: what it is given, and what it must leave in the copies, the
 * record, the predictions and the site's totals. Record, predictions and totals live on from call
 * to call, as they do in the shim. */
#ifndef KERNELS_CALL_H
#define KERNELS_CALL_H

#include "kernels/operand.h"

/* What the calls of one test share. */
void calls_start(void);
void calls_stop(void);
CUdeviceptr calls_record(void); /* a clean struct apex_record */
/* A site on the device and its mirror as the device sees it; reads check that the mirror is equal.
 */
struct apex_site *calls_site(uint32_t site);
struct apex_site *calls_mirror(uint32_t site);
struct apex_site calls_read_site(uint32_t site);

struct call {
    enum ref_format format;
    enum apex_mode mode;
    struct operand operand[2];
    float alpha, beta;
    bool device_scalars;
    int guess[2];     /* exponents that are predicted (dynamic) or fixed */
    uint32_t slot[2]; /* where the predictions lie */
    bool counted;
    uint32_t site;
};

/* Predictions for a call: none, the right ones, or any. */
enum guess { GUESS_NONE, GUESS_RIGHT, GUESS_ANY };

/* Fills in what depends on the operands, then runs and checks everything. */
void call_run(struct call *call, const enum guess guess[2]);

#endif
