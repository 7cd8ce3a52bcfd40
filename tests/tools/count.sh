#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/count-tests counts what Check programs and scripts leave behind.
set -eu
count=$(cd "${srcdir:-.}" && pwd)/tools/count-tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# result NAME RESULT [LINE OF LOG]
result()
{
    mkdir -p "$(dirname "$work/$1")"
    printf ':test-result: %s\n:global-test-result: %s\n:recheck: no\n' "$2" "$2" >"$work/$1.trs"
    printf '%s\n' "${3-}" >"$work/$1.log"
}

expect()
{
    got=$("$count" "$work")
    if [ "$got" != "$1" ]; then
        echo "expected '$1', got '$got': $2"
        exit 1
    fi
}

expect "0 0 0" "an empty tree"
result a/script.sh PASS
expect "1 0 0" "a script counts as one"
result b/check_good PASS "100%: Checks: 12, Failures: 0, Errors: 0"
expect "13 0 0" "a Check program counts its tests"
result b/check_bad FAIL "80%: Checks: 10, Failures: 1, Errors: 1"
expect "21 2 0" "failures and errors of a Check program"
result b/check_lost FAIL "100%: Checks: 5, Failures: 0, Errors: 0"
expect "25 3 0" "a program that fails after its tests passed"
result b/crashed FAIL
expect "25 4 0" "a program without a summary"
result c/skipped SKIP
expect "25 4 1" "a skipped test"
result c/error ERROR
expect "25 5 1" "a test that could not run"
result build-check/x PASS
expect "25 5 1" "trees below are left out"
