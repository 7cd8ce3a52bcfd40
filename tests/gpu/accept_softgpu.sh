#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tests/gpu/accept, tried on the software GPU: its table is printed, called modelled, and written as
# JSON; without a GPU and without --softgpu it says so and is skipped.
set -eu
top=$(cd "${srcdir:-.}" && pwd)
json=$PWD/accept_softgpu.$$.json
trap 'rm -f "$json"' EXIT

status=0
out=$("$top/tests/gpu/accept" --softgpu --build . --parts conformance,gemm --json "$json") || status=$?
printf '%s\n' "$out"
[ "$status" -eq 0 ]
printf '%s\n' "$out" | grep -q '^conformance *passed'
printf '%s\n' "$out" | grep -q '^gemm *passed'
printf '%s\n' "$out" | grep -q 'times modelled'
python3 - "$json" <<'END'
import json, sys
result = json.load(open(sys.argv[1]))
assert result["kind"] == "softgpu" and result["times"] == "modelled", result
assert [row["n"] for row in result["gemm"]] == [64, 128, 256], result["gemm"]
assert all(0 < row["always_error"] < 1e-3 for row in result["gemm"]), result["gemm"]
END

if ! nvidia-smi -L >/dev/null 2>&1 && [ ! -e /dev/nvidiactl ]; then
    status=0
    "$top/tests/gpu/accept" || status=$?
    [ "$status" -eq 77 ]
fi
