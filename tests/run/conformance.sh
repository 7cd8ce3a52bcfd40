#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The conformance program without the preload, with each path, and observed only. The counts of the
# shim must be those that the program expects, and those of the software GPU.
set -eu
srcdir=${srcdir:-.}
cases=${CONFORMANCE_CASES:-100}
seed=${CONFORMANCE_SEED:-$(date +%s)}
echo "seed $seed"
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*"
    exit 1
}

# run PATH COUNTER WORD [VARIABLE=VALUE...]: COUNTER is the software GPU's key that the convertible
# calls must show up under, WORD the shim's own (both empty: nothing is converted)
run() {
    arithmetic=$1 counter=$2 word=$3
    shift 3
    env "$@" SOFTGPU_COUNTS="$work/counts" "$srcdir/tests/softgpu/run" \
        tests/conformance/conformance --path "$arithmetic" --cases "$cases" --seed "$seed" --plain \
        >"$work/out" 2>"$work/err" || {
        grep -v ' 0 failed$' "$work/out" | head -n 20
        tail -n 20 "$work/err"
        fail "failed: $arithmetic $*"
    }
    grep ' passed, ' "$work/out"
    expected=$(sed -n 's/^converted \([0-9]*\) of .*/\1/p' "$work/out")
    [ "${expected:-0}" -gt 0 ] || fail "no call could be converted"
    # Nobody but the program sets anything of its handles.
    tr ',' '\n' <"$work/counts" | grep '"calls.cublasSet' | sort >"$work/setters"
    [ -s "$work/setters" ] || fail "no count of what the program sets"
    [ -e "$work/setters.plain" ] || cp "$work/setters" "$work/setters.plain"
    diff "$work/setters.plain" "$work/setters" || fail "more is set than by the program: $*"
    [ -n "$counter" ] || return 0
    executed=$(sed -n "s/.*\"$counter\": *\([0-9]*\).*/\1/p" "$work/counts")
    [ "${executed:-0}" -eq "$expected" ] ||
        fail "the software GPU executed ${executed:-0} $counter, expected $expected ($*)"
    said=$(sed -n "s/.*[( ]$word=\([0-9]*\).*/\1/p" "$work/err")
    [ "${said:-0}" -eq "$expected" ] || fail "the shim says $word=${said:-0}, expected $expected"
}

# said_why WORD: the last run forwarded at least the convertible calls for this reason. (A math mode
# is only asked of the handle where calls are converted, so there may be more.)
said_why() {
    said=$(sed -n "s/.*[( ]$1=\([0-9]*\).*/\1/p" "$work/err")
    [ "${said:-0}" -ge "$expected" ] || fail "forwarded for $1: ${said:-0}, expected $expected"
}

run fp32 "" ""
run fp16 gemm.f16 fp16 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always
for seed in 1 2 3; do # the adversarial order of the software GPU
    run fp16 gemm.f16 fp16 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always SOFTGPU_SEED=$seed
done
run tf32 gemm.tf32 tf32 SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=tf32
run fp32 "" "" SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_PRECISION=fp32
run fp32 "" "" SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_OPT_LEVEL=O0
said_why observe
run fp32 "" "" SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always NVIDIA_TF32_OVERRIDE=0
said_why veto
run fp32 "" "" SOFTGPU_PRELOAD="$so" APEXSHIM=0
if [ -s "$work/err" ]; then
    cat "$work/err"
    fail "APEXSHIM=0 printed something"
fi
