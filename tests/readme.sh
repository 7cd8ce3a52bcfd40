#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The table of variables in README.md is the one in src/env.def, and files that README names exist.
set -u
# shellcheck source=tests/source_files.sh
. "$(dirname "$0")/source_files.sh"
status=0
python3 tools/env-table --check || status=1
python3 tools/coverage-table --check || status=1
# shellcheck disable=SC2016 # the backticks are those of the text
for file in $(grep -oE '`(tools|tests|src|kernels|doc)/[A-Za-z0-9_./-]+`' README.md | tr -d '`'); do
    case $file in
    *.libs/* | tests/programs/train_charlm) continue ;;
    esac
    if [ ! -e "$file" ]; then
        echo "README.md names $file, which does not exist"
        status=1
    fi
done
exit $status
