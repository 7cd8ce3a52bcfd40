#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Small programs, built by nvcc with the shared runtime, each of which checks what it sees. Every one
# runs in order and with two orders of the adversarial scheduler.
set -eu
programs=tests/softgpu/check/programs
run=${srcdir:-.}/tests/softgpu/run
failed=0 ran=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# check VARIABLES PROGRAM ARGS...
check() {
    variables=$1
    shift
    ran=$((ran + 1))
    # shellcheck disable=SC2086
    if ! env $variables "$run" "$@" >"$output" 2>&1; then
        echo "fails: $variables $*"
        cat "$output"
        failed=$((failed + 1))
    fi
}

for seed in 0 1 2; do
    scheduler=SOFTGPU_SEED=$seed
    for name in arrays devices errors graphs ipc linked linked_ptx managed memory registration streams \
        streams_per_thread symbols; do
        check "$scheduler" "$programs/$name"
    done
    check "$scheduler SOFTGPU_DEVICES=3" "$programs/devices"
    check "$scheduler" "$programs/plugin_host" "$programs/plugin.so"
done

# Every name of the real library, with its version node, and no other.
ran=$((ran + 1))
sed -n 's/^NAME(\(.*\))$/\1@@libcudart.so.13/p' "${srcdir:-.}/tests/softgpu/cudart/names.def" |
    LC_ALL=C sort >"$output"
if ! LC_ALL=C nm -D --defined-only tests/softgpu/.libs/libcudart.so.13 |
    LC_ALL=C awk '$2 ~ /[TW]/ { print $3 }' | LC_ALL=C sort | diff - "$output"; then
    echo "libcudart.so.13 exports other names"
    failed=$((failed + 1))
fi

# The exit status and the signal are the program's, and nothing is added to what it prints.
status=0
"$run" sh -c 'echo out; exit 7' >"$output" 2>&1 || status=$?
ran=$((ran + 1))
if [ "$status" -ne 7 ] || [ "$(cat "$output")" != out ]; then
    echo "run: status $status, output: $(cat "$output")"
    failed=$((failed + 1))
fi
status=0
# shellcheck disable=SC2016
SOFTGPU_PRELOAD=/nowhere/preload.so "$run" sh -c 'echo "$LD_PRELOAD"; kill -9 $$' >"$output" 2>&1 || status=$?
ran=$((ran + 1))
if [ "$status" -ne 137 ] || ! grep -q '^[^ ]*/nowhere/preload.so$' "$output"; then
    echo "run with a preload: status $status, output: $(cat "$output")"
    failed=$((failed + 1))
fi

echo "$ran runs, $failed failed"
[ "$failed" -eq 0 ]
