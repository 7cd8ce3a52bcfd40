#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# cuGetProcAddress answers the same functions with the preload as without, each through the shim
# where it intercepts it; and through the shim they do what they are for, counted by kind.
set -eu
srcdir=${srcdir:-.}
so=$(pwd)/src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
run() {
    "$srcdir/tests/softgpu/run" tests/ways/driver_versions "$@"
}
run list >"$work/plain"
SOFTGPU_PRELOAD=$so run list libapexshim >"$work/preload"
cmp "$work/plain" "$work/preload" || { diff "$work/plain" "$work/preload" | head; exit 1; }
# 0: a version that is too old; the newest of both kinds of stream must be among them.
[ "$(wc -l <"$work/plain")" -gt 5000 ]
grep -q '^cuGraphLaunch 13000 2 cuGraphLaunch_ptsz$' "$work/plain"
grep -q '^cuMemAlloc 3000 0 cuMemAlloc$' "$work/plain"
grep -q '^cuMemAlloc 13000 0 cuMemAlloc_v2$' "$work/plain"
SOFTGPU_PRELOAD=$so APEXSHIM_LOG=info run call >"$work/wanted" 2>"$work/err"
cat "$work/wanted"
while IFS= read -r line; do
    grep -qF "$line" "$work/err" || { echo "not said: $line"; cat "$work/err"; exit 1; }
done <"$work/wanted"
