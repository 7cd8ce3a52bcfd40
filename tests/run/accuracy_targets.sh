#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The targets of doc/accuracy.md, on new random data: fp16 at most 1.05 times the error of tf32,
# fp16x2 at most 3 times that of fp32 from K = 4096 on and 10 times below. A third of the table.
set -eu
srcdir=${srcdir:-.}
seed=$(date +%s)
echo "data $seed"
"$srcdir/tests/accuracy/report" accuracy --fast --seed "$seed"
