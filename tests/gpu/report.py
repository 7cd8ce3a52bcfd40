#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts together what the parts of tests/gpu/accept left in a folder: prints the table of matrix
products, judges their errors, writes the JSON file.

Usage: report.py FOLDER gpu|softgpu [JSON FILE]"""
import json
import pathlib
import sys

# The error of a product of random numbers, over the size of the result.
FP32_LIMIT = 1e-5
TF32_LIMIT = 1e-3
COLUMNS = [("fp32", "FP32"), ("tf32", "TF32"), ("always", "always"), ("cost", "cost")]


def load(path):
    return json.loads(path.read_text()) if path.is_file() else None


def gemm_rows(folder):
    """One dictionary a size, with the time and error of each way to compute it."""
    runs = {key: load(folder / f"gemm-{key}.json") for key, _ in COLUMNS}
    if not all(runs.values()):
        return None, []
    rows = []
    for index, plain in enumerate(runs["fp32"]["results"]):
        row = {"n": plain["n"]}
        for key, run in runs.items():
            row[f"{key}_us"] = run["results"][index]["us"]
            row[f"{key}_error"] = run["results"][index]["error"]
        row["speedup"] = row["fp32_us"] / row["cost_us"]
        rows.append(row)
    return runs["fp32"]["device"], rows


def print_table(device, rows, how):
    print(f"\nFP32 matrix products n x n x n on {device}, times {how}, in us; TFLOP/s in brackets")
    print("always, cost: under the preload with that APEXSHIM_POLICY; "
          "x: FP32 over cost; errors relative to the result\n")
    print("".join(f"{title:>{width}}" for title, width in
                  [("n", 7)] + [(title, 20) for _, title in COLUMNS] +
                  [("x", 8), ("error FP32", 12), ("TF32", 10), ("always", 10)]))
    for row in rows:
        line = f"{row['n']:>7}"
        for key, _ in COLUMNS:
            us = row[f"{key}_us"]
            rate = 2e-6 * row["n"] ** 3 / us
            line += f"{f'{us:.1f} ({rate:.1f})':>20}"
        print(f"{line}{row['speedup']:>8.2f}{row['fp32_error']:>12.1e}{row['tf32_error']:>10.1e}"
              f"{row['always_error']:>10.1e}")


def main():
    folder, kind = pathlib.Path(sys.argv[1]), sys.argv[2]
    how = "measured" if kind == "gpu" else "modelled"
    parts = [line.split("\t") for line in (folder / "parts.tsv").read_text().splitlines()]
    device, rows = gemm_rows(folder)
    wrong = []
    if rows:
        print_table(device, rows, how)
        for row in rows:
            if row["fp32_error"] > FP32_LIMIT:
                wrong.append(f"n = {row['n']}: FP32 error {row['fp32_error']:.1e}")
            for key in ("tf32", "always", "cost"):
                if row[f"{key}_error"] > TF32_LIMIT:
                    wrong.append(f"n = {row['n']}: {key} error {row[f'{key}_error']:.1e}")
            if row["always_error"] == row["fp32_error"]:
                wrong.append(f"n = {row['n']}: the preload changed nothing")
    for line in wrong:
        print(f"failed: {line}")
    if len(sys.argv) > 3:
        result = {"device": device, "kind": kind, "times": how,
                  "parts": [{"name": name, "verdict": verdict, "seconds": int(seconds)}
                            for name, verdict, seconds in parts],
                  "demo": load(folder / "demo.json"), "gemm": rows, "wrong": wrong}
        pathlib.Path(sys.argv[3]).write_text(json.dumps(result, indent=1) + "\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
