#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The adversarial scheduler: a pipeline with correct events is right for every seed, and one with
# something left out is wrong for at least 95 of 100. The checks of the driver hold for seeds too.
set -eu
dir=tests/softgpu/check
case ${TEST_LENGTH-normal} in
fast) seeds=20 more=20 ;;
long) seeds=100 more=100 ;;
*) seeds=100 more=20 ;; # one event left out is tried with all of them
esac
failed=0

# Prints how many seeds made the program end with the given status.
count() {
    fault=$1 status=$2 n=0 seed=1
    while [ "$seed" -le "$seeds" ]; do
        got=0
        SOFTGPU_SEED=$seed "$dir/driver_order" "$fault" 2>driver_seeds.err || got=$?
        [ "$got" -ne "$status" ] || n=$((n + 1))
        if [ "$got" -gt 1 ]; then
            echo "driver_order $fault with seed $seed ends with status $got" >&2
            cat driver_seeds.err >&2
        fi
        seed=$((seed + 1))
    done
    echo "$n"
}

n=$(count none 0)
echo "correct events: right for $n of $seeds seeds"
[ "$n" -eq "$seeds" ] || failed=1
for fault in first-event second-event reuse host-value free; do
    [ "$fault" = first-event ] || seeds=$more
    least=$((seeds * 95 / 100))
    n=$(count "$fault" 1)
    echo "without $fault: wrong for $n of $seeds seeds"
    [ "$n" -ge "$least" ] || failed=1
done
for seed in 1 2 3; do
    SOFTGPU_SEED=$seed "$dir/check_driver" >driver_seeds.out 2>&1 || {
        echo "check_driver fails with seed $seed:"
        cat driver_seeds.out
        failed=1
    }
done
rm -f driver_seeds.err driver_seeds.out
exit $failed
