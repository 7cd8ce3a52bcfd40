# SPDX-License-Identifier: BSD-3-Clause
"""A GEMM by ctypes, as Python users call libraries: cuBLAS and cudart opened by name."""
import ctypes
import sys

cudart = ctypes.CDLL("libcudart.so.13")
cublas = ctypes.CDLL("libcublas.so.13")
n = 32
host = (ctypes.c_float * (n * n))(*[((i * 7) % 13 - 6) / 6 for i in range(n * n)])
matrices = [ctypes.c_void_p() for _ in range(3)]
for matrix in matrices:
    assert cudart.cudaMalloc(ctypes.byref(matrix), ctypes.c_size_t(4 * n * n)) == 0
for matrix in matrices[:2]:
    assert cudart.cudaMemcpy(matrix, host, ctypes.c_size_t(4 * n * n), 1) == 0
handle = ctypes.c_void_p()
assert cublas.cublasCreate_v2(ctypes.byref(handle)) == 0
one, zero = ctypes.c_float(1), ctypes.c_float(0)
assert cublas.cublasSgemm_v2(handle, 0, 0, n, n, n, ctypes.byref(one), matrices[0], n, matrices[1], n,
                             ctypes.byref(zero), matrices[2], n) == 0
result = (ctypes.c_float * (n * n))()
assert cudart.cudaMemcpy(result, matrices[2], ctypes.c_size_t(4 * n * n), 2) == 0
for i in range(n):
    for j in range(n):
        wanted = sum(host[i + k * n] * host[k + j * n] for k in range(n))
        if not abs(wanted - result[i + j * n]) < 0.02:
            sys.exit(f"C({i},{j}) is {result[i + j * n]}, expected {wanted}")
