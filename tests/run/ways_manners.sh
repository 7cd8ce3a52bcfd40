#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Early and late calls, other interposers, and what a program may expect of errno, dlerror and names
# that are not there. Each of these programs says the same without a preload.
set -eu
# shellcheck source=tests/run/ways.inc
. "${srcdir:-.}/tests/run/ways.inc"
plugin=$(pwd)/tests/ways/.libs/plugin.so
wrapper=$(pwd)/tests/ways/.libs/wrapper.so
unset APEXSHIM_EXCLUDE

# both NAME MODE PROGRAM [ARGUMENT...]: without a preload and with it.
both()
{
    case=$1
    shift
    with=$so so=
    way "$case, no preload" 0 "$@"
    so=$with
    way "$case" 0 "$@"
}

WAYS_PLUGIN=constructor
export WAYS_PLUGIN
way "in the constructor of a plugin" 2 plugin tests/ways/loader "$plugin"
WAYS_PLUGIN=destructor
way "in the destructor of a plugin, at exit" 2 plugin tests/ways/loader "$plugin"
way "in the destructor of a plugin, unloaded" 12 swap tests/ways/unload "$plugin" "$plugin"
unset WAYS_PLUGIN

both "what comes behind a plugin" next_plugin tests/ways/loader "$plugin"
both "a wrapper's own function" wrapper tests/ways/manners "$wrapper"
both "dlerror, cuBLAS 13" messages tests/ways/manners libcublas.so.13
LD_LIBRARY_PATH=$(pwd)/tests/softgpu/cuda11/.libs
export LD_LIBRARY_PATH
both "dlerror, cuBLAS 11" messages tests/ways/manners libcublas.so.11
both "names that are not there" lacking tests/ways/manners libcublas.so.11
LD_LIBRARY_PATH=$(pwd)/tests/ways/self/.libs
both "no cuBLAS" absent tests/ways/manners -
both "dlerror, no driver" messages tests/ways/manners "$LD_LIBRARY_PATH/libcublas.so.13"
both "errno" calls tests/ways/manners "$LD_LIBRARY_PATH/libcublas.so.13"

# A call of the library to itself is not one of the program.
APEXSHIM_OPT_LEVEL=O0
export APEXSHIM_OPT_LEVEL
env LD_PRELOAD="${SOFTGPU_RUNTIME:+$SOFTGPU_RUNTIME:}$so" tests/ways/nested \
    >"$work/out" 2>"$work/err" || wrong "nested: failed with $?"
says "nested" 'GEMMs seen=1 converted=0 .*forwarded=1 \(observe=1\) convertible=1'
unset APEXSHIM_OPT_LEVEL LD_LIBRARY_PATH

# Another interposer before this one is called, and calls it.
shim=$so so=$wrapper:$so
way "behind another interposer" 1 plain tests/ways/linked
says "behind another interposer" '^wrapper: cublasSgemm$'
so=$shim:$wrapper
way "before another interposer" 1 plain tests/ways/linked
[ "$failures" -eq 0 ]
