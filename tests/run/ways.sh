#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every way in which a program can reach cuBLAS: the GEMM must be converted, by the software GPU's
# own count. And the one way that cannot be caught (RTLD_DEEPBIND) stays what it is.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

counted() {
    sed -n "s/.*\"$1\": *\\([0-9]*\\).*/\\1/p" "$work/counts"
}

# way NAME FP16_GEMMS PROGRAM [ARGUMENT...]: NAME is the mode
way() {
    name=$1 wanted=$2
    shift 2
    rm -f "$work/counts"
    if env WAYS_MODE="$name" SOFTGPU_COUNTS="$work/counts" SOFTGPU_PRELOAD="$so" \
        APEXSHIM_POLICY=always "$srcdir/tests/softgpu/run" "$@" >"$work/out" 2>"$work/err"; then
        got=$(counted gemm.f16)
        if [ "${got:-0}" -eq "$wanted" ]; then
            echo "ok: $name"
            return
        fi
        echo "$name: ${got:-0} GEMMs in FP16, expected $wanted"
    else
        echo "$name: failed with $?"
    fi
    cat "$work/out" "$work/err"
    failures=$((failures + 1))
}

plugin=$(pwd)/tests/ways/.libs/plugin.so
way plain 1 tests/ways/linked
way constructor 1 tests/ways/linked
way exit 1 tests/ways/linked
way threads 8 tests/ways/linked
way plugin 1 tests/ways/loader "$plugin"
way dlsym 1 tests/ways/loader
way dlvsym 1 tests/ways/loader
way default 1 tests/ways/loader
way next 1 tests/ways/loader
way reload 3 tests/ways/loader
# Python keeps what it allocates to the end.
ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0
export ASAN_OPTIONS
way ctypes 1 python3 "$srcdir/tests/ways/ctypes_gemm.py"
for major in 11 12; do # of other CUDA versions: same entry points, other version nodes
    for mode in dlsym dlvsym; do
        LD_LIBRARY_PATH="$(pwd)/tests/softgpu/cuda$major/.libs" \
            way "$mode" 1 tests/ways/loader "libcublas.so.$major"
    done
done
if [ -n "${SOFTGPU_RUNTIME-}" ]; then
    echo "left out: deepbind (the sanitizer's runtime refuses RTLD_DEEPBIND)"
else
    way deepbind 0 tests/ways/loader "$plugin"
fi
[ "$failures" -eq 0 ]
