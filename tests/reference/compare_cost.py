#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the shim's cost model with tests/reference/roofline.py, which was calibrated on published
measurements of an H100.

Usage: compare_cost.py COST_TABLE [SEED]

What counts is the decision: with the reference's times, what the shim chooses may take at most so
much longer than the best choice. Also compared: large squares path by path, and the crossovers."""
import math
import random
import subprocess
import sys

import roofline

REAL, LAUNCH = roofline.REAL, roofline.REAL["tk"]
PATHS = ["forward", "tf32", "fp16", "bf16", "fp16x2", "bf16x3", "bf16x6", "fp8", "fp8_e5m2_a", "fp8_e5m2_b",
         "exact"]
LEAST_GAIN = 1.15
CLASSES = {"fp16": ["tf32", "fp16"], "tf32": ["tf32"], "bf16": ["tf32", "bf16"],
           "fp16x2": ["fp16x2"], "bf16x3": ["bf16x3"], "bf16x6": ["bf16x6"]}


def split(m, n, k, batch, kind, pieces, limit, casts):
    """Parts of K of at most limit elements, pieces products each, the later ones added to C."""
    parts = math.ceil(k / limit)
    part = math.ceil(k / parts) * pieces
    elements = (m * k + k * n) * batch
    seconds = roofline.elt(REAL, elements, 4, 2 * pieces) + (casts + parts) * LAUNCH
    seconds += roofline.gemm(REAL, m, n, part, kind, 2, 4, batch, src_in_l2=True)
    return seconds + (parts - 1) * roofline.gemm(REAL, m, n, part, kind, 2, 4, batch, 1, True)


def reference(m, n, k, batch):
    known = roofline.paths(REAL, m, n, k, batch)
    elements = (m * k + k * n) * batch
    return {
        "forward": known["sgemm"],
        "tf32": known["tf32"],
        "fp16": known["cast1"] + LAUNCH,  # the kernel that checks the prediction
        "bf16": roofline.elt(REAL, elements, 4, 2) + 2 * LAUNCH +
                roofline.gemm(REAL, m, n, k, "bf16", 2, 4, batch, src_in_l2=True),
        "fp16x2": split(m, n, k, batch, "fp16", 3, 512, 2),
        "bf16x3": split(m, n, k, batch, "bf16", 3, 2048, 1),
        "bf16x6": split(m, n, k, batch, "bf16", 6, 512, 1),
        "fp8": known["fp8 cast1"] + LAUNCH,
        "exact": known["cast2"],
        "fp8_e5m2_a": known["fp8 cast1"] + LAUNCH,
        "fp8_e5m2_b": known["fp8 cast1"] + LAUNCH,
    }


def shim(program, shapes):
    text = "".join(f"{m} {n} {k} {b}\n" for m, n, k, b in shapes)
    out = subprocess.run([program, "90", "132"], input=text, stdout=subprocess.PIPE, text=True,
                         check=True).stdout
    return [dict(zip(PATHS, map(float, line.split()))) for line in out.splitlines()]


def choose(seconds, choices):
    best = min(choices, key=lambda path: seconds[path])
    return best if seconds[best] * LEAST_GAIN <= seconds["forward"] else "forward"


def crossover(times, sizes, left, right):
    """The smallest size from which left is faster than right for good."""
    last = -1
    for i, t in enumerate(times):
        if t[left] >= t[right]:
            last = i
    return sizes[last + 1] if last + 1 < len(sizes) else math.inf


def random_shape():
    def size():
        return max(1, int(2 ** random.uniform(3, 14.5)))
    m, n, k = size(), size(), size()
    batch = random.choice([1, 1, 1, 1, 2, 8, 64])
    return (m, n, k, batch) if m * n * k * batch < 2e13 else (m, n, 64, 1)


def main():
    program = sys.argv[1]
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    random.seed(seed)
    failures = []

    squares = list(range(64, 8193, 64))
    ours = shim(program, [(n, n, n, 1) for n in squares])
    theirs = [reference(n, n, n, 1) for n in squares]
    for n, a, b in zip(squares, ours, theirs):
        for path in PATHS:
            limit = 1.35 if n >= 1536 else 1.8
            if not 1 / limit < a[path] / b[path] < limit:
                failures.append(f"{n}^3 by {path}: {a[path] * 1e6:.1f} us, reference {b[path] * 1e6:.1f}")
    print("crossovers, square: from where the left path is faster for good")
    for left, right in (("fp16", "forward"), ("exact", "forward"), ("fp16", "tf32"),
                        ("exact", "tf32"), ("bf16", "tf32"), ("fp16x2", "forward"),
                        ("bf16x3", "forward"), ("bf16x6", "forward")):
        a, b = crossover(ours, squares, left, right), crossover(theirs, squares, left, right)
        print(f"  {left:7} < {right:8} shim {a:5} reference {b:5}")
        if not 0.8 <= a / b <= 1.25:
            failures.append(f"{left} < {right}: from {a}, reference from {b}")

    shapes = [random_shape() for _ in range(3000)] + [s[1:] for s in roofline.SHAPES]
    ours = shim(program, shapes)
    print(f"choices for {len(shapes)} shapes (seed {seed}), with the reference's times")
    for name, choices in CLASSES.items():
        lost, best_total, ours_total, slower = 1.0, 0.0, 0.0, 0.0
        where = None
        for shape, a in zip(shapes, ours):
            b = reference(*shape)
            chosen = b[choose(a, choices)]
            best = min([b["forward"]] + [b[p] for p in choices])
            best_total += math.log(best)
            ours_total += math.log(chosen)
            slower = max(slower, chosen / b["forward"])
            if chosen / best > lost:
                lost, where = chosen / best, shape
        mean = math.exp((ours_total - best_total) / len(shapes))
        print(f"  {name:7} mean {mean:.3f} of the best, worst {lost:.2f} at {where}, "
              f"at worst {slower:.2f} of forwarding")
        if mean > 1.03 or slower > 1.05 or lost > 1.5:
            failures.append(f"{name}: the choices cost {mean:.3f} of the best on average, up to "
                            f"{slower:.2f} of forwarding")
    for line in failures[:20]:
        print("FAIL", line)
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
