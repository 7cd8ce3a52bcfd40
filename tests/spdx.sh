#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each source file names its licence in one of its first three lines.
set -u
# shellcheck source=tests/source_files.sh
. "$(dirname "$0")/source_files.sh"
sources=''
for file in $files; do
    case $file in
    m4/libtool.m4 | m4/lt*.m4) ;;
    *.c | *.h | *.S | *.cu | *.cuh | *.def | *.sh | *.py | *.awk | *.inc | *.am | *.ac | *.m4 | \
        *.map | *.map.in | *.mutant | tools/* | .ci/* | tests/mutants/run | tests/gpu/accept | \
        tests/softgpu/run)
        [ ! -f "$file" ] || sources="$sources $file"
        ;;
    esac
done
# shellcheck disable=SC2086 # a list of names without blanks
awk '
    FNR == 1 && NR > 1 && !named { print "no SPDX line: " last; bad = 1 }
    FNR == 1 { named = 0; last = FILENAME }
    FNR <= 3 && /SPDX-License-Identifier: BSD-3-Clause/ { named = 1 }
    END { if (!named) { print "no SPDX line: " last; bad = 1 } exit bad }' $sources
