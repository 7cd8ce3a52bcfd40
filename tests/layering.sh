#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The rules between the parts: who may include whom, and that real symbols are looked up in one
# file. Prints each line that breaks one.
set -u
# shellcheck source=tests/source_files.sh
. "$(dirname "$0")/source_files.sh"
status=0

# sources EXTENDED_REGEX: the files whose names match.
sources()
{
    printf '%s\n' "$files" | grep -E "$1" | while IFS= read -r file; do
        [ ! -f "$file" ] || printf '%s\n' "$file"
    done
}

# forbid RULE FILES PATTERN [EXCEPT]: no line of FILES may match PATTERN, unless it matches EXCEPT.
forbid()
{
    [ -n "$2" ] || return 0
    # shellcheck disable=SC2086 # a list of names without blanks
    if grep -nE "$3" /dev/null $2 | grep -vE "${4-^$}"; then
        echo "^ breaks the rule: $1"
        status=1
    fi
}

include='^[[:space:]]*#[[:space:]]*include[[:space:]]*"'
forbid "hook/ includes of gemm/, update/ and sync/ only the headers of their calls" \
    "$(sources '^src/hook/.*\.[chS]$')" "$include(\.\./)*(gemm|update|sync|kernels)/" \
    '"(gemm/gemm|update/update|sync/sync|(gemm|update|sync)/[a-z0-9_]+_call)\.h"'
forbid "gemm/, update/ and sync/ never include hook/" \
    "$(sources '^src/(gemm|update|sync)/.*\.[chS]$')" "$include(\.\./)*hook/"
forbid "base/ includes no header of the other parts" \
    "$(sources '^src/base/.*\.[chS]$')" "$include(\.\./)*(device|hook|gemm|update|sync|kernels)/[^\"]*\.h\""
forbid "src/ and kernels/ include nothing of tests/" \
    "$(sources '^(src|kernels)/.*\.(c|h|S|cu|cuh)$')" "${include}[^\"]*(tests|softgpu)"
forbid "tests/softgpu includes nothing of src/ or kernels/" \
    "$(sources '^tests/softgpu/.*\.(c|h|S|cu|cuh)$')" \
    "$include((\.\./)*(src|kernels|base|device|hook|gemm|update|sync)/|(env|symbols|imports)\.def)"
forbid "tests/softgpu/{engine,driver,cudart,cublas} builds nothing from src/ or kernels/" \
    "$(sources '^tests/softgpu/(engine|driver|cudart|cublas|cublaslt|nccl)/Makefile.inc$')" \
    '(^|[[:space:]=/)])(src|kernels)/'

look_up=$(sources '^src/.*\.[ch]$')
if [ -n "$look_up" ]; then
    # shellcheck disable=SC2086 # a list of names without blanks
    callers=$(grep -lE '(^|[^_[:alnum:]"])(dlsym|dlvsym|dlopen)[[:space:]]*\(' $look_up)
    # shellcheck disable=SC2086 # a list of names without blanks
    if [ "$(printf '%s\n' $callers | grep -c .)" -gt 1 ]; then
        printf '%s\n' "$callers"
        echo "^ breaks the rule: one file of src/ alone calls dlsym, dlvsym and dlopen"
        status=1
    fi
fi
exit $status
