#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/demo from start to end on the software GPU, too short to learn enough: that, and nothing
# else, must be what it complains about. Then with an object that intercepts nothing.
set -eu
srcdir=${srcdir:-.}
build=$(pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset APEXSHIM APEXSHIM_PRECISION APEXSHIM_OPT_LEVEL APEXSHIM_POLICY

fail() {
    cat "$work/out" "$work/err"
    echo "$*"
    exit 1
}

demo() {
    status=0
    "$srcdir/tools/demo" --softgpu "$@" >"$work/out" 2>"$work/err" || status=$?
}

demo --nonsense
[ "$status" -eq 2 ] || fail "--nonsense: status $status"
demo --steps 0 --build "$build"
[ "$status" -eq 2 ] || fail "--steps 0: status $status"
demo --help
[ "$status" -eq 0 ] || fail "--help: status $status"
grep -q -- '--json FILE' "$work/out" || fail "--help does not name --json"

demo --steps 5 --build "$build" --json "$work/json"
[ "$status" -eq 1 ] || fail "five steps: status $status"
[ "$(grep -c '^demo: ' "$work/err")" -eq 2 ] || fail "not two complaints"
[ "$(grep -c '^demo: .* is over 2.6' "$work/err")" -eq 2 ] || fail "complains about something else"
grep -q 'time per step, modelled' "$work/out" || fail "times are not labelled"
grep -q 'APEXSHIM_POLICY=always' "$work/out" || fail "does not tell the policy"
python3 - "$work/json" <<'END' || fail "the JSON is not as it should be"
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    r = json.load(file)
assert r["device"] == "softgpu" and r["passed"] is False and len(r["off"]["losses"]) == 5
assert r["gemms"]["converted"] > 0.9 * r["gemms"]["seen"]
assert r["off"]["val_loss"] != r["on"]["val_loss"]
END

# A build tree whose object intercepts nothing.
mkdir -p "$work/build/src/.libs" "$work/build/tests/softgpu"
ln -s "$build/tests/programs" "$work/build/tests/programs"
ln -s "$build/tests/softgpu/.libs" "$work/build/tests/softgpu/.libs"
echo 'int apexshim_nothing;' >"$work/nothing.c"
${CC:-cc} -shared -fPIC -o "$work/build/src/.libs/libapexshim.so" "$work/nothing.c"
demo --steps 2 --build "$work/build"
[ "$status" -eq 1 ] || fail "an object that does nothing: status $status"
grep -q '^demo: .*nothing was intercepted' "$work/err" || fail "does not see that nothing is there"
grep -q '^demo: .*equal in bits' "$work/err" || fail "does not see equal losses"
