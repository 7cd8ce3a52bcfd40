#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The conformance program without the preload, with each path, and observed only. The counts of the
# shim must be those that the program expects, and those of the software GPU.
set -eu
srcdir=${srcdir:-.}
cases=${CONFORMANCE_CASES:-150}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*"
    exit 1
}

# run PATH EXPECTED_COUNTER [VARIABLE=VALUE...]: EXPECTED_COUNTER is the software GPU's key that
# the convertible calls must show up under
run() {
    arithmetic=$1 counter=$2
    shift 2
    env "$@" SOFTGPU_COUNTS="$work/counts" "$srcdir/tests/softgpu/run" \
        tests/conformance/conformance --path "$arithmetic" --cases "$cases" \
        >"$work/out" 2>"$work/err" || { cat "$work/out" "$work/err"; fail "failed: $arithmetic $*"; }
    grep ' passed, ' "$work/out"
    expected=$(sed -n 's/^converted \([0-9]*\) of .*/\1/p' "$work/out")
    [ -n "$expected" ] && [ "$expected" -gt 0 ] || fail "no call could be converted"
    [ -n "$counter" ] || return 0
    executed=$(sed -n "s/.*\"$counter\": *\([0-9]*\).*/\1/p" "$work/counts")
    [ "${executed:-0}" -eq "$expected" ] ||
        fail "the software GPU executed ${executed:-0} $counter, expected $expected ($*)"
    said=$(sed -n "s/.*${counter#gemm.}=\([0-9]*\).*/\1/p" "$work/err")
    [ "${said:-0}" -eq "$expected" ] || fail "the shim says ${said:-0} $counter, expected $expected"
}

run fp32 ""
run fp16 gemm.f16 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always
run tf32 gemm.tf32 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=tf32
run fp32 "" SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=fp32
run fp32 "" SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_OPT_LEVEL=O0
run fp32 "" SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always NVIDIA_TF32_OVERRIDE=0
run fp32 "" SOFTGPU_PRELOAD="$so" APEXSHIM=0
[ ! -s "$work/err" ] || { cat "$work/err"; fail "APEXSHIM=0 printed something"; }
