#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The norm-wise error of a 512 x 512 x 512 GEMM on normal data of three scales: that of FP16 and
# TF32 (11 bits: between 1e-5 and 4e-4) where it is converted, that of FP32 where it is not.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
seed=$(date +%s)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# error_between NAME LOW HIGH [VARIABLE=VALUE...]
error_between() {
    name=$1 low=$2 high=$3
    shift 3
    env "$@" "$srcdir/tests/softgpu/run" tests/conformance/accuracy 512 "$seed" >"$work/out"
    sed "s/^/$name: scale /" "$work/out"
    awk -v low="$low" -v high="$high" '!($2 >= low && $2 <= high) { bad = 1 } END { exit bad || NR != 3 }' \
        "$work/out" || {
        echo "$name (seed $seed): an error is not between $low and $high"
        exit 1
    }
}

error_between "no preload" 1e-8 2e-6
error_between fp16 1e-5 4e-4 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always
error_between tf32 1e-5 4e-4 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=tf32
error_between off 1e-8 2e-6 SOFTGPU_PRELOAD="$so" APEXSHIM=0
