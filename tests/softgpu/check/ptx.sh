#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Compiles one .cu to PTX by nvcc for compute_75 and compute_90 and, where --clang is given and a
# clang is found that can, by clang for sm_75.
# usage: ptx.sh [--clang] NVCC CUDA_DIR SOURCE.cu OUTPUT_DIR
set -e
clang=
if [ "$1" = --clang ]; then
    clang=${CLANG-clang}
    shift
fi
nvcc=$1 cuda=$2 source=$3 out=$4
name=$(basename "$source" .cu)
mkdir -p "$out"
for arch in 75 90; do
    "$nvcc" -ptx -std=c++17 -arch="compute_$arch" -o "$out/$name.compute_$arch.ptx" "$source"
done
[ -n "$clang" ] || exit 0
rm -f "$out/$name.clang.ptx"
command -v "$clang" >/dev/null 2>&1 || exit 0
# clang asks for a header that the toolkit no longer has
stub=$(mktemp -d "$out/stub.XXXXXX")
trap 'rm -rf "$stub"' EXIT
: >"$stub/texture_fetch_functions.h"
if "$clang" -x cuda --cuda-device-only --cuda-gpu-arch=sm_75 --cuda-path="$cuda" -S -O2 -std=c++17 \
    -ffp-contract=off -Wno-unknown-cuda-version -D__CLANG_CUDA_TEXTURE_INTRINSICS_H__ -I"$stub" \
    -o "$stub/out.ptx" "$source" >"$stub/log" 2>&1; then
    mv "$stub/out.ptx" "$out/$name.clang.ptx"
fi
