#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every argument of a forwarded call arrives in the library bit for bit, the status and errno come
# back unchanged, and nothing else is called: against a cuBLAS that only takes notes.
set -eu
srcdir=${srcdir:-.}
probe=tests/conformance/spy/probe
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The spies know all GEMMs and their neighbours that symbols.def lists.
"$probe" --list | sort >"$work/probed"
sed -n -e 's/^HOOK(CUBLAS, \(cublas[A-Za-z0-9]*gemm[A-Za-z0-9_]*\))$/\1/pI' \
    -e 's/^HOOK(CUBLASLT, \(cublasLtMatmul\))$/\1/p' \
    -e 's/^SEEN(CUBLAS, \([A-Za-z0-9_]*\), \(LEGACY\|GROUPED\|DOUBLE\|HALF\|COMPLEX\|LEVEL3\|GEMV\))$/\1/p' \
    "$srcdir/src/symbols.def" | sort >"$work/listed"
[ "$(grep -ic gemm "$work/listed")" -ge 60 ] || { echo "too few in symbols.def"; exit 1; }
comm -13 "$work/probed" "$work/listed" >"$work/missing"
if [ -s "$work/missing" ]; then
    echo "tests/conformance/spy/entries.def lacks:"
    cat "$work/missing"
    exit 1
fi

calls=${CONFORMANCE_CASES:-200}
seed=${CONFORMANCE_SEED:-$(date +%s)}
echo "seed $seed"

# run SEEN [VARIABLE=VALUE...]: SEEN is how many GEMMs the preload must say it saw
run() {
    expected=$1
    shift
    printf '%s: ' "$*"
    env "$@" LD_PRELOAD="${SOFTGPU_RUNTIME-}${SOFTGPU_RUNTIME:+:}$so" "$probe" "$calls" "$seed" \
        2>"$work/err" || { cat "$work/err"; exit 1; }
    seen=$(sed -n 's/.*GEMMs seen=\([0-9]*\) converted=0 .*/\1/p' "$work/err")
    [ "${seen:-0}" -eq "$expected" ] || { echo "seen ${seen:-0} of $expected"; exit 1; }
}
all=$(($(grep -ic -e gemm -e cublasLtMatmul "$work/probed") * calls))
"$probe" "$calls" "$seed"
run 0 APEXSHIM=0
run "$all" APEXSHIM_PRECISION=fp32
run "$all" APEXSHIM_OPT_LEVEL=O0
run "$all" NVIDIA_TF32_OVERRIDE=0
run 0 APEXSHIM_APPS=nothing
# No GPU is there, so that the others are forwarded too.
run "$all" APEXSHIM_PRECISION=tf32 APEXSHIM_POLICY=always
run "$all" APEXSHIM_PRECISION=fp16 APEXSHIM_POLICY=always
