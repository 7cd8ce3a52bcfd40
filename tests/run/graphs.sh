#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# GEMMs in CUDA graphs: what the summary says they were must be what the program launched, by its own
# count, and what the software GPU executed. For each way to make a graph, and both kinds of default
# stream; converted and forwarded.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

executed() {
    n=$(sed -n "s/.*\"gemm\.$1\": *\([0-9]*\).*/\1/p" "$work/counts")
    echo "${n:-0}"
}

# scenario PROGRAM NAME PRECISION
scenario() {
    rm -f "$work/counts"
    if ! env SOFTGPU_PRELOAD="$so" SOFTGPU_COUNTS="$work/counts" APEXSHIM_POLICY=always \
        APEXSHIM_PRECISION="$3" "$srcdir/tests/softgpu/run" "tests/ways/$1" "$2" \
        >"$work/out" 2>"$work/err"; then
        echo "$1 $2 $3: failed"
        cat "$work/out" "$work/err"
        failures=$((failures + 1))
        return
    fi
    launches=0 gemms=0 single=0 all_single=0 all_twice=0
    eval "$(tr ' ' '\n' <"$work/out")" # the five numbers
    case $3 in
    fp32) converted=0 half=0 plain=$all_single ;;
    *) converted=$single half=$all_single plain=0 ;;
    esac
    wanted="graphs=$launches launches (GEMMs in graphs=$gemms converted=$converted)"
    if [ "$launches" -gt 0 ] && grep -qF "$wanted" "$work/err" &&
        [ "$(executed f16)" -eq "$half" ] && [ "$(executed f32)" -eq "$plain" ] &&
        [ "$(executed f64)" -eq "$all_twice" ]; then
        echo "ok: $1 $2 $3: $wanted"
        return
    fi
    echo "$1 $2 $3: expected $wanted, executed f16=$half f32=$plain f64=$all_twice"
    echo "executed: f16=$(executed f16) f32=$(executed f32) f64=$(executed f64)"
    cat "$work/err"
    failures=$((failures + 1))
}

for program in graphs graphs_per_thread; do
    for name in plain streams clone child update update_child nested to_graph invalid reuse memory \
        memory_updated threads; do
        scenario "$program" "$name" fp16
    done
    for name in plain streams child nested to_graph; do
        scenario "$program" "$name" fp32
    done
done
[ "$failures" -eq 0 ]
