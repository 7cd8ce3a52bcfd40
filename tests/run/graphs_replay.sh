#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Converted products in graphs: replays have the bits of the calls one by one, whatever the scale of
# the data, for two graphs in flight and for branches of one; memory stays flat over 1000 captures.
set -eu
srcdir=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
data=$(date +%s)
failures=0

graphs() {
    env APEXSHIM_POLICY=always SOFTGPU_WORKERS=1 \
        SOFTGPU_PRELOAD="$(pwd)/src/.libs/libapexshim.so" "$srcdir/tests/softgpu/run" \
        tests/stress/graphs "$@" >"$work/out" 2>"$work/err"
}

# check WHAT: for the seed in SOFTGPU_SEED
check() {
    if ! graphs "$1" "$data"; then
        echo "$1 (data $data, seed $SOFTGPU_SEED):"
        head -n 10 "$work/err"
        failures=$((failures + 1))
    elif ! grep -Eq 'forwarded=0( |$)' "$work/err"; then
        echo "$1: not all products were converted"
        cat "$work/err"
        failures=$((failures + 1))
    fi
}

first=${SOFTGPU_SEED:-1}
export SOFTGPU_SEED
for seed in 0 1 2; do
    SOFTGPU_SEED=$((first + seed))
    for what in replay flight fork branches moved update; do
        check $what
    done
done
graphs flat "$data" 1000
read -r early late <"$work/out"
if [ "$late" -gt "$early" ]; then
    echo "memory grew from $early to $late bytes over 1000 captures"
    failures=$((failures + 1))
fi
exit $failures
