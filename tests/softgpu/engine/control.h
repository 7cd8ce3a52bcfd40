/* SPDX-License-Identifier: BSD-3-Clause
 * Operations that the decoder names one by one because they have operands of their own kind. */
#ifndef SOFTGPU_CONTROL_H
#define SOFTGPU_CONTROL_H

#include "machine.h"

/* op_control.c */
extern const op_fn op_jump, op_branch, op_switch, op_guard, op_exit, op_trap, op_nop;
extern const op_fn op_barrier, op_barrier_red, op_barrier_result, op_warp_barrier;
/* op_call.c */
extern const op_fn op_call, op_return, op_printf, op_malloc, op_free, op_assert;
extern const op_fn op_param_load, op_param_store, op_local_base, op_alloca, op_stack;

enum { RED_POPC, RED_AND, RED_OR };

#endif
