#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Roofline for "cast + tensor-core GEMM" versus SGEMM / TF32 on H200 (no GPU needed, stdlib only).

python3 roofline.py            -> markdown tables on stdout
python3 roofline.py --check    -> compare the GEMM model with the H100-SXM numbers used to calibrate it

Two parameter sets
  LIMIT : datasheet dense peaks, 4.8 TB/s, zero launch cost, perfect tiling  = the physical bound
  REAL  : 4.3 TB/s copy and ~790 TFLOP/s bf16 (measured), the rest calibrated on
          zzc0721/torch-performance-test-data issue #79 (H100 80GB HBM3, torch 2.7+cu128: FP32 51.9, TF32
          372-402, FP16 736-760, BF16 789-797 at 4096-8192; 37/120/179/177 at 1024).
          H100 SXM and H200 share the SM count (132) and clocks, so compute numbers carry over.
Every number printed from REAL is a prediction, not a measurement.
"""
import sys, math

SMS = 132
L2_BYTES = 60e6
LIMIT = dict(name="LIMIT", fp32=67.0, tf32=494.7, fp16=989.4, bf16=989.4, fp8=1978.9, bw=4.8e12, l2bw=4.8e12,
             tk=0.0, wave=False)
REAL = dict(name="REAL", fp32=52.0, tf32=400.0, fp16=755.0, bf16=790.0, fp8=1400.0, bw=4.3e12, l2bw=7.0e12,
            tk=2.5e-6, wave=True)
# tk = fixed cost of one dependent kernel in a stream (launch gap + prologue + tail), 2-3 us typical on Hopper.

TILES = {  # (tm, tn, relative efficiency of a full SM, fraction of an SM one CTA alone can reach)
    "fp32": [(128, 128, 1.0, .95), (64, 128, .95, .75), (64, 64, .85, .50), (32, 64, .60, .33), (32, 32, .35, .20),
             (16, 128, .45, .30), (8, 128, .30, .25)],
    "tf32": [(128, 256, 1.0, 1.0), (128, 128, .90, .95), (64, 128, .75, .60), (64, 64, .50, .35), (16, 128, .30, .25)],
    "fp16": [(128, 256, 1.0, 1.0), (128, 128, .88, .95), (64, 128, .70, .60), (64, 64, .45, .35), (16, 128, .30, .25)],
}
TILES["bf16"] = TILES["fp8"] = TILES["fp16"]
MIN_K_SPLIT = {"fp32": 64, "tf32": 128, "fp16": 256, "bf16": 256, "fp8": 512}


def gemm(P, M, N, K, typ, in_b, out_b=4, batch=1, beta=0, src_in_l2=False):
    """seconds for one GEMM kernel, no launch cost"""
    flop = 2.0 * M * N * K * batch
    byts_in = (M * K + K * N) * in_b * batch
    byts_out = M * N * out_b * batch * (2 if beta else 1)
    peak = P[typ] * 1e12
    if not P["wave"]:
        return max(flop / peak, (byts_in + byts_out) / P["bw"])
    best = 1e9
    sm = peak / SMS
    if min(M, N) == 1:                                       # gemv-like kernels: no tile waste
        best = flop / (peak * .2) + 1e-6
    for tm, tn, eff, alone in TILES[typ]:
        if (M < N) != (tm <= tn):                            # small side of the tile along the small dimension
            tm, tn = tn, tm
        mt, nt = math.ceil(M / tm), math.ceil(N / tn)
        for sk in (1, 2, 3, 4, 6, 8, 16):
            if sk > 1 and K / sk < MIN_K_SPLIT[typ]:
                break
            ctas = mt * nt * batch * sk
            w = 2.0 * tm * tn * K / sk                       # padded tiles are computed too
            per_sm = ctas / SMS if ctas > 12 * SMS else math.ceil(ctas / SMS)
            tc = max(per_sm * w / (sm * eff), w / (sm * eff * alone))
            tc += 0.6e-6 * min(math.ceil(ctas / SMS), 3)     # prologue/epilogue, hidden after a few waves
            if sk > 1:
                tc += 2 * sk * 4.0 * M * N * batch / P["l2bw"] + .5e-6   # partial sums out and back
            best = min(best, tc)
    inbw = P["l2bw"] if (src_in_l2 and byts_in < .8 * L2_BYTES) else P["bw"]
    mem = byts_in / inbw + byts_out / P["bw"]
    return max(best, mem)


def elt(P, nelem, rd, wr, rd_l2=False):
    """seconds for a streaming pass"""
    bw_r = P["l2bw"] if (P["wave"] and rd_l2 and nelem * rd < .8 * L2_BYTES) else P["bw"]
    return nelem * rd / bw_r + nelem * wr / P["bw"]


def paths(P, M, N, K, batch=1):
    """dict of seconds; A is MxK, B is KxN, C fp32 MxN, beta = 0"""
    a, b = M * K * batch, K * N * batch
    n = a + b
    tk = P["tk"]
    r = {}
    r["sgemm"] = gemm(P, M, N, K, "fp32", 4, 4, batch) + tk
    r["tf32"] = gemm(P, M, N, K, "tf32", 4, 4, batch) + tk
    r["fast16f"] = r["tf32"]        # header: "down-converting inputs to half or TF32"; one kernel, 4-byte loads.
    g16 = gemm(P, M, N, K, "fp16", 2, 4, batch, src_in_l2=True)
    r["fp16 gemm only"] = g16 + tk
    # amax pass + cast pass (2nd read may hit L2) + gemm
    r["cast2"] = elt(P, n, 4, 0) + elt(P, n, 4, 2, True) + g16 + 3 * tk
    # delayed scale: one pass casts with the old scale, records amax and an overflow flag
    r["cast1"] = elt(P, n, 4, 2) + g16 + 2 * tk
    # delayed scale, B (weights) already cast and provably unchanged
    r["castA"] = elt(P, a, 4, 2) + g16 + 2 * tk
    # fp16x2: split pass writes hi+lo, 3 products as ONE GEMM with K' = 3K ([Ah|Al|Ah]x[Bh;Bh;Bl]);
    # operand bytes counted for 3 panels
    g3 = gemm(P, M, N, 3 * K, "fp16", 2, 4, batch, src_in_l2=True)
    r["fp16x2 cat"] = elt(P, n, 4, 6) + g3 + 2 * tk
    # the same as three accumulating GEMMs (C read+written twice more)
    r["fp16x2 3gemm"] = (elt(P, n, 4, 4) + gemm(P, M, N, K, "fp16", 2, 4, batch, src_in_l2=True)
                         + 2 * gemm(P, M, N, K, "fp16", 2, 4, batch, beta=1, src_in_l2=True) + 4 * tk)
    for nm, prods, pieces in (("bf16x3", 3, 2), ("bf16x6", 6, 3), ("bf16x9", 9, 3)):
        gg = gemm(P, M, N, prods * K, "bf16", 2, 4, batch, src_in_l2=True)
        r[nm] = elt(P, n, 4, 2 * pieces) + gg + 2 * tk
    g8 = gemm(P, M, N, K, "fp8", 1, 4, batch, src_in_l2=True)
    r["fp8 cast1"] = elt(P, n, 4, 1) + g8 + 2 * tk
    return r


SQUARES = [256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384]
SHAPES = [  # (label, M, N, K, batch)
    ("decode M=1 4096x4096", 1, 4096, 4096, 1),
    ("decode M=16 4096x4096", 16, 4096, 4096, 1),
    ("decode M=64 11008x4096", 64, 11008, 4096, 1),
    ("MLP batch 128, 1024x1024", 128, 1024, 1024, 1),
    ("MLP batch 512, 1024x1024", 512, 1024, 1024, 1),
    ("MLP batch 1024, 4096x1024", 1024, 4096, 1024, 1),
    ("BERT-L 4096 tok 1024->4096", 4096, 4096, 1024, 1),
    ("7B qkv 2048 tok 4096->12288", 2048, 12288, 4096, 1),
    ("7B mlp 4096 tok 4096->11008", 4096, 11008, 4096, 1),
    ("7B mlp-down 4096 tok 11008->4096", 4096, 4096, 11008, 1),
    ("7B dW 4096x11008, K=8192 tok", 4096, 11008, 8192, 1),
    ("70B mlp 8192 tok 8192->28672", 8192, 28672, 8192, 1),
    ("lm_head 4096 tok 4096->32000", 4096, 32000, 4096, 1),
    ("attn QK^T 2048x2048x128 b=128", 2048, 2048, 128, 128),
    ("attn PV 2048x128x2048 b=128", 2048, 128, 2048, 128),
    ("small batched 64x64x64 b=4096", 64, 64, 64, 4096),
    ("rank-64 update 8192x8192x64", 8192, 8192, 64, 1),
]
COLS = ["sgemm", "tf32", "cast2", "cast1", "castA", "fp16x2 cat", "fp16x2 3gemm", "bf16x3", "bf16x6", "bf16x9",
        "fp8 cast1"]


def us(t):
    t *= 1e6
    return f"{t:.1f}" if t < 100 else (f"{t:.0f}" if t < 1e5 else f"{t/1e3:.0f}k")


def table(P, rows, cols):
    out = ["| shape | " + " | ".join(c + " us" for c in cols) + " | cast1/sgemm | cast2/sgemm | cast1/tf32 | x2cat/sgemm | limit cast1/sgemm |",
           "|---|" + "---|" * (len(cols) + 5)]
    for lab, M, N, K, b in rows:
        r = paths(P, M, N, K, b)
        L = paths(LIMIT, M, N, K, b)
        out.append(f"| {lab} | " + " | ".join(us(r[c]) for c in cols)
                   + f" | {r['sgemm']/r['cast1']:.2f} | {r['sgemm']/r['cast2']:.2f} | {r['tf32']/r['cast1']:.2f}"
                   + f" | {r['sgemm']/r['fp16x2 cat']:.2f} | {L['sgemm']/L['cast1']:.2f} |")
    return "\n".join(out)


def crossover(P, num, den, mk=lambda n: (n, n, n, 1), lo=64, hi=20000):
    """smallest n (multiple of 64) from which num(time) < den(time) for good"""
    last = None
    for n in range(lo, hi, 64):
        r = paths(P, *mk(n))
        if r[num] >= r[den]:
            last = n
    return "always" if last is None else ("never" if last + 64 >= hi else last + 64)


def main():
    if "--check" in sys.argv:
        ref = {"fp32": {1024: 37.39, 2048: 49.58, 4096: 51.88, 8192: 51.81},
               "tf32": {1024: 119.6, 2048: 334.99, 4096: 402.15, 8192: 372.05},
               "fp16": {1024: 179.13, 2048: 645.12, 4096: 760.04, 8192: 736.19},
               "bf16": {1024: 176.62, 2048: 676.59, 4096: 788.72, 8192: 797.51}}
        print("type size reference(H100) model TFLOP/s ratio")
        for t, d in ref.items():
            for n, v in d.items():
                b = 4 if t in ("fp32", "tf32") else 2
                s = gemm(REAL, n, n, n, t, b, b) + REAL["tk"]
                m = 2 * n ** 3 / s / 1e12
                print(f"{t} {n} {v:.0f} {m:.0f} {m/v:.2f}")
        return
    print("### Squares, REAL model (microseconds)\n")
    sq = [(f"{n}^3", n, n, n, 1) for n in SQUARES]
    print(table(REAL, sq, COLS))
    print("\n### LLM / MLP shapes, REAL model (microseconds)\n")
    print(table(REAL, SHAPES, COLS))
    print("\n### Physical limit (datasheet peaks, 4.8 TB/s, no launch cost), speed-up over the SGEMM limit\n")
    print("| shape | tf32 | cast2 | cast1 | castA | fp16 gemm only | fp16x2 cat | bf16x6 | bf16x9 | fp8 cast1 |\n|---|" + "---|" * 9)
    for lab, M, N, K, b in sq + SHAPES:
        L = paths(LIMIT, M, N, K, b)
        print(f"| {lab} | " + " | ".join(f"{L['sgemm']/L[c]:.2f}" for c in
              ("tf32", "cast2", "cast1", "castA", "fp16 gemm only", "fp16x2 cat", "bf16x6", "bf16x9", "fp8 cast1")) + " |")
    print("\n### Crossovers, square n (multiple of 64) from which the left path wins for good\n")
    for num, den in (("cast1", "sgemm"), ("cast2", "sgemm"), ("castA", "sgemm"), ("tf32", "sgemm"),
                     ("cast1", "tf32"), ("cast2", "tf32"), ("castA", "tf32"),
                     ("fp16x2 cat", "sgemm"), ("fp16x2 3gemm", "sgemm"), ("fp16x2 cat", "tf32"),
                     ("bf16x3", "sgemm"), ("bf16x6", "sgemm"), ("bf16x9", "sgemm"),
                     ("fp8 cast1", "cast1"), ("fp8 cast1", "tf32")):
        print(f"- {num} < {den}: n >= {crossover(REAL, num, den)}  (limit model: {crossover(LIMIT, num, den)})")
    print("\n### Skinny: tokens M at K=N=4096 from which the left path wins\n")
    mk = lambda n: (n, 4096, 4096, 1)
    for num, den in (("cast1", "sgemm"), ("cast2", "sgemm"), ("castA", "sgemm"), ("cast1", "tf32"), ("castA", "tf32"),
                     ("fp16x2 cat", "sgemm")):
        last = 0
        for m in list(range(1, 64)) + list(range(64, 8193, 64)):
            r = paths(REAL, *mk(m))
            if r[num] >= r[den]:
                last = m
        print(f"- {num} < {den}: M > {last}")


if __name__ == "__main__":
    main()
