#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# 30 GEMMs by each path on the software GPU: launches, bytes and operations are those of the closed
# forms, exactly. With an argument only that path, and its table.
set -eu
srcdir=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# of PATH [VARIABLE=VALUE...]: the table of one path. Seed 0: nothing else runs in between.
of() {
    path=$1
    shift
    status=0
    env SOFTGPU_PRELOAD="$(pwd)/src/.libs/libapexshim.so" SOFTGPU_SEED=0 APEXSHIM_POLICY=always \
        APEXSHIM_LOG=warn "$@" "$srcdir/tests/softgpu/run" tests/bench/traffic "$path" 132 \
        >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -ne 77 ] || exit 77
    if [ "$status" -ne 0 ]; then
        cat "$work/out" "$work/err"
        exit 1
    fi
}

only=${1-}
printf '[gemm]\npath = fp8\n' >"$work/rules"
for each in "tf32 APEXSHIM_PRECISION=tf32" "dynamic APEXSHIM_PRECISION=fp16" \
    "exact APEXSHIM_SCALE=exact" "bf16 APEXSHIM_PRECISION=bf16" "fp16x2 APEXSHIM_PRECISION=fp16x2" \
    "bf16x3 APEXSHIM_PRECISION=bf16x3" "bf16x6 APEXSHIM_PRECISION=bf16x6" \
    "fp8 APEXSHIM_RULES=$work/rules"; do
    path=${each%% *}
    if [ -z "$only" ] || [ "$path" = "$only" ]; then
        of "$path" "${each#* }"
        if [ -n "$only" ]; then
            cat "$work/out"
        else
            echo "$path: $(tail -n 1 "$work/out")"
        fi
    fi
done
