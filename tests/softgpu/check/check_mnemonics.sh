#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Runs check_mnemonics on the PTX of the kernels, the test programs and the test kernels.
set -e
here=tests/softgpu/check
exec "$here/check_mnemonics" "$here/tested.txt" "$here"/used/*.ptx "$here"/kernels/*.ptx
