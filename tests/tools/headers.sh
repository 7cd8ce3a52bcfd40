#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# tools/check-headers counts what compiles, what does not and what it could not try: a small tree of
# its own, with a toolkit of two headers.
set -eu
top=$(cd "${srcdir:-.}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tree
mkdir -p "$tree/tools" "$tree/src/base" "$work/cuda/include"
cp "$top/tools/check-headers" "$tree/tools"
chmod -R u+w "$tree"
: >"$tree/tools/header-wheels.txt"
printf '#define CUDA_VERSION 13010\n' >"$work/cuda/include/cuda.h"
printf 'int cublasLtThing(void);\n' >"$work/cuda/include/cublasLt.h"
printf '    .text\n' >"$tree/src/base/entry.S"
printf '#include <cublasLt.h>\n#include <cuda.h>\nint main(void)\n{\n    return cublasLtThing();\n}\n' \
    >"$tree/src/main.c"
: >"$tree/src/base/empty.h"
printf '#include "base/empty.h"\nextern int nothing;\n' >"$tree/src/base/part.c"

# expect STATUS PATTERN WHAT [ARGUMENT...]
expect()
{
    wanted=$1 pattern=$2 what=$3
    shift 3
    status=0
    # a cross compiler of this machine would be counted, too
    PATH=$work/bin:/usr/bin:/bin "$tree/tools/check-headers" --headers "$work/headers" "$@" \
        >"$work/out" 2>&1 || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -q "$pattern" "$work/out"; then
        echo "expected status $wanted and '$pattern', got $status: $what"
        cat "$work/out"
        exit 1
    fi
}

mkdir "$work/bin"
# shellcheck disable=SC2016 # for the script that is written
printf '#!/bin/sh\nexec "${CC:-gcc}" "$@"\n' >"$work/bin/aarch64-linux-gnu-gcc"
chmod +x "$work/bin/aarch64-linux-gnu-gcc"
here=2
[ "$(uname -m)" != aarch64 ] || here=1
expect 0 "^check-headers: $here passed, 0 failed, 0 skipped" "all compiles" --cuda "$work/cuda"
expect 0 'ok: CUDA 13.1' "the version is the toolkit's" --cuda "$work/cuda"
printf 'int unused_prototype(void)\n{\n    return 0;\n}\n' >>"$tree/src/base/part.c"
expect 1 "^check-headers: 0 passed, $here failed, 0 skipped" "a warning" --cuda "$work/cuda"
printf 'extern int nothing;\n' >"$tree/src/base/part.c"
printf '    no_such_instruction\n' >"$tree/src/base/entry.S"
expect 1 "^check-headers: 0 passed, $here failed, 0 skipped" "bad assembly" --cuda "$work/cuda"
printf '    .text\n' >"$tree/src/base/entry.S"
printf '# == 11.0\nno-such-wheel-here==1.0 --hash=sha256:%064d\n' 0 >"$tree/tools/header-wheels.txt"
PIP_NO_INDEX=1 PIP_FIND_LINKS=
export PIP_NO_INDEX PIP_FIND_LINKS
expect 0 "^check-headers: $here passed, 0 failed, 1 skipped" "no network" --cuda "$work/cuda"
expect 0 '^== SKIPPED: CUDA 11.0' "no network is said aloud" --cuda "$work/cuda"
expect 1 "^check-headers: 0 passed, 0 failed, 2 skipped" "nothing was tried" --cuda "$work/none"
