#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Two major versions of cuBLAS in one process: each call must reach its own, and be converted.
set -eu
# shellcheck source=tests/run/ways.inc
. "${srcdir:-.}/tests/run/ways.inc"
softgpu=$(pwd)/tests/softgpu
LD_LIBRARY_PATH=$softgpu/cuda11/.libs:$softgpu/cuda12/.libs
export LD_LIBRARY_PATH
plugin11=$(pwd)/tests/ways/.libs/plugin11.so
plugin12=$(pwd)/tests/ways/.libs/plugin12.so

for pair in "11 12" "12 11" "13 11" "12 13"; do
    a=libcublas.so.${pair% *} b=libcublas.so.${pair#* }
    way "two $pair" 6 two tests/ways/majors "$a" "$b"
    way "two_threads $pair" 6 two_threads tests/ways/majors "$a" "$b"
    way "two_lt $pair" 0 two_lt tests/ways/majors "libcublasLt.so.${pair% *}" \
        "libcublasLt.so.${pair#* }"
    way "two_legacy $pair" 0 two_legacy tests/ways/majors "$a" "$b"
done
way "two_plugins 11 12" 6 two_plugins tests/ways/majors "$plugin11" "$plugin12"
way "two_plugins 12 11" 6 two_plugins tests/ways/majors "$plugin12" "$plugin11"
way "linked with 13, a plugin with 11" 4 with_plugin tests/ways/linked "$plugin11"
way "linked with 13, a plugin with 12" 4 with_plugin tests/ways/linked "$plugin12"
[ "$failures" -eq 0 ]
