#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# apexshim bench on the software GPU: its figures follow from the runs, and the runs are those that
# the program makes by itself; programs that crash, never call cuBLAS, read, print a lot, do not end.
set -eu
srcdir=${srcdir:-.}
# Programs that start others under the preload themselves can't put the sanitizers' runtime first.
if [ -n "${SOFTGPU_RUNTIME-}" ]; then
    echo "not with sanitizers: apexshim bench starts programs with a preload of its own"
    exit 77
fi
so=$(pwd)/src/.libs/libapexshim.so
apexshim=$(pwd)/tools/apexshim
softgpu=$srcdir/tests/softgpu/run
program=tests/conformance/accuracy
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/tmp"
export TMPDIR="$work/tmp" APEXSHIM_POLICY=always
failures=0

wrong()
{
    echo "$*"
    tail -c 3000 "$work/out" "$work/err"
    failures=$((failures + 1))
}

# expect STATUS WHAT ARGUMENT...: of bench; output to $work/out and $work/err.
expect()
{
    wanted=$1 what=$2 status=0
    shift 2
    "$apexshim" bench "$@" >"$work/out" 2>"$work/err" </dev/null || status=$?
    [ "$status" -eq "$wanted" ] || wrong "$what: exit status $status, expected $wanted"
}

shows()
{
    grep -q -e "$2" "$work/$1" || wrong "$what: no '$2' on $1"
}

judge()
{
    python3 "$srcdir/tests/tools/bench_check.py" "$@" >"$work/judged" 2>&1 ||
        wrong "$what: $(cat "$work/judged")"
}

clean()
{
    [ -z "$(ls "$work/tmp")" ] || wrong "$what: left behind: $(ls "$work/tmp")"
    rm -rf "$work/tmp/"*
}

# Figures; a hostile argument; nothing but the table on standard output, 80 columns wide.
markup='</code><script>alert(1)</script>&"'
expect 0 "figures" -n 4 --variants plain,off,tf32,fp16 --metric 'error=^1e-06 ([^ ]+)$' \
    --metric 'each=^([^ ]+) ([^ ]+)$' --json "$work/b.json" --html "$work/b.html" -- \
    "$softgpu" "$program" 128 7 "$markup"
judge figures "$work/b.json"
judge page "$work/b.html" "$work/b.json"
judge says "$work/b.json" '[x["name"] for x in b["variants"]] == ["plain", "off", "tf32", "fp16"]'
judge says "$work/b.json" 'all(len(x["runs"]) == 3 for x in v.values()) and b["gpu_times_modelled"]'
judge says "$work/b.json" 'all(r["seen"] == 3 for n in v for r in v[n]["runs"] if n != "plain")'
judge says "$work/b.json" '[r["converted"] for r in v["fp16"]["runs"]] == [3, 3, 3]'
judge says "$work/b.json" '[r["converted"] for r in v["off"]["runs"]] == [0, 0, 0]'
judge says "$work/b.json" '[s["variants"][n]["path"] for s in b["sites"] for n in ("off", "fp16")] == ["forward", "fp16"]'
judge says "$work/b.json" 'v["fp16"]["runs"][0]["metrics"]["each"]["steps"] == [1, 1e-06, 1e6]'
[ "$(awk 'length > 80' "$work/out" | wc -l)" -eq 0 ] || wrong "lines of more than 80 columns"
[ "$(tr -d '\n\040-\176' <"$work/out" | wc -c)" -eq 0 ] || wrong "control characters without a terminal"
[ ! -s "$work/err" ] || wrong "something on standard error"
shows out 'modelled'
clean

# The same numbers as the program gives without bench.
for pair in off:fp32 tf32:tf32 fp16:fp16; do
    env APEXSHIM_PRECISION="${pair#*:}" APEXSHIM_REPORT="$work/r.json" SOFTGPU_PRELOAD="$so" \
        "$softgpu" "$program" 128 7 >"$work/direct" 2>/dev/null
    error=$(sed -n 's/^1e-06 //p' "$work/direct")
    seconds=$(python3 -c 'import json, sys
print(repr(sum(s["gpu_seconds"] for s in json.load(open(sys.argv[1]))["sites"])))' "$work/r.json")
    judge says "$work/b.json" "v['${pair%:*}']['metrics']['error']['last']['median'] == $error"
    judge says "$work/b.json" "abs(v['${pair%:*}']['gpu']['median'] / $seconds - 1) < 1e-6"
done

# One run: kept. Processes of one run are added up.
expect 0 "two processes" -n 1 --variants off --json "$work/b.json" -- \
    sh -c "$softgpu $program 64 1 & $softgpu $program 64 2; wait"
judge says "$work/b.json" '[r["seen"] for r in v["off"]["runs"]] == [6]'
judge says "$work/b.json" 'b["sites"][0]["variants"]["off"]["calls"] == 6'

# Programs that fail.
expect 1 "a crash" -n 2 --variants off -- sh -c 'echo last words >&2; kill -SEGV $$'
shows err 'off: the program was killed by signal 11'
shows err 'last words'
[ ! -s "$work/out" ] || wrong "a crash: a table all the same"
rm -rf "$work/tmp/"*
expect 1 "a crash of one variant" -n 2 --variants off,tf32 --json "$work/b.json" -- \
    sh -c "[ \"\$APEXSHIM_PRECISION\" != tf32 ] || exit 9; exec $softgpu $program 64 1"
shows err 'tf32: the program ended with status 9'
judge says "$work/b.json" 'len(v["off"]["runs"]) == 1 and v["tf32"]["runs"] == [] and "9" in v["tf32"]["failure"]'
rm -rf "$work/tmp/"*
expect 1 "no cuBLAS" -n 2 --variants off -- true
shows err 'never called a GEMM'
rm -rf "$work/tmp/"*
expect 1 "no such program" -n 2 --variants off -- "$work/none"
shows err 'No such file'
rm -rf "$work/tmp/"*
expect 1 "a metric that is not there" -n 1 --variants off --metric 'loss=^loss (.*)' -- \
    "$softgpu" "$program" 64 1
shows err 'no line of the program has the metric loss'
clean

# Input: each run reads the file from its beginning; else there is none.
echo 64 >"$work/in"
what="input"
# shellcheck disable=SC2016 # for the program
reader='read n || exit 3; exec "$0" "$1" "$n" 1'
"$apexshim" bench -n 3 --variants off --json "$work/b.json" -- sh -c "$reader" "$softgpu" "$program" \
    <"$work/in" >"$work/out" 2>"$work/err" || wrong "input: failed"
judge says "$work/b.json" 'len(v["off"]["runs"]) == 2 and b["sites"][0]["m"] == 64'
expect 1 "no input" -n 3 --variants off -- sh -c "$reader" "$softgpu" "$program"
shows err 'status 3'
rm -rf "$work/tmp/"*

# A lot of output, with a line of 20 MB.
expect 0 "much output" -n 1 --variants off --metric 'y=^y([0-9])$' --json "$work/b.json" -- sh -c \
    "head -c 20000000 /dev/zero | tr '\\0' x; yes y1 | head -n 100000; exec $softgpu $program 64 1"
[ "$(wc -c <"$work/out")" -lt 5000 ] || wrong "much output: it came to us"
judge says "$work/b.json" 'len(v["off"]["runs"][0]["metrics"]["y"]["values"]) in (99999, 100000)'
clean

# Does not end, even when asked.
began=$(date +%s)
expect 0 "--until" -n 1 --variants off,fp16 --until 1.5 --json "$work/b.json" -- \
    sh -c "trap '' TERM; $softgpu $program 64 1; sleep 20; sleep 20"
[ $(($(date +%s) - began)) -lt 30 ] || wrong "--until: took too long"
judge says "$work/b.json" 'b["times_of"] == "gemm" and all(x["runs"][0]["stopped"] for x in v.values())'
judge figures "$work/b.json"

# Interrupted: keeps what it has.
"$apexshim" bench -n 1000 --variants off --json "$work/b.json" -- "$softgpu" "$program" 64 1 \
    >"$work/out" 2>"$work/err" </dev/null &
pid=$!
sleep 3
kill -TERM "$pid"
status=0
wait "$pid" || status=$?
what="interrupted"
[ "$status" -eq 1 ] || wrong "interrupted: exit status $status"
judge says "$work/b.json" 'b["interrupted"] and 1 <= len(v["off"]["runs"]) < 900'
judge figures "$work/b.json"
clean

# Wrong usage: one line, status 2.
for arguments in '' '--variants off' '--variants nosuch true' '-n 0 true' '-n 1.5 true' \
    '--until x true' '--metric x true' '--metric x=abc true' '--metric x=( true' \
    '--variants off,off true' '--nosuch true'; do
    # shellcheck disable=SC2086 # several arguments
    expect 2 "usage: $arguments" $arguments
    [ "$(wc -l <"$work/err")" -eq 1 ] || wrong "usage: $arguments: not one line"
done
[ "$failures" -eq 0 ]
