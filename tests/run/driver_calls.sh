#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every intercepted function of the driver hands its arguments on and the status back.
set -eu
so=$(pwd)/src/.libs/libapexshim.so
run() {
    env LD_LIBRARY_PATH="$(pwd)/tests/ways/spy/.libs" \
        LD_PRELOAD="${SOFTGPU_RUNTIME-}${SOFTGPU_RUNTIME:+:}$so" tests/ways/driver_calls "$@"
}
run
APEXSHIM=0 run off
