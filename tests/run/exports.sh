#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The preloaded object exports exactly the functions of symbols.def, without version names, and
# needs no CUDA library.
set -eu
srcdir=${srcdir:-.}
so=src/.libs/libapexshim.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$so" | awk '{print $3}' | sort >"$work/exported"
sed -n 's/^\(HOOK\|SEEN\|WRAP\)([A-Z]*, \([A-Za-z0-9_]*\).*)$/\2/p' "$srcdir/src/symbols.def" | sort >"$work/listed"
[ -s "$work/listed" ] || { echo "symbols.def lists nothing"; exit 1; }
diff "$work/listed" "$work/exported" || { echo "exports differ from symbols.def"; exit 1; }
if readelf -V "$so" | grep -q 'Version definition'; then
    echo "the object defines symbol versions"
    exit 1
fi
if readelf -d "$so" | grep NEEDED | grep -Ei 'cuda|cublas|nccl'; then
    echo "the object needs a CUDA library"
    exit 1
fi
