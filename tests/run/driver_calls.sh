#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every intercepted function of the driver hands its arguments on and the status back, also where the
# driver lacks functions that the shim itself would use.
set -eu
so=$(pwd)/src/.libs/libapexshim.so
run() {
    driver=$1
    shift
    env LD_LIBRARY_PATH="$(pwd)/tests/ways/$driver/.libs" \
        LD_PRELOAD="${SOFTGPU_RUNTIME-}${SOFTGPU_RUNTIME:+:}$so" tests/ways/driver_calls "$@"
}
run spy
run spy_old
APEXSHIM=0 run spy off
