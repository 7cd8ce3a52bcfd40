#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What APEXSHIM_REPORT writes is as doc/report.schema.json says, and apexshim report shows it, alone
# and compared; files that are no reports, or hostile ones.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
apexshim=$(pwd)/tools/apexshim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

wrong()
{
    echo "$*"
    cat "$work/out" "$work/err"
    failures=$((failures + 1))
}

expect()
{
    wanted=$1 what=$2 status=0
    shift 2
    "$apexshim" report "$@" >"$work/out" 2>"$work/err" || status=$?
    [ "$status" -eq "$wanted" ] || wrong "$what: exit status $status, expected $wanted"
}

judge()
{
    python3 "$srcdir/tests/tools/bench_check.py" "$@" >"$work/judged" 2>&1 ||
        wrong "$what: $(cat "$work/judged")"
}

what="schema"
: >"$work/out"
: >"$work/err"
for precision in fp32 fp16; do
    env APEXSHIM_PRECISION=$precision APEXSHIM_REPORT="$work/$precision.json" APEXSHIM_POLICY=always \
        APEXSHIM_VERIFY=1 SOFTGPU_PRELOAD="$so" "$srcdir/tests/softgpu/run" \
        tests/conformance/accuracy 128 7 >/dev/null 2>&1
    judge schema "$srcdir/doc/report.schema.json" "$work/$precision.json"
done
# The schema's check can fail.
sed 's/"batch"/"bunch"/' "$work/fp16.json" >"$work/bunch.json"
if python3 "$srcdir/tests/tools/bench_check.py" schema "$srcdir/doc/report.schema.json" \
    "$work/bunch.json" 2>/dev/null; then
    wrong "the check of the schema takes anything"
fi

expect 0 "one" --json "$work/b.json" --html "$work/b.html" "$work/fp16.json"
judge figures "$work/b.json"
judge page "$work/b.html" "$work/b.json"
judge says "$work/b.json" '[r["converted"] for r in v["fp16.json"]["runs"]] == [3]'
expect 0 "two" --json "$work/b.json" --html "$work/b.html" "$work/fp32.json" "$work/fp16.json"
judge figures "$work/b.json"
judge page "$work/b.html" "$work/b.json"
gain=$(python3 -c 'import json, sys
a, b = (sum(s["gpu_seconds"] for s in json.load(open(n))["sites"]) for n in sys.argv[1:])
print(repr(a / b))' "$work/fp32.json" "$work/fp16.json")
judge says "$work/b.json" "abs(v['fp16.json']['gpu_gain'] / $gain - 1) < 1e-9 and abs($gain - 1) > 0.01"
grep -q "software GPU" "$work/out" || wrong "two: does not name the GPU"

# Half of the calls were timed: the others are taken to be like them.
python3 - "$work/fp16.json" "$work/half.json" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
for s in r["sites"]:
    s["calls"] *= 2
json.dump(r, open(sys.argv[2], "w"))
END
expect 0 "half timed" --json "$work/b.json" "$work/fp16.json" "$work/half.json"
judge says "$work/b.json" 'abs(v["half.json"]["gpu_gain"] - 0.5) < 1e-9'

# Hostile texts stay texts.
python3 - "$work/fp16.json" "$work/hostile.json" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
for s in r["sites"]:
    s["caller"] = "</td><script>alert(1)</script>\u001b[31m&amp;'\"" + "x" * 500
    s["transposes"] = "<b>"
r["gpus"][0]["name"] = "<img src=http://example.org>\u001b]0;x\u0007 (software GPU)" + "y" * 500
json.dump(r, open(sys.argv[2], "w"))
END
expect 0 "hostile" --json "$work/b.json" --html "$work/b.html" "$work/hostile.json"
[ "$(tr -d '\n\040-\176' <"$work/out" | wc -c)" -eq 0 ] || wrong "hostile: control characters"
[ "$(awk 'length > 80' "$work/out" | wc -l)" -eq 0 ] || wrong "hostile: lines of more than 80 columns"
sed 's#http://#here#' "$work/b.html" >"$work/c.html"
judge page "$work/c.html" "$work/b.json"

# No reports.
echo '{"schema": "other"}' >"$work/other.json"
head -c 300 "$work/fp16.json" >"$work/cut.json"
echo '[1]' >"$work/list.json"
for file in other cut list none; do
    expect 1 "$file" "$work/$file.json"
    [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "$file: not one line"
    [ ! -s "$work/out" ] || wrong "$file: something on standard output"
done
expect 2 "no file"
expect 2 "three files" a b c
expect 1 "a page that can't be written" --html /nowhere/at/all.html "$work/fp16.json"
[ "$failures" -eq 0 ]
