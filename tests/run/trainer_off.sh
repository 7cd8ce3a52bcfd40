#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# With APEXSHIM=0 and with APEXSHIM_OPT_LEVEL=O0 the trainer prints the same bytes as without the
# preload, and the software GPU sees the same calls, launches and allocations.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SOFTGPU_PRELOAD

# run NAME [VARIABLE=VALUE...]
run() {
    name=$1
    shift
    env "$@" SOFTGPU_LOG="$work/$name.log" "$srcdir/tests/softgpu/run" tests/programs/train_charlm \
        --steps 3 --batch 2 --context 16 --layers 1 --heads 2 --width 16 --sample 8 \
        >"$work/$name.out" 2>"$work/$name.err" || { cat "$work/$name.err"; exit 1; }
}

run plain
[ ! -s "$work/plain.err" ] || { cat "$work/plain.err"; exit 1; }
grep -q '^val_loss [0-9.]*$' "$work/plain.out" || { cat "$work/plain.out"; exit 1; }
grep -q 'cublasSgemm' "$work/plain.log" || { echo "the log shows no cuBLAS call"; exit 1; }
run zero SOFTGPU_PRELOAD="$so" APEXSHIM=0 APEXSHIM_POLICY=always
run O0 SOFTGPU_PRELOAD="$so" APEXSHIM_OPT_LEVEL=O0 APEXSHIM_POLICY=always
status=0
for name in zero O0; do
    for kind in out log; do
        if ! cmp "$work/plain.$kind" "$work/$name.$kind"; then
            diff "$work/plain.$kind" "$work/$name.$kind" | head -n 20
            status=1
        fi
    done
done
if [ -s "$work/zero.err" ]; then
    cat "$work/zero.err"
    echo "APEXSHIM=0 printed something"
    status=1
fi
if ! grep -q 'GEMMs seen=[1-9][0-9]* converted=0 ' "$work/O0.err"; then
    cat "$work/O0.err"
    echo "O0 did not observe"
    status=1
fi
exit "$status"
