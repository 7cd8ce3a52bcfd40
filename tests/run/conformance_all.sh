#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every entry point in every form, without the preload and on each path (tests/conformance/run).
set -eu
srcdir=${srcdir:-.}
case ${TEST_LENGTH:-normal} in
fast) cases=10 ;;
long) cases=600 ;;
*) cases=50 ;;
esac
"$srcdir/tests/conformance/run" --cases "${CONFORMANCE_CASES:-$cases}" \
    ${CONFORMANCE_SEED:+--seed "$CONFORMANCE_SEED"}
