#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is seen besides GEMMs: cuDNN's calls once each, whichever way they come; memory that the
# program needs; contexts that end; the shares of the work.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SOFTGPU_PRELOAD

fail() {
    echo "$*"
    cat "$work/out" "$work/err"
    exit 1
}

# run PROGRAM [VARIABLE=VALUE...]
run() {
    program=$1
    shift
    env APEXSHIM_POLICY=always "$@" "$srcdir/tests/softgpu/run" "tests/ways/$program" \
        >"$work/out" 2>"$work/err" || fail "$program $*: failed with $?"
}

said() {
    grep -qF "$1" "$work/err" || fail "not said: $1"
}

cudnn=LD_LIBRARY_PATH=$(pwd)/tests/ways/cudnn9/.libs
run cudnn "$cudnn"
run cudnn "$cudnn" SOFTGPU_PRELOAD="$so"
said " $(cat "$work/out")"
run cudnn "$cudnn" SOFTGPU_PRELOAD="$so" APEXSHIM=0

run pressure SOFTGPU_MEMORY=100000000
run pressure SOFTGPU_MEMORY=100000000 SOFTGPU_PRELOAD="$so"
said "seen=2 converted=1 (fp16=1 tf32=0) forwarded=1 (scratch=1)" # no room for the second
read -r before after <"$work/out"
[ "$after" -lt "$before" ] || fail "the GEMM has left no scratch memory behind"

run contexts SOFTGPU_PRELOAD="$so"
said "$(cat "$work/out") (fp16=12"

run work SOFTGPU_PRELOAD="$so"
said "$(cat "$work/out")"
run work SOFTGPU_PRELOAD="$so" APEXSHIM_PRECISION=fp32
said "converted 0.0%"
run work SOFTGPU_PRELOAD="$so" APEXSHIM_LOG=quiet
[ ! -s "$work/err" ] || fail "quiet, and yet something was said"
