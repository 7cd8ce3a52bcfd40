#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# As compiled for sm_90 no kernel spills, and where operands are aligned each of their elements is read
# and written 16 bytes at a time.
set -eu
nvcc=$(sed -n 's/^NVCC = //p' Makefile)
PYTHONDONTWRITEBYTECODE=1 exec "${srcdir:-.}/tools/kernels-report" --nvcc="$nvcc" --check
