#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Streams that come and go leave no scratch memory behind, and a thread's first GEMM is converted
# like any other.
set -eu
srcdir=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
env SOFTGPU_PRELOAD="$(pwd)/src/.libs/libapexshim.so" SOFTGPU_COUNTS="$work/counts" \
    APEXSHIM_POLICY=always "$srcdir/tests/softgpu/run" tests/ways/streams >"$work/out" 2>"$work/err"
cat "$work/out" "$work/err"
read -r early late <"$work/out"
[ "$early" -eq "$late" ] || { echo "memory grew from $early to $late bytes"; exit 1; }
grep -q 'seen=406 converted=406 (fp16=406' "$work/err"
