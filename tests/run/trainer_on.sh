#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The trainer under the preload: other bits, nearly the same loss, twice the same bits, and as many
# products by operand type as the shim says. In FP16, in TF32, and with sizes that fit no tile.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SOFTGPU_PRELOAD

fail() {
    echo "$*"
    exit 1
}

# run NAME SIZES [VARIABLE=VALUE...]
run() {
    name=$1 sizes=$2
    shift 2
    # shellcheck disable=SC2086 # sizes are options
    env "$@" SOFTGPU_COUNTS="$work/$name.counts" "$srcdir/tests/softgpu/run" \
        tests/programs/train_charlm --steps 4 --sample 8 $sizes \
        >"$work/$name.out" 2>"$work/$name.err" || { cat "$work/$name.err"; exit 1; }
}

executed() {
    sed -n "s/.*\"gemm\.$2\": *\([0-9]*\).*/\1/p" "$work/$1.counts"
}

said() {
    sed -n "s/.*[ (]$2=\([0-9]*\).*/\1/p" "$work/$1.err"
}

loss() {
    sed -n 's/^val_loss //p' "$work/$1.out"
}

# compare NAME COUNTER WORD: the run NAME against `plain`
compare() {
    [ "$(loss "$1")" != "$(loss plain)" ] || fail "$1: the validation loss has the same bits"
    awk -v a="$(loss "$1")" -v b="$(loss plain)" \
        'BEGIN { d = a / b - 1; exit !(d > -0.005 && d < 0.005) }' ||
        fail "$1: validation losses $(loss "$1") and $(loss plain)"
    [ "$(said "$1" "$3")" -gt 0 ] || fail "$1: nothing was converted to $3"
    [ "$(executed "$1" "$2")" -eq "$(said "$1" "$3")" ] ||
        fail "$1: the software GPU executed $(executed "$1" "$2") $2, the shim says" \
            "$3=$(said "$1" "$3")"
    forwarded=$(executed "$1" f32)
    [ "${forwarded:-0}" -eq "$(said "$1" forwarded)" ] ||
        fail "$1: the software GPU executed ${forwarded:-0} in FP32, the shim says" \
            "forwarded=$(said "$1" forwarded)"
    [ "$(said "$1" seen)" -eq "$(executed plain f32)" ] ||
        fail "$1: seen=$(said "$1" seen), the program makes $(executed plain f32)"
    cmp "$work/$1.out" "$work/$1-again.out" || fail "$1: two runs differ"
}

always=APEXSHIM_POLICY=always
for sizes in "--batch 2 --context 16 --layers 1 --heads 2 --width 16" \
    "--batch 3 --context 19 --layers 2 --heads 3 --width 33"; do
    run plain "$sizes"
    run fp16 "$sizes" SOFTGPU_PRELOAD="$so" $always
    run fp16-again "$sizes" SOFTGPU_PRELOAD="$so" $always
    compare fp16 f16 fp16
    run tf32 "$sizes" SOFTGPU_PRELOAD="$so" $always APEXSHIM_PRECISION=tf32
    run tf32-again "$sizes" SOFTGPU_PRELOAD="$so" $always APEXSHIM_PRECISION=tf32
    compare tf32 tf32 tf32
done
