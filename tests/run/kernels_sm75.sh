#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The kernels in their oldest form, for GPUs without BF16 and FP8 instructions: tests/check_kernels on a
# software GPU of compute capability 7.5. Skipped where the build has no code for it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sed 's/^compute_capability .*/compute_capability 7.5/' "${srcdir:-.}/tests/softgpu/gpus/h200.txt" \
    >"$work/gpu"
SOFTGPU_GPU=$work/gpu tests/check_kernels
