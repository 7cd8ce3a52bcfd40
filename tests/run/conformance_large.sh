#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Leading dimensions, strides and products beyond 2^31, without the preload and on each path.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
seed=${CONFORMANCE_SEED:-$(date +%s)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run PATH [VARIABLE=VALUE...]
run() {
    arithmetic=$1
    shift
    # Most of it is never touched.
    env "$@" SOFTGPU_MEMORY=$((128 << 30)) "$srcdir/tests/softgpu/run" tests/conformance/large \
        --path "$arithmetic" --seed "$seed" >"$work/out" 2>"$work/err" || {
        status=$?
        cat "$work/out"
        tail -n 20 "$work/err"
        exit $status
    }
    grep -v '^converted' "$work/out"
    [ "$arithmetic" != fp32 ] || return 0
    expected=$(sed -n 's/^converted \([0-9]*\) of .*/\1/p' "$work/out")
    said=$(sed -n 's/.* converted=\([0-9]*\) .*/\1/p' "$work/err")
    if [ "$expected" -eq 0 ] || [ "${said:-0}" -lt "$expected" ]; then
        echo "$arithmetic: the preload converted ${said:-0}, expected at least $expected"
        exit 1
    fi
}

run fp32
run fp32 SOFTGPU_PRELOAD="$so" APEXSHIM_PRECISION=fp32
run tf32 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=tf32
run fp16 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=fp16
run bf16x3 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=bf16x3
