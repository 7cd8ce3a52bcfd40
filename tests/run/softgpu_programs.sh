#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ten programs of the kinds that people write run on the software GPU, in order and in one order of
# the adversarial scheduler. Each checks its own result.
set -eu
run=${srcdir:-.}/tests/softgpu/run
here=tests/softgpu/programs
there=tests/softgpu/check/programs
failed=0 ran=0
output=$(mktemp)
trap 'rm -f "$output"' EXIT

check() {
    for seed in 0 5; do
        ran=$((ran + 1))
        if ! SOFTGPU_SEED=$seed "$run" "$@" >"$output" 2>&1; then
            echo "fails with seed $seed: $*"
            failed=$((failed + 1))
        fi
        cat "$output"
    done
}

for name in batched burn cg cg_graph lt per_thread pipeline; do
    check "$here/$name"
done
check "$there/linked"
check "$there/managed"
check "$there/plugin_host" "$there/plugin.so"
echo "$ran runs of 10 programs, $failed failed"
[ "$failed" -eq 0 ]
