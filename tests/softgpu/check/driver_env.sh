#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the driver's environment variables do: counts, log, injected failures, a device that fails,
# leaks, sizes, and bad values.
set -eu
unset SOFTGPU_SEED
probe=tests/softgpu/check/driver_probe
work=driver_env.dir
rm -rf "$work"
mkdir "$work"
failed=0

fail() {
    echo "FAILED: $1"
    failed=1
}

# The value of a key in a counts file.
count() {
    sed -n "s/^  \"$1\": \\([0-9.]*\\),*\$/\\1/p" "$2"
}

expect() {
    got=$(count "$1" "$2")
    [ "$got" = "$3" ] || fail "count $1 is '$got', not $3"
}

# Runs the probe in immediate mode; its output must be the lines given.
prints() {
    what=$1 want=$2
    shift 2
    got=$(env "$@" 2>"$work/err") || got="$got
status $?"
    [ "$got" = "$want" ] || {
        fail "$what: '$got', not '$want'"
        cat "$work/err"
    }
}

# ---- counts: exact, and by kernel
SOFTGPU_COUNTS=$work/counts "$probe" work >"$work/out"
[ "$(cat "$work/out")" = "sum 6144" ] || fail "the work itself: $(cat "$work/out")"
bytes=$((3 * 1024 * 4))
expect launches "$work/counts" 3
expect kernel.axpy "$work/counts" 3
expect threads "$work/counts" 3072
expect bytes.global_read "$work/counts" $((2 * bytes))
expect bytes.global_write "$work/counts" $bytes
expect flop.f32 "$work/counts" 6144
expect alloc.bytes "$work/counts" 8192
expect alloc.peak "$work/counts" 8192
expect alloc.calls "$work/counts" 2
expect calls.cuLaunchKernel "$work/counts" 3
expect calls.cuMemFree_v2 "$work/counts" 2
python3 -m json.tool "$work/counts" >/dev/null || fail "the counts are not JSON"

# ---- the log: one line a call, the same in every run
for run in 1 2; do
    SOFTGPU_LOG=$work/log.$run "$probe" work >/dev/null
done
cmp "$work/log.1" "$work/log.2" || fail "two runs log different things"
[ "$(grep -c 'launch axpy grid (4,1,1) block (256,1,1)' "$work/log.1")" = 3 ] ||
    fail "launches are not in the log"
grep -q '^cuda cuMemcpyHtoD_v2$' "$work/log.1" || fail "calls are not in the log"
if grep -q '0x' "$work/log.1"; then fail "there are addresses in the log"; fi

# ---- injected failures
prints "no failure" "sum 6144" SOFTGPU_FAIL= "$probe" work
no_memory="alloc y 2
fill 1
launch 700
launch 700
synchronize 700
download 700
free x 700
free y 700"
prints "second allocation" "$no_memory" SOFTGPU_FAIL=cuMemAlloc_v2:2:2 "$probe" work
prints "third launch" "launch 701
sum 4096" SOFTGPU_FAIL=cuLaunchKernel:3:701 "$probe" work
prints "calls of another library" "sum 6144" SOFTGPU_FAIL=cuLaunchKernel:3:701:libother.so "$probe" work
prints "calls of this program" "launch 701
sum 4096" SOFTGPU_FAIL=cuLaunchKernel:1:701:driver_probe "$probe" work
prints "two at once" "launch 701
launch 1
sum 2048" SOFTGPU_FAIL=cuLaunchKernel:1:701,cuLaunchKernel:2:1 "$probe" work

# ---- a device that fails, with another beside it; where work runs late it is noticed late
broken="synchronize 214
download 214
again 214
new context 214
sum 2048"
prints "a failing device" "launch 214
$broken" SOFTGPU_DEVICES=2 SOFTGPU_BREAK=1:2:214 "$probe" again 1
prints "a failing device, work at once" "launch 214
$broken" SOFTGPU_SEED=0 SOFTGPU_DEVICES=2 SOFTGPU_BREAK=1:2:214 "$probe" again 1
prints "a failing device, work late" "$broken" SOFTGPU_SEED=1 SOFTGPU_DEVICES=2 \
    SOFTGPU_BREAK=1:2:214 "$probe" again 1

# ---- leaks
SOFTGPU_LEAKS=1 "$probe" leak >/dev/null 2>"$work/leaks"
grep -q '1 allocation.* 4096 bytes' "$work/leaks" || fail "the leak is not reported: $(cat "$work/leaks")"
SOFTGPU_LEAKS=1 "$probe" hold >/dev/null 2>"$work/leaks"
grep -q '1 allocation of 2097152 bytes' "$work/leaks" ||
    fail "memory without an address is not reported: $(cat "$work/leaks")"
SOFTGPU_LEAKS=1 "$probe" work >/dev/null 2>"$work/leaks"
[ "$(cat "$work/leaks")" = "softgpu: no leaks: every allocation was freed" ] ||
    fail "a leak that is none: $(cat "$work/leaks")"

# ---- sizes
prints "no device" "init 100
status 1" SOFTGPU_DEVICES=0 "$probe" work
prints "too little memory" "$no_memory" SOFTGPU_MEMORY=6000 "$probe" work
prints "second device" "sum 6144" SOFTGPU_DEVICES=2 "$probe" work 1
prints "no second device" "context 101
status 1" SOFTGPU_DEVICES=1 "$probe" work 1

# ---- bad values stop the program with a message
for bad in SOFTGPU_SEED=1x SOFTGPU_DEVICES=99 SOFTGPU_FAIL=nonsense SOFTGPU_GPU=/no/such/file SOFTGPU_BREAK=x; do
    status=0
    env "$bad" "$probe" work >"$work/out" 2>"$work/err" || status=$?
    [ "$status" = 1 ] || fail "$bad: status $status"
    grep -q "^softgpu: .*${bad#*=}" "$work/err" || fail "$bad: $(cat "$work/err")"
done

[ "$failed" = 0 ] && rm -rf "$work"
exit $failed
