#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Four threads, eight streams, two devices, one site, scales that jump: whatever order a seed gives
# to the work, each result has the bits that APEXSHIM_SCALE=exact gives in the order of the calls.
set -eu
srcdir=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=$(date +%s)
first=${SOFTGPU_SEED:-1}
case ${TEST_LENGTH-normal} in
fast) seeds=5 ;;
long) seeds=100 ;;
*) seeds=30 ;;
esac

# stress NAME SEED SCALE PRECISION [TOLERANCE]
stress() {
    name=$1 seed=$2 scale=$3 precision=$4
    shift 4
    env SOFTGPU_SEED="$seed" SOFTGPU_DEVICES=2 SOFTGPU_WORKERS=1 APEXSHIM_POLICY=always \
        APEXSHIM_SCALE="$scale" APEXSHIM_PRECISION="$precision" \
        SOFTGPU_PRELOAD="$(pwd)/src/.libs/libapexshim.so" "$srcdir/tests/softgpu/run" \
        tests/stress/stress 2 "$data" "$@" >"$work/$name" 2>"$work/$name.err" || {
        echo "$name (data $data, seed $seed) failed"
        cat "$work/$name.err"
        exit 1
    }
}

# The reference, which is also judged by itself. 96 calls: all are converted.
stress fp16 0 exact fp16 2e-3
stress fp16x2 0 exact fp16x2 1e-5
for precision in fp16 fp16x2; do
    grep -q "seen=96 converted=96 (\(.* \)*$precision=96" "$work/$precision.err" || {
        cat "$work/$precision.err"
        exit 1
    }
done
seed=$first
while [ "$seed" -lt $((first + seeds)) ]; do
    precision=fp16
    [ $((seed % 4)) -ne 0 ] || precision=fp16x2
    stress dynamic "$seed" dynamic $precision
    cmp -s "$work/$precision" "$work/dynamic" || {
        echo "data $data, seed $seed, $precision: dynamic and exact differ:"
        diff "$work/$precision" "$work/dynamic" | head -n 10
        exit 1
    }
    seed=$((seed + 1))
done
echo "$seeds seeds from $first on, data $data: equal to exact"
