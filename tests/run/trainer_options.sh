#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The trainer's options: help, and one line on standard error with status 1 for what is wrong.
set -eu
srcdir=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SOFTGPU_PRELOAD

fail() {
    echo "$*"
    exit 1
}

trainer() {
    "$srcdir/tests/softgpu/run" tests/programs/train_charlm "$@"
}

# refused WORDS OPTION...: WORDS must stand in the message
refused() {
    words=$1 status=0
    shift
    trainer "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq 1 ] || fail "$*: status $status"
    [ ! -s "$work/out" ] || fail "$*: printed something"
    [ "$(wc -l <"$work/err")" -eq 1 ] || { cat "$work/err"; fail "$*: not one line"; }
    grep -q "^train_charlm: .*$words" "$work/err" || { cat "$work/err"; fail "$*: no '$words'"; }
}

trainer --help >"$work/help"
for option in text steps batch context layers heads width lr seed val-every sample loss-scale graph \
    dump quiet; do
    grep -q -- "--$option" "$work/help" || fail "--help does not know --$option"
done
printf 'too short' >"$work/short"
refused 'no such option' --stepps 3
refused 'not an option' 3
refused 'wants a value' --steps
refused 'not a whole number' --steps many
refused 'not a whole number' --batch 0
refused 'not a whole number' --layers 1.5
refused 'not a positive number' --lr 0
refused 'not a positive number' --lr nan
refused 'not a power of two' --loss-scale 3
refused 'not a positive number' --loss-scale -2
refused 'does not divide' --heads 3 --width 64
refused 'No such file' --text "$work/none"
refused 'not a regular file' --text "$work"
refused 'too few' --text "$work/short"
refused 'too large' --batch 65536 --context 16384 --heads 4

tiny="--batch 2 --context 16 --layers 1 --heads 2 --width 16"
# shellcheck disable=SC2086 # the sizes are options
{
    trainer --steps 4 --val-every 2 --sample 5 $tiny >"$work/full"
    trainer --steps 4 --quiet $tiny >"$work/quiet"
    trainer --steps 4 --seed 2 --quiet $tiny >"$work/seed"
}
grep '^val_loss' "$work/full" | cmp - "$work/quiet" || fail "--quiet prints another loss"
! cmp -s "$work/quiet" "$work/seed" || fail "--seed changes nothing"
[ "$(grep -c '^step [0-9]* loss ' "$work/full")" -eq 4 ] || fail "not one line for each step"
[ "$(grep -c '^step 2 val_loss ' "$work/full")" -eq 1 ] || fail "--val-every 2 did not validate"

# Three products of layers of this size: names, sizes and operands, in as many bytes.
# shellcheck disable=SC2086 # the sizes are options
trainer --steps 2 --quiet --dump "$work/dump" $tiny >/dev/null
vocabulary=$(sed -n 's/^text .*, \([0-9]*\) different$/\1/p' "$work/full")
n=$((vocabulary < 64 ? vocabulary : 64))
numbers=$((16 * 64 + 64 * 32 + 16 * vocabulary + vocabulary * 32 + 16 * 32 + 32 * n))
[ "$(wc -c <"$work/dump")" -eq $((3 * (32 + 12) + 4 * numbers)) ] || fail "--dump: wrong size"
