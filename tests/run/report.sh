#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# APEXSHIM_REPORT: the counts are those of the summary, each site has its GPU time (modelled here), a
# run without conversion has the same sites, a killed run leaves a report that says so, and a file
# that can't be written costs one line.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*"
    cat "$work/err"
    exit 1
}

# run SIZE [VARIABLE=VALUE...]
run() {
    size=$1
    shift
    env "$@" SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always "$srcdir/tests/softgpu/run" \
        tests/conformance/accuracy "$size" 7 >"$work/out" 2>"$work/err" || fail "failed: $*"
}

# query EXPRESSION: of the report r
query() {
    python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(0 if eval(sys.argv[2]) else "%s: %s" % (sys.argv[2], json.dumps(r)))' "$work/r.json" "$1"
}

run 128
cp "$work/out" "$work/plain"
run 128 APEXSHIM_REPORT="$work/r.json" RANK=3
cmp -s "$work/out" "$work/plain" || fail "the report changed a result"
query 'r["schema"] == "apexshim-report-1" and r["complete"] and r["rank"] == "3"'
query 'r["gemms"]["seen"] == 3 and r["gemms"]["converted"] == {"fp16": 3}'
query 'r["gemms"]["forwarded"] == {} and r["flop"]["converted"] == 3 * 2 * 128**3'
query '[s["m"] * s["n"] * s["k"] for s in r["sites"]] == [128**3]'
query 'all(s["calls"] == s["converted"] == s["timed"] == 3 and s["path"] == "fp16" for s in r["sites"])'
query 'r["sites"][0]["caller"] == "accuracy" and 0 < r["sites"][0]["gpu_seconds"] < 1e-3'
query 'r["settings"]["APEXSHIM_POLICY"] == "always" and r["command"][1:] == ["128", "7"]'
converted=$(python3 -c 'import json; print(json.load(open("'"$work"'/r.json"))["sites"][0]["gpu_seconds"])')

for off in APEXSHIM_PRECISION=fp32 APEXSHIM_OPT_LEVEL=O0 NVIDIA_TF32_OVERRIDE=0; do
    run 128 APEXSHIM_REPORT="$work/r.json" $off
    query 'all(s["path"] == "forward" and s["calls"] == s["timed"] == 3 for s in r["sites"])'
    query '[s["k"] for s in r["sites"]] == [128] and r["sites"][0]["gpu_seconds"] > 0'
    query 'r["sites"][0]["gpu_seconds"] != '"$converted"
    query 'len(r["gpus"]) == 1 and "H200" in r["gpus"][0]["name"]'
done

# Names; several things in one.
run 64 APEXSHIM_REPORT="$work/x-%r-%p-%%.json" OMPI_COMM_WORLD_RANK=5
find "$work" -name 'x-5-*-%.json' | grep -Eq '/x-5-[0-9]+-%\.json$' || fail "the name was not expanded: $(ls "$work")"
for bad in "$work/%q" "/nowhere/at/all.json"; do
    run 64 APEXSHIM_REPORT="$bad"
    [ "$(grep -c APEXSHIM_REPORT "$work/err")" -eq 1 ] || fail "not one line about $bad"
done

# Killed: what was known shortly before.
rm -f "$work/r.json"
env SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_REPORT="$work/r.json" \
    "$srcdir/tests/softgpu/run" sh -c 'exec timeout -s KILL 5 tests/conformance/accuracy 3000 7' \
    >"$work/out" 2>"$work/err" || true
query 'r["complete"] is False and r["gemms"]["seen"] <= 3'
[ -z "$(find "$work" -name '*.new')" ] || fail "a file was left: $(ls "$work")"

# No handle, no report.
rm -f "$work/r.json"
env LD_PRELOAD="${SOFTGPU_RUNTIME:+$SOFTGPU_RUNTIME:}$so" APEXSHIM_REPORT="$work/r.json" true
[ ! -e "$work/r.json" ] || fail "a report of a program without cuBLAS"
