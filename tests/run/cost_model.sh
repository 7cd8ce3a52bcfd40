#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shim's cost model against the reference roofline: times, crossovers, and what the choices for
# random shapes cost. SEED: other shapes.
set -eu
PYTHONDONTWRITEBYTECODE=1 exec python3 "${srcdir:-.}/tests/reference/compare_cost.py" \
    tests/reference/cost_table "${SEED:-1}"
