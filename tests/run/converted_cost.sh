#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the shim itself adds to a converted GEMM, against a driver and a cuBLASLt that do nothing: at
# most two launches, one matmul (one for each part of K), at most 1 us of CPU time.
set -eu
srcdir=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# of SETTING K LAUNCHES MATMULS
of() {
    "$srcdir/tests/bench/converted_run" 1 1 "$2" "$1" >"$work/out"
    read -r call stubs launches matmuls other <"$work/out"
    echo "$1, K $2: $call ns ($stubs ns in the stubs), $launches launches, $matmuls matmuls, $other others"
    if [ "$launches" != "$3" ] || [ "$matmuls" != "$4" ]; then
        echo "$3 and $4 were expected"
        exit 1
    fi
    # Instrumented code is slower.
    if [ -z "${SOFTGPU_RUNTIME-}" ] && [ $((call - stubs)) -gt 1000 ]; then
        echo "too slow"
        exit 1
    fi
}

of APEXSHIM_PRECISION=fp16 512 2 1
of APEXSHIM_SCALE=exact 512 2 1
of APEXSHIM_SCALE=1 512 1 1
of APEXSHIM_PRECISION=bf16 512 1 1
of APEXSHIM_PRECISION=fp16x2 512 2 1
of APEXSHIM_PRECISION=fp16x2 2048 2 4
of APEXSHIM_PRECISION=bf16x6 1024 1 2
of APEXSHIM_PRECISION=tf32 512 0 0
