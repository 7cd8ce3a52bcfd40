#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What cannot be intercepted: the limit is shown (the GEMM runs in FP32) and the user is told, by
# name and with what to do. Where there is nothing to say, nothing is said.
set -eu
# shellcheck source=tests/run/ways.inc
. "${srcdir:-.}/tests/run/ways.inc"
plugin=$(pwd)/tests/ways/.libs/plugin.so
named=$(pwd)/tests/ways/.libs/named.so
unset APEXSHIM_EXCLUDE APEXSHIM_APPS APEXSHIM_LOG

# missed NAME PATTERN MODE PROGRAM...: one GEMM in FP32, one warning.
missed()
{
    what=$1 pattern=$2
    shift 2
    way "$what" 0 "$@"
    [ "$(counted gemm.f32)" -eq 1 ] || wrong "$what: $(counted gemm.f32) GEMMs in FP32, expected 1"
    says "$what" "$pattern"
    [ "$(grep -c WARNING "$work/err")" -eq 1 ] || wrong "$what: more than one warning"
}

if [ -n "${SOFTGPU_RUNTIME-}" ]; then
    echo "left out: deepbind (the sanitizer's runtime refuses RTLD_DEEPBIND)"
else
    missed "a plugin opened with RTLD_DEEPBIND" \
        'WARNING: plugin.so is bound to cuBLAS directly.*RTLD_DEEPBIND' \
        deepbind tests/ways/loader "$plugin"
    missed "the same, by name" 'WARNING: cuBLAS was loaded, but no handle.*named.so looks names' \
        deepbind tests/ways/loader "$named"
    # where another part of the program is covered, the one that is not is named all the same
    way "one plugin covered, one not" 1 deepbind_too tests/ways/loader "$plugin" "$named"
    says "one plugin covered, one not" 'GEMMs seen=1 converted=1'
    says "one plugin covered, one not" 'WARNING: plugin.so is bound to cuBLAS directly'
    APEXSHIM_LOG=quiet
    export APEXSHIM_LOG
    way "a quiet one" 0 deepbind tests/ways/loader "$plugin"
    quiet "a quiet one" apexshim
    unset APEXSHIM_LOG
    APEXSHIM=0
    export APEXSHIM
    way "the kill switch" 0 deepbind tests/ways/loader "$plugin"
    quiet "the kill switch" apexshim
    unset APEXSHIM
fi
missed "cuBLAS linked in" \
    'WARNING: the program seems to have cuBLAS linked in statically.*-lcublas_static' \
    - tests/ways/static

for mode in plain exit constructor; do
    way "$mode, no warning" 1 "$mode" tests/ways/linked
    quiet "$mode" WARNING
done
way "plugin, no warning" 1 plugin tests/ways/loader "$plugin"
quiet "plugin" WARNING
way "by name, no warning" 1 plugin tests/ways/loader "$named"
quiet "by name" WARNING
way "loaded and not used" 0 nothing tests/ways/linked
quiet "loaded and not used" apexshim
way "a CUDA program without cuBLAS" 0 - tests/softgpu/check/programs/streams
[ "$(counted launches)" -gt 0 ] || wrong "a CUDA program without cuBLAS: has launched nothing"
quiet "a CUDA program without cuBLAS" apexshim
way "a handle and no GEMM" 0 handle tests/ways/linked
says "a handle and no GEMM" 'WARNING: a cuBLAS handle was created, but no GEMM'
way "no CUDA at all" 0 - true
quiet "no CUDA at all" apexshim
[ "$failures" -eq 0 ]
