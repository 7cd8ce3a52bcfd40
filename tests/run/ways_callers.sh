#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Who is meant: libraries that are left alone (APEXSHIM_EXCLUDE), programs (APEXSHIM_APPS), and
# libraries that come and go.
set -eu
# shellcheck source=tests/run/ways.inc
. "${srcdir:-.}/tests/run/ways.inc"
for name in libcusolver.so.12 libcudnn_ops.so.9 libplain.so libcublasmg.so.1; do
    cp tests/ways/.libs/plugin.so "$work/$name"
done
unset APEXSHIM_EXCLUDE APEXSHIM_APPS

# excluded NAME FP16 FP32 OBJECT...: that many GEMMs run in FP16 and in FP32.
excluded()
{
    what=$1 fp16=$2 fp32=$3
    shift 3
    way "$what" "$fp16" inside tests/ways/unload "$@"
    [ "$(counted gemm.f32)" -eq "$fp32" ] ||
        wrong "$what: $(counted gemm.f32) GEMMs in FP32, expected $fp32"
    [ "$fp32" -eq 0 ] || says "$what" "forwarded=$fp32 \\(excluded=$fp32\\)"
}

excluded "not excluded" 1 0 "$work/libplain.so"
excluded "libcusolver" 0 1 "$work/libcusolver.so.12"
excluded "libcudnn" 0 1 "$work/libcudnn_ops.so.9"
excluded "libcublasmg" 0 1 "$work/libcublasmg.so.1"
excluded "one excluded, one not" 1 2 "$work/libcusolver.so.12" "$work/libplain.so" \
    "$work/libcudnn_ops.so.9"
APEXSHIM_EXCLUDE='libother*,libplai?.so'
export APEXSHIM_EXCLUDE
excluded "another list" 1 1 "$work/libcusolver.so.12" "$work/libplain.so"
APEXSHIM_EXCLUDE=
excluded "an empty list" 2 0 "$work/libcusolver.so.12" "$work/libplain.so"
unset APEXSHIM_EXCLUDE

# A call site of a library that is left alone may come back as one of another library.
way "swap" 3 swap tests/ways/unload "$work/libcusolver.so.12" "$work/libplain.so"
way "swap, the other first" 3 swap tests/ways/unload "$work/libplain.so" "$work/libcusolver.so.12"
way "moved" 2 moved tests/ways/unload libcublas.so.13 libcublasLt.so.13

# app NAME FP16 LIST: the program is called "linked".
app()
{
    APEXSHIM_APPS=$3
    export APEXSHIM_APPS
    way "APEXSHIM_APPS=$3" "$2" plain tests/ways/linked
    [ "$(($(counted gemm.f32) + $(counted gemm.f16)))" -eq 1 ] || wrong "$1: not one GEMM"
    if [ "$2" -eq 0 ]; then
        quiet "$1" apexshim
    else
        says "$1" 'seen=1 converted=1'
    fi
}

app "all" 1 '*'
app "by name" 1 linked
app "by pattern" 1 'python*,lin?ed'
app "others" 0 'python*,link'
app "none" 0 ''
[ "$failures" -eq 0 ]
