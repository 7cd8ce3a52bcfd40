#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The trainer, with and without the preload: a step that is captured and replayed, and gradients
# that are computed times a power of two, give the same losses, bit for bit. With a fixed scale in
# place of each operand's own they do not.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SOFTGPU_PRELOAD
case ${TEST_LENGTH-normal} in
fast) steps=10 ;;
*) steps=100 ;;
esac

fail() {
    echo "$*"
    exit 1
}

# train NAME "OPTION..." [VARIABLE=VALUE...]: the losses go to $work/NAME; 1 if the trainer gives up
train() {
    name=$1 options=$2
    shift 2
    # shellcheck disable=SC2086 # options are words
    env APEXSHIM_POLICY=always "$@" "$srcdir/tests/softgpu/run" tests/programs/train_charlm \
        --steps $steps --sample 0 --batch 2 --context 16 --layers 1 --heads 2 --width 16 $options \
        >"$work/out" 2>"$work/$name.err" || return 1
    sed -n 's/ time .*//; /loss/p' "$work/out" >"$work/$name"
}

same() {
    cmp -s "$work/$1" "$work/$2" || fail "$2: other losses than $1"
}

train plain ""
train plain-graph --graph
same plain plain-graph
for precision in fp16 fp16x2 bf16; do
    set -- SOFTGPU_PRELOAD="$so" APEXSHIM_PRECISION=$precision
    train "$precision" "" "$@"
    grep -q 'forwarded=0' "$work/$precision.err" || fail "$precision: not all was converted"
    ! cmp -s "$work/plain" "$work/$precision" || fail "$precision: the losses of FP32"
    train "$precision-graph" --graph "$@"
    same "$precision" "$precision-graph"
    grep -q "graphs=$((steps - 1)) launches" "$work/$precision-graph.err" ||
        fail "$precision: no graph was replayed"
    train "$precision-up" "--loss-scale 0x1p20" "$@"
    same "$precision" "$precision-up"
    train "$precision-down" "--loss-scale 0x1p-20 --graph" "$@"
    same "$precision" "$precision-down"
done

# Scale 1 is what FP16 has by itself. Gradients of 2^-20 of their size are lost: it learns nothing.
set -- SOFTGPU_PRELOAD="$so" APEXSHIM_SCALE=1
train unscaled "" "$@"
train unscaled-down "--loss-scale 0x1p-20" "$@"
awk 'FNR == 1 { file++ } { loss[file] = $NF } END { exit !(loss[2] > loss[1] + 0.1) }' \
    "$work/unscaled" "$work/unscaled-down" || fail "unscaled FP16 learned from tiny gradients"
# Those of 2^20 times it overflow.
! train unscaled-up "--loss-scale 0x1p20" "$@" || ! cmp -s "$work/unscaled" "$work/unscaled-up" ||
    fail "unscaled FP16 did not overflow"
