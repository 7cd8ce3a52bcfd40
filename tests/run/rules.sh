#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Rules: what the software GPU computed in each type is what the rules say, by routine, shape, call
# site and executable; a bad file costs one line and nothing else.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset SOFTGPU_PRELOAD
XDG_CACHE_HOME=$work/cache
export XDG_CACHE_HOME

fail() {
    echo "$*"
    exit 1
}

# run NAME [VARIABLE=VALUE...]
run() {
    name=$1
    shift
    env "$@" SOFTGPU_COUNTS="$work/$name.counts" "$srcdir/tests/softgpu/run" \
        tests/programs/train_charlm --steps 2 --sample 8 --quiet --batch 2 --context 16 --layers 1 --heads 2 --width 16 \
        >"$work/$name.out" 2>"$work/$name.err" || { cat "$work/$name.err"; exit 1; }
}

# ruled NAME [VARIABLE=VALUE...]: with the rules on standard input
ruled() {
    cat >"$work/$1.ini"
    run "$@" SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_LOG=debug \
        APEXSHIM_RULES="$work/$1.ini"
}

counted() {
    value=$(sed -n "s/.*\"$2\": *\([0-9]*\).*/\1/p" "$work/$1.counts")
    echo "${value:-0}"
}

# executed NAME TYPE NUMBER
executed() {
    [ "$(counted "$1" "gemm.$2")" -eq "$3" ] || {
        cat "$work/$1.err"
        fail "$1: the GPU computed $(counted "$1" "gemm.$2") products in $2, not $3"
    }
}

run plain
batched=$(counted plain calls.cublasSgemmStridedBatched)
single=$(counted plain calls.cublasSgemm_v2)
{ [ "$batched" -gt 0 ] && [ "$single" -gt 0 ]; } || fail "the trainer makes no calls"

ruled routine <<'END'
# the attention's products
[gemm attention]
routine = cublasSgemmStridedBatched
path = tf32
END
executed routine tf32 "$batched"
executed routine f16 "$single"
grep -q 'tf32, by gemm attention' "$work/routine.err" || fail "the log does not name the rule"

ruled first <<'END'
[gemm]
routine = *Batched
path = off
[gemm the rest]
path = bf16
[gemm never reached]
path = tf32
END
executed first f32 "$batched"
executed first bf16 "$single"
executed first tf32 0
grep -q "forwarded=$batched (rule=$batched)" "$work/first.err" || fail "the summary has no rule=$batched"

ruled class APEXSHIM_POLICY=always <<'END'
[gemm]
transposes = NT
batch = 1
class = tf32
END
awk '/ cublas/ { wanted = / NT .*batch=1 / ? "tf32" : "fp16"
                 for (i = 1; i <= NF; i++) if ($i ~ /^(tf32|fp16),?$/) { lines++; if ($i !~ wanted) bad = 1 } }
     END { exit bad || lines < 10 }' "$work/class.err" || { cat "$work/class.err"; fail "by transposes"; }

ruled shape <<'END'
[gemm]
m = 64..
n = ..32
path = off
END
awk '/ cublas/ { split($4, m, "="); split($5, n, "=")
                 if ((m[2] >= 64 && n[2] <= 32) != /: forward/) bad = 1; lines++ }
     END { exit bad || lines < 10 }' "$work/shape.err" || { cat "$work/shape.err"; fail "by shape"; }

# The place that a debug line names is a place that a rule can name.
place=$(sed -n 's/.* cublasSgemmStridedBatched .* of \([^ ]*+0x[0-9a-f]*\): .*/\1/p' "$work/shape.err" | head -n 1)
[ -n "$place" ] || fail "no call site in the log"
ruled site <<END
[gemm]
site = $place
path = tf32
END
[ "$(grep -c ': tf32, by gemm' "$work/site.err")" -ge 1 ] || fail "the site did not match"
awk -v place="$place:" '/ cublas/ { if ((index($0, place) > 0) != /: tf32/) bad = 1 } END { exit bad }' \
    "$work/site.err" || { cat "$work/site.err"; fail "by site"; }

ruled others <<'END'
[gemm]
executable = python*,*.exe
path = off
[gemm]
caller = libtorch*
path = off
[gemm]
executable = train_*
caller = train_charlm
k = 1..
path = tf32
END
executed others tf32 $((batched + single))

# With fp32 only what rules name is converted.
ruled opted APEXSHIM_PRECISION=fp32 <<'END'
[gemm]
routine = cublasSgemm_v2
path = fp16
scale = exact
END
executed opted f16 "$single"
executed opted f32 "$batched"

# A bad file: one line, and the run is that without rules.
run without SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always
ruled bad <<'END'
[gemm]
path = off

[gemm]
pth = tf32
END
cmp "$work/without.out" "$work/bad.out" || fail "a bad file changes the results"
[ "$(grep -c 'APEXSHIM_RULES' "$work/bad.err")" -eq 1 ] || fail "not one line about the bad file"
grep -q "APEXSHIM_RULES: $work/bad.ini:5: expected .*path.*; the whole file is ignored" "$work/bad.err" ||
    { cat "$work/bad.err"; fail "the line does not say where"; }
run missing SOFTGPU_PRELOAD="$so" APEXSHIM_POLICY=always APEXSHIM_RULES="$work/none.ini"
cmp "$work/without.out" "$work/missing.out" || fail "a missing file changes the results"
grep -q "APEXSHIM_RULES: $work/none.ini: No such file" "$work/missing.err" || fail "a missing file is not said"
