#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Presets, levels and classes in whole runs: what the software GPU computed is what they mean. On a
# GPU that lacks a class the next more exact one is taken and said once.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SOFTGPU_PRELOAD
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

fail() {
    echo "$*"
    cat "$work/$name.err"
    exit 1
}

# run NAME [VARIABLE=VALUE...]
run() {
    name=$1
    shift
    env "$@" APEXSHIM_POLICY=always SOFTGPU_PRELOAD="$so" SOFTGPU_COUNTS="$work/$name.counts" \
        "$srcdir/tests/softgpu/run" tests/programs/train_charlm --steps 1 --sample 4 --quiet --batch 2 \
        --context 16 --layers 1 --heads 2 --width 16 >"$work/$name.out" 2>"$work/$name.err" ||
        fail "$name failed"
}

said() {
    value=$(sed -n "s/.*[ (]$1=\([0-9]*\).*/\1/p" "$work/$name.err")
    echo "${value:-0}"
}

executed() {
    value=$(sed -n "s/.*\"gemm\.$1\": *\([0-9]*\).*/\1/p" "$work/$name.counts")
    echo "${value:-0}"
}

# all WORD TYPE: every product was converted to that class, and ran in that type
all() {
    { [ "$(said seen)" -gt 0 ] && [ "$(said "$1")" -eq "$(said seen)" ]; } || fail "$name: not all are $1"
    [ "$(executed "$2")" -ge "$(said seen)" ] || fail "$name: $(executed "$2") ran in $2"
    [ "$(executed f32)" -eq 0 ] || fail "$name: $(executed f32) ran in f32"
}

run class APEXSHIM_PRECISION=bf16x3
all bf16x3 bf16
run safe APEXSHIM_PRESET=safe APEXSHIM_VERIFY=0
all tf32 tf32
[ "$(executed f16)" -eq 0 ] || fail "safe takes FP16"
run accurate APEXSHIM_PRESET=accurate
all fp16x2 f16
run explicit APEXSHIM_PRESET=accurate APEXSHIM_PRECISION=bf16
all bf16 bf16
run fast APEXSHIM_PRESET=fast
all fp16 f16
[ "$(grep -c 'OPT_LEVEL=O2 is O1' "$work/fast.err")" -eq 1 ] || fail "what O2 lacks is not said once"
run dynamic
run fixed APEXSHIM_OPT_LEVEL=O3
all fp16 f16
! cmp -s "$work/dynamic.out" "$work/fixed.out" || fail "O3 does not fix the scale"
run one APEXSHIM_SCALE=1
cmp "$work/one.out" "$work/fixed.out" || fail "O3 is not the scale 1"
run exact APEXSHIM_OPT_LEVEL=O3 APEXSHIM_SCALE=exact
cmp "$work/dynamic.out" "$work/exact.out" || fail "exact is not dynamic"

# A Turing GPU has FP16 tensor cores and neither TF32 nor BF16.
sed 's/^compute_capability .*/compute_capability 7.5/; s/^name .*/name A T4 (software GPU)/' \
    "$srcdir/tests/softgpu/gpus/h200.txt" >"$work/t4.txt"
lacking="this GPU (compute capability 7.5) has no arithmetic for"
run turing_bf16 SOFTGPU_GPU="$work/t4.txt" APEXSHIM_PRECISION=bf16
all fp16 f16
[ "$(grep -c "$lacking bf16: fp16 is taken" "$work/$name.err")" -eq 1 ] || fail "not said once"
run turing_bf16x3 SOFTGPU_GPU="$work/t4.txt" APEXSHIM_PRECISION=bf16x3
all fp16x2 f16
run turing_tf32 SOFTGPU_GPU="$work/t4.txt" APEXSHIM_PRECISION=tf32
{ [ "$(said forwarded)" -eq "$(said seen)" ] && [ "$(executed f32)" -gt 0 ]; } || fail "TF32 on Turing"
[ "$(grep -c "$lacking tf32: fp32 is taken" "$work/$name.err")" -eq 1 ] || fail "not said once"
