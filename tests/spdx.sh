#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each source file names its licence in one of its first three lines.
set -u
# shellcheck source=tests/source_files.sh
. "$(dirname "$0")/source_files.sh"
status=0
for file in $files; do
    case $file in
    *.c | *.h | *.S | *.cu | *.cuh | *.def | *.sh | *.py | *.awk | *.inc | *.am | *.ac | *.m4 | \
        *.map | *.map.in | *.mutant | tools/* | .ci/* | tests/mutants/run | tests/gpu/accept | \
        tests/softgpu/run) ;;
    *) continue ;;
    esac
    case $file in
    m4/libtool.m4 | m4/lt*.m4) continue ;;
    esac
    [ -f "$file" ] || continue
    if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: BSD-3-Clause'; then
        echo "no SPDX line: $file"
        status=1
    fi
done
exit $status
