#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apexshim tune: the figures that it finds follow the GPU that it runs on, are called modelled on the
# software GPU, and are read by the next run; with a program it is a tuning run of that program.
set -eu
srcdir=${srcdir:-.}
# Programs that start others under the preload themselves can't put the sanitizers' runtime first.
if [ -n "${SOFTGPU_RUNTIME-}" ]; then
    echo "not with sanitizers: apexshim tune starts programs with a preload of its own"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SOFTGPU_PRELOAD
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

fail() {
    echo "$*"
    [ ! -e "$work/out" ] || cat "$work/out"
    exit 1
}

apexshim() {
    "$srcdir/tests/softgpu/run" tools/apexshim "$@" >"$work/out" 2>&1
}

# figure FILE KEY
figure() {
    sed -n "s/^$2 = //p" "$1"
}

# near WHAT VALUE LOW HIGH
near() {
    awk -v x="$2" -v low="$3" -v high="$4" 'BEGIN { exit !(x >= low && x <= high) }' ||
        fail "$1 is $2, not within $3 to $4"
}

apexshim tune --seconds 0.01 || fail "tune failed"
first=$work/cache/apexshim/tune-nvidia-h200-software-gpu.ini
grep -q "written to $first" "$work/out" || fail "the file is not named"
grep -q 'times modelled' "$work/out" || fail "the output calls modelled times measured"
grep -q '^times = modelled' "$first" || fail "the file calls modelled times measured"
grep -q '^tf32 *[0-9]' "$work/out" || fail "the sweep has no TF32"
grep -q '^bf16x6 *[0-9]' "$work/out" || fail "the sweep has no bf16x6"
# What the description of the GPU says, less what a launch takes of a copy.
near bandwidth "$(figure "$first" bandwidth)" 4.2e12 4.8e12
near launch "$(figure "$first" launch)" 0.3e-6 4e-6

# A GPU with a third of the bandwidth.
sed 's/^bandwidth_gbs .*/bandwidth_gbs 1600/; s/^name .*/name A narrow H200 (software GPU)/' \
    "$srcdir/tests/softgpu/gpus/h200.txt" >"$work/narrow.txt"
SOFTGPU_GPU=$work/narrow.txt
export SOFTGPU_GPU
APEXSHIM_TUNE=$work/narrow.ini apexshim tune --seconds 0.01 || fail "tune failed"
unset SOFTGPU_GPU
near 'narrow bandwidth' "$(figure "$work/narrow.ini" bandwidth)" 1.4e12 1.6e12
[ "$(figure "$work/narrow.ini" gpu)" = 'A narrow H200 (software GPU)' ] || fail "another GPU's name"

# The next run reads the figures; those of another GPU cost one line.
trainer="tests/programs/train_charlm --steps 1 --quiet --batch 2 --context 16 --layers 1 --heads 2 --width 16"
# shellcheck disable=SC2086 # the sizes are options
{
    apexshim run --log info $trainer || fail "the trainer failed"
    grep -q "figures of this GPU from $first" "$work/out" || fail "the figures are not read"
    apexshim run --tune "$work/narrow.ini" $trainer || fail "the trainer failed"
    [ "$(grep -c 'APEXSHIM_TUNE: .* expected figures of NVIDIA H200' "$work/out")" -eq 1 ] ||
        fail "the figures of another GPU are taken"

    # With a program: a tuning run. Status and arguments are the program's.
    apexshim tune --tolerance 1e-2 --policy always --decisions "$work/decisions.ini" -- $trainer ||
        fail "the tuning run failed"
    grep -q '^tolerance = 0.01$' "$work/decisions.ini" || fail "the tolerance is another"
    grep -q '^path = bf16$' "$work/decisions.ini" || fail "nothing takes bf16 under 1e-2"
}
status=0
apexshim tune -- sh -c 'exit 5' || status=$?
[ "$status" -eq 5 ] || fail "status $status is not the program's"
for wrong in '--seconds' '--seconds x' '--tolerance 2 true' '--tolerance' '--no-such 1 true'; do
    status=0
    # shellcheck disable=SC2086 # words
    apexshim tune $wrong || status=$?
    [ "$status" -eq 2 ] || fail "tune $wrong: status $status"
done
