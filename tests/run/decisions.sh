#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A tuning run writes a decision file; another run reads it, computes what it says and leaves it as it
# is. A file that is cut off or of another GPU costs one line and nothing else.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SOFTGPU_PRELOAD
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME
file=$work/cache/apexshim/decisions-train-charlm-nvidia-h200-software-gpu.ini

fail() {
    echo "$*"
    [ ! -e "$work/$name.err" ] || cat "$work/$name.err"
    exit 1
}

# run NAME [VARIABLE=VALUE...]
run() {
    name=$1
    shift
    env "$@" SOFTGPU_PRELOAD="$so" SOFTGPU_COUNTS="$work/$name.counts" "$srcdir/tests/softgpu/run" \
        tests/programs/train_charlm --steps 6 --sample 8 --quiet --batch 2 --context 16 --layers 1 \
        --heads 2 --width 16 >"$work/$name.out" 2>"$work/$name.err" || fail "$name failed"
}

executed() {
    value=$(sed -n "s/.*\"gemm\.$2\": *\([0-9]*\).*/\1/p" "$work/$1.counts")
    echo "${value:-0}"
}

run small
seen=$(sed -n 's/.*seen=\([0-9]*\).*/\1/p' "$work/small.err")
[ "$(executed small f32)" -eq "$seen" ] || fail "the model of the GPU converts products of 16 elements"
[ ! -e "$work/cache" ] || fail "a run that does not tune writes files"

run tune APEXSHIM_PRECISION=auto:1e-3 APEXSHIM_POLICY=always
grep -q "decisions for [0-9]* sites written to $file" "$work/tune.err" || fail "no decisions are written"
# Eight bits of BF16 are an error of about 2e-3, eleven bits one of 3e-4.
grep -q '^path = fp16$' "$file" || fail "nothing takes fp16"
! grep -q '^path = bf16$' "$file" || fail "bf16 passes a tolerance of 1e-3"
awk '/^\[gemm\]/ { path = "" } /^path =/ { path = $3 }
     /^error =/ { if ($3 > 1e-3 || path == "forward") bad = 1 } END { exit bad }' "$file" ||
    fail "an error is over the tolerance"
cp "$file" "$work/first.ini"

run tuned
tuned=$(executed tuned f16)
[ "$tuned" -gt $((seen / 2)) ] || fail "the decision file has no effect"
grep -q "fp16=$tuned " "$work/tuned.err" || fail "the summary does not say what was computed"
run again
cmp "$work/tuned.out" "$work/again.out" || fail "equal runs differ"
cmp "$work/first.ini" "$file" || fail "a run that does not tune changes the file"

# TF32 was asked for because it needs no memory, FP32-class for its precision.
run tf32 APEXSHIM_PRECISION=tf32
[ "$(executed tf32 f16)" -eq 0 ] || fail "the file lowers what tf32 promises"
run exact APEXSHIM_PRECISION=fp16x2
[ "$(executed exact f16)" -eq 0 ] || fail "the file lowers what fp16x2 promises"
run off APEXSHIM_DECISIONS=off
cmp "$work/small.out" "$work/off.out" || fail "APEXSHIM_DECISIONS=off is not without decisions"
run reproducible APEXSHIM_PRESET=reproducible
cmp "$work/small.out" "$work/reproducible.out" || fail "reproducible reads the decision file"

head -c 700 "$work/first.ini" >"$file"
run cut
cmp "$work/small.out" "$work/cut.out" || fail "a cut file changes the results"
[ "$(grep -c 'APEXSHIM_DECISIONS: .*ignored' "$work/cut.err")" -eq 1 ] || fail "not one line about it"
sed 's/^gpu = .*/gpu = Voodoo 2/' "$work/first.ini" >"$file"
run other
cmp "$work/small.out" "$work/other.out" || fail "decisions of another GPU are taken"
grep -q "APEXSHIM_DECISIONS: $file:4: expected decisions for NVIDIA H200" "$work/other.err" ||
    fail "the line does not say why"

# A tighter tolerance needs more pieces; the named file is the one that is written.
run tight APEXSHIM_PRECISION=auto:2e-5 APEXSHIM_POLICY=always APEXSHIM_DECISIONS="$work/tight.ini"
grep -q '^path = bf16x3$' "$work/tight.ini" || fail "nothing takes bf16x3 under 2e-5"
! grep -qE '^path = (b?fp?16|tf32)$' "$work/tight.ini" || fail "one piece passes 2e-5"
