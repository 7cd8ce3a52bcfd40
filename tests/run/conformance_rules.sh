#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The documented rules of cuBLAS, one by one (tests/conformance/README.md), without the preload and on
# each path, each in several orders of asynchronous work.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# run [VARIABLE=VALUE...]
run() {
    for seed in '' 1 2 3; do
        env "$@" ${seed:+SOFTGPU_SEED=$seed} "$srcdir/tests/softgpu/run" tests/conformance/rules \
            >"$out" 2>&1 || {
            echo "$* seed $seed"
            grep -v '^ok' "$out"
            exit 1
        }
        grep ' rules, ' "$out"
    done
}

run
run SOFTGPU_PRELOAD="$so" APEXSHIM_OPT_LEVEL=O0
run SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=tf32
run SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=fp16
