#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A CUDA call of the shim that fails becomes the program's plain call, with the right result and one
# line that says so.
set -eu
srcdir=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for nth in 1 2; do # the shim's two kernel launches
    env WAYS_MODE=plain SOFTGPU_FAIL="cuLaunchKernel:$nth:719:libapexshim" APEXSHIM_POLICY=always \
        SOFTGPU_PRELOAD="$(pwd)/src/.libs/libapexshim.so" \
        "$srcdir/tests/softgpu/run" tests/ways/linked 2>"$work/err"
    cat "$work/err"
    [ "$(grep -c 'a CUDA call of the shim failed' "$work/err")" -eq 1 ]
    grep -q 'seen=1 converted=0 .*forwarded=1 (failure=1)' "$work/err"
done
