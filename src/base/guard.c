/* SPDX-License-Identifier: BSD-3-Clause
 * Owns the guard's depth, one a thread. */
#include "config.h"
#include "base/guard.h"

_Thread_local unsigned guard_depth __attribute__((tls_model("initial-exec")));
