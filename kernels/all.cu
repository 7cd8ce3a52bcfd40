/* SPDX-License-Identifier: BSD-3-Clause
 * Every kernel in one translation unit, hence one module. */
#include "amax.cu"
#include "cast.cu"
#include "check.cu"
#include "compare.cu"
#include "fp8.cu"
