/* SPDX-License-Identifier: BSD-3-Clause
 * The spied libcublas: functions without a handle, which pass scalars by value. */
#include "conformance/spy/spy.h"

#include <cublas.h>
#include <errno.h>

#define ENTRY(_name, ...) SPY(void, _name, return, __VA_ARGS__)
#include "conformance/spy/legacy.def"
#undef ENTRY
