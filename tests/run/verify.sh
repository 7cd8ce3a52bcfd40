#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# APEXSHIM_VERIFY: the error that the shim reports is the one that the program itself finds against
# float64 (FP32's own error is a thousandth of it); the results are those without verification.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
seed=$(date +%s)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$* (seed $seed)"
    cat "$work/err"
    exit 1
}

# run SIZE [VARIABLE=VALUE...]
run() {
    size=$1
    shift
    env "$@" SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always "$srcdir/tests/softgpu/run" \
        tests/conformance/accuracy "$size" "$seed" >"$work/out" 2>"$work/err" || fail "failed: $*"
}

for precision in fp16 tf32 bf16 fp16x2; do
    run 200 APEXSHIM_PRECISION=$precision
    cp "$work/out" "$work/plain"
    grep -q 'verified' "$work/err" && fail "verified without being asked"
    run 200 APEXSHIM_PRECISION=$precision APEXSHIM_VERIFY=1
    cmp -s "$work/out" "$work/plain" || fail "$precision: verification changed a result"
    found=$(awk '$2 > worst { worst = $2 } END { print worst }' "$work/out")
    said=$(sed -n 's/.*verified calls=3, worst error .* = \([0-9.e+-]*\):.*/\1/p' "$work/err")
    echo "$precision: the program finds $found, the shim ${said:-nothing}"
    [ $precision = fp16x2 ] && limit=0.5 || limit=0.01
    awk -v a="$found" -v b="${said:-0}" -v limit="$limit" \
        'BEGIN { exit !(b > a * (1 - limit) && b < a * (1 + limit)) }' ||
        fail "$precision: the program finds $found, the shim says ${said:-nothing}"
done
# Each third call of a site, the first one included: of three calls of one site, one.
run 100 APEXSHIM_VERIFY=3
grep -q 'verified calls=1,' "$work/err" || fail "not one of three calls was verified"
