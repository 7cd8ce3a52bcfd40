#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The cost of a call that is not converted, of a look-up and of an unrelated process stays near the
# targets. Other work on the machine disturbs such times, so only many times the target fails here:
# a lock, a system call or a walk over the loaded objects in each call. `make bench` has the figures.
set -eu
if [ -n "${SOFTGPU_RUNTIME-}" ]; then
    echo "left out: times of a build with sanitizers mean nothing"
    exit 77
fi
exec "${srcdir:-.}/tests/bench/run" --check 8
