#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The mutants driver, on a toy project of one file: what is killed, survives, does not apply or does
# not build, and that the file is as before afterwards.
set -eu
driver=$(cd "${srcdir:-.}" && pwd)/tests/mutants/run
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source" "$work/build" "$work/mutants"
# shellcheck disable=SC2016 # the text of a script
printf '#!/bin/sh\na=1\nb=2\n[ $a -eq 1 ]\n' >"$work/source/toy"

# "Builds" by a syntax check; runs the copy as the only test, leaving what Automake leaves.
cat >"$work/build/Makefile" <<'END'
TESTS = toy
softgpu:
	sh -n ../source/toy && cp ../source/toy toy
check-TESTS:
	if sh toy; then r=PASS; else r=FAIL; fi; echo ":global-test-result: $$r" >$(TESTS).trs
END

# mutant NAME OLD NEW
mutant()
{
    printf 'file: toy\nwhat: %s\ntests: toy\n--- old\n%s\n--- new\n%s\n' "$1" "$2" "$3" \
        >"$work/mutants/$1.mutant"
}

# expect NAME VERDICT STATUS
expect()
{
    status=0
    out=$("$driver" --mutants "$work/mutants" --source "$work/source" --build "$work/build" "$1" 2>&1) ||
        status=$?
    case $out in
    "$2 "*) ;;
    *) status=wrong ;;
    esac
    if [ "$status" != "$3" ]; then
        printf '%s: expected %s and status %s, got %s:\n%s\n' "$1" "$2" "$3" "$status" "$out"
        exit 1
    fi
}

cp "$work/source/toy" "$work/before"
mutant noticed a=1 a=2
mutant unnoticed b=2 b=3
mutant elsewhere c=3 c=4
mutant ambiguous 'a' 'x'
mutant unbuilt 'b=2' 'if'
printf 'file: toy\n--- new\nx\n' >"$work/mutants/malformed.mutant"
expect noticed killed 0
expect unnoticed SURVIVED 1
expect elsewhere BROKEN 1
expect ambiguous BROKEN 1
expect unbuilt BROKEN 1
expect malformed BROKEN 1
expect missing BROKEN 1
cmp "$work/source/toy" "$work/before"

# A test that fails without a mutant proves nothing.
sed 's/a=1/a=7/' "$work/before" >"$work/source/toy"
mutant noticed b=2 b=3
status=0
"$driver" --mutants "$work/mutants" --source "$work/source" --build "$work/build" noticed \
    >"$work/out" 2>&1 || status=$?
[ "$status" -eq 1 ] && grep -q 'fails without any mutant' "$work/out"

# Those of the project apply to its sources as they are.
"$driver" --apply --source "$(dirname "$driver")/../.."
mutant elsewhere c=3 c=4
if "$driver" --apply --mutants "$work/mutants" --source "$work/source" >"$work/out"; then
    echo "a mutant that does not apply was not noticed"
    exit 1
fi
grep -q '^BROKEN   elsewhere' "$work/out"
