#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program that reaches the driver as one that is linked with the static runtime: its GEMM is
# converted, its launch is counted (the shim's own two are not).
set -eu
# shellcheck source=tests/run/ways.inc
. "${srcdir:-.}/tests/run/ways.inc"
way driver 1 - tests/ways/driver
[ "$(counted kernel.nothing)" -eq 1 ] || wrong "driver: the kernel has not run"
says driver 'seen=1 converted=1'
says driver '[: ]launches=1$'
[ "$failures" -eq 0 ]
