#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The adversarial scheduler finds what a program forgot: a pipeline with correct events is right for
# every seed; with one kind of event left out it is caught (wrong, or an error) for 95 of 100.
set -eu
run=${srcdir:-.}/tests/softgpu/run
program=tests/softgpu/programs/pipeline
case ${TEST_LENGTH-normal} in
fast) seeds=20 ;;
*) seeds=100 ;;
esac
least=$((seeds * 95 / 100))
failed=0

# Prints for how many seeds the program does not end well.
count() {
    caught=0 seed=1
    while [ "$seed" -le "$seeds" ]; do
        SOFTGPU_SEED=$seed "$run" "$program" "$@" >/dev/null 2>&1 || caught=$((caught + 1))
        seed=$((seed + 1))
    done
    echo "$caught"
}

n=$(count)
echo "correct events: wrong for $n of $seeds seeds"
[ "$n" -eq 0 ] || failed=1
for event in uploaded scaled summed reuse; do
    n=$(count "$event")
    echo "without $event: caught for $n of $seeds seeds"
    [ "$n" -ge "$least" ] || failed=1
done
exit $failed
