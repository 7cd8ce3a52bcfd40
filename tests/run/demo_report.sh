#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/demo_report.py: accepts a good pair of runs and refuses every kind of bad one.
set -eu
srcdir=${srcdir:-.}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "$*"
    exit 1
}

# good: two runs as they should be, in $work/runs
good() {
    rm -rf "$work/runs"
    mkdir "$work/runs"
    for run in off:2.25 on:2.251; do
        {
            echo "device SoftGPU"
            for step in 1 2 3 4 5 6 7 8 9 10 11 12; do
                echo "step $step loss 2.$((99 - step))${run##*.} time 1.5000 ms"
            done
            echo "val_loss ${run#*:}"
            echo "sample:"
            echo "Sing, Muse"
        } >"$work/runs/${run%:*}.out"
    done
    echo "apexshim[123]: GEMMs seen=100 converted=95 (fp16=90 tf32=5) forwarded=5 (small=3 argument=2)" \
        >"$work/runs/on.err"
    echo '{"launches": 7, "gemm.f32": 100, "gemm.f32.entries": 170}' >"$work/runs/off.counts"
    echo '{"gemm.f16": 90, "gemm.tf32": 5, "gemm.f32": 5}' >"$work/runs/on.counts"
}

report() {
    python3 "$srcdir/tools/demo_report.py" "$work/runs" "$@" >"$work/out" 2>"$work/err"
}

# refused WORDS DEVICE: the report fails and says WORDS
refused() {
    if report "$2"; then
        cat "$work/out"
        fail "accepted: $1"
    fi
    grep -q "^demo: .*$1" "$work/err" || { cat "$work/err"; fail "does not say: $1"; }
    good
}

# edit FILE EXPRESSION: changes one thing
edit() {
    sed "$2" "$work/runs/$1" >"$work/edited"
    ! cmp -s "$work/edited" "$work/runs/$1" || fail "no change: $2"
    mv "$work/edited" "$work/runs/$1"
}

good
report softgpu "$work/json" || { cat "$work/err"; fail "refuses good runs"; }
grep -q 'validation loss .*2.250000 .*2.251000' "$work/out" || fail "no validation loss in the table"
grep -q 'time per step, modelled' "$work/out" || fail "times are not labelled modelled"
grep -q 'converted 95 (95.0%; fp16 90, tf32 5), forwarded 5 (small 3, argument 2)' "$work/out" ||
    fail "no counts in the table"
python3 - "$work/json" <<'END'
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    r = json.load(file)
assert r["device"] == "softgpu" and r["times"] == "modelled" and r["passed"] is True
assert (r["off"]["val_loss"], r["on"]["val_loss"]) == (2.25, 2.251)
assert (r["gemms"]["seen"], r["gemms"]["converted"], r["gemms"]["forwarded"]) == (100, 95, 5)
assert len(r["on"]["losses"]) == 12 and r["on"]["step_ms"] == 1.5
END
rm "$work/runs/off.counts" "$work/runs/on.counts"
report gpu || { cat "$work/err"; fail "wants counts from a GPU"; }
grep -q 'time per step, measured' "$work/out" || fail "times are not labelled measured"
good

: >"$work/runs/on.err"
refused 'nothing was intercepted' softgpu
edit on.err 's/seen.*/seen=0 converted=0 (fp16=0 tf32=0) forwarded=0/'
refused 'nothing was intercepted' softgpu
edit on.err 's/converted.*/converted=0 (fp16=0 tf32=0) forwarded=100 (small=100)/'
refused 'nothing was converted' gpu
edit on.err 's/fp16=90 tf32=5/fp16=85 tf32=10/'
refused 'executed 90 GEMMs of type f16, the shim says 85' softgpu
edit on.err 's/fp16=90/fp16=89/'
refused 'do not add up to converted' gpu
edit on.err 's/forwarded=5/forwarded=6/'
refused 'do not add up to seen' gpu
edit on.counts 's/"gemm.f16": 90/"gemm.f16": 89/'
refused 'executed 89 GEMMs of type f16' softgpu
edit on.counts 's/"gemm.tf32": 5, //'
refused 'executed 0 GEMMs of type tf32' softgpu
edit on.counts 's/"gemm.f32": 5/"gemm.f32": 6/'
refused 'executed 6 GEMMs of type f32' softgpu
edit on.counts 's/}/, "gemm.bf16": 1}/'
refused 'executed 1 GEMMs of type bf16, the shim says 0' softgpu
edit off.counts 's/100/101/'
refused 'executed 101 GEMMs, the shim has seen 100' softgpu
edit on.out 's/^val_loss .*/val_loss 2.3/'
refused 'validation loss differs by more than 2%' softgpu
edit on.out 's/^val_loss .*/val_loss nan/'
refused 'validation loss differs' softgpu
edit on.out 's/^val_loss .*/val_loss 2.25/'
refused 'equal in bits' softgpu
edit on.out 's/^step 12 loss [0-9.]*/step 12 loss 3.5/'
refused 'mean loss of the last steps differs' softgpu
edit on.out 's/^step 1 loss [0-9.]*/step 1 loss 3.5/'
refused 'first loss differs' softgpu
edit on.out '/^step 12 /d'
refused '12 steps without the preload, 11 with it' softgpu
edit on.out '/^val_loss/d'
refused 'printed no losses' softgpu
edit off.out 's/^val_loss .*/val_loss 2.61/'
edit on.out 's/^val_loss .*/val_loss 2.611/'
refused 'is over 2.6' softgpu
edit on.counts 's/}//'
refused 'on.counts: ' softgpu
rm "$work/runs/on.counts"
refused 'on.counts: ' softgpu
