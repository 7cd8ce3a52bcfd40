/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of the rules around GEMM in libcublas: the edges of BLAS, status codes, the state of a
 * handle, and its workspace. */
#include "blas.h"

/* The C header does not show it. */
cublasStatus_t cublasHgemm(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int, int,
                           const void *, const void *, int, const void *, int, const void *, void *,
                           int);

/* NaN in A, B or C must vanish where BLAS says that it isn't read. */
START_TEST(edges)
{
    const float one = 1, zero = 0, two = 2;
    struct array nan = array_poison(CUDA_R_32F, 16), c = array_new(CUDA_R_32F, 16);
    struct array old = array_poison(CUDA_R_32F, 16);
    memcpy(old.host, c.host, 64);
    const cublasOperation_t n = CUBLAS_OP_N;
    /* alpha == 0 and k == 0: C = beta C */
    OK(cublasSgemm_v2(handle, n, n, 4, 4, 4, &zero, PTR(nan), 4, PTR(nan), 4, &two, PTR(c), 4));
    array_get(&c);
    for (int i = 0; i < 16; i++)
        ck_assert(array_at(&c, i) == 2.0 * array_at(&old, i));
    OK(cublasSgemm_v2(handle, n, n, 4, 4, 0, &one, NULL, 4, NULL, 1, &two, PTR(c), 4));
    array_get(&c);
    for (int i = 0; i < 16; i++)
        ck_assert(array_at(&c, i) == 4.0 * array_at(&old, i));
    /* beta == 0: C is not read, with k == 0 too */
    array_put(&nan);
    OK(cublasSgemm_v2(handle, n, n, 4, 4, 0, &one, NULL, 4, NULL, 1, &zero, PTR(nan), 4));
    array_get(&nan);
    for (int i = 0; i < 16; i++)
        ck_assert(array_at(&nan, i) == 0.0);
    OK(cublasGemmEx(handle, n, n, 4, 4, 0, &one, NULL, CUDA_R_32F, 4, NULL, CUDA_R_32F, 1, &two,
                    PTR(c), CUDA_R_32F, 4, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    array_get(&c);
    for (int i = 0; i < 16; i++)
        ck_assert(array_at(&c, i) == 8.0 * array_at(&old, i));
    /* nothing to do: nothing is counted */
    const uint64_t calls = counter("gemm.f32");
    OK(cublasSgemm_v2(handle, n, n, 0, 4, 4, &one, NULL, 1, NULL, 4, &one, NULL, 1));
    OK(cublasSgemm_v2(handle, n, n, 4, 0, 4, &one, NULL, 4, NULL, 4, &one, NULL, 4));
    ck_assert_uint_eq(counter("gemm.f32"), calls);
    array_free(&nan);
    array_free(&c);
    array_free(&old);
}
END_TEST

START_TEST(statuses)
{
    const float one = 1;
    struct array x = array_new(CUDA_R_32F, 64);
    void *p = PTR(x);
    const cublasOperation_t n = CUBLAS_OP_N, t = CUBLAS_OP_T, bad = (cublasOperation_t)7;
    STATUS(cublasSgemm_v2(NULL, n, n, 2, 2, 2, &one, p, 2, p, 2, &one, p, 2), NOT_INITIALIZED);
    STATUS(cublasSgemm_v2(handle, bad, n, 2, 2, 2, &one, p, 2, p, 2, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, bad, 2, 2, 2, &one, p, 2, p, 2, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, n, -1, 2, 2, &one, p, 2, p, 2, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, n, 2, -1, 2, &one, p, 2, p, 2, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, n, 2, 2, -1, &one, p, 2, p, 2, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, n, 3, 2, 2, &one, p, 2, p, 2, &one, p, 3), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, t, n, 2, 2, 3, &one, p, 2, p, 3, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, n, 2, 2, 3, &one, p, 2, p, 2, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, t, 2, 3, 2, &one, p, 2, p, 2, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, n, 3, 2, 2, &one, p, 3, p, 2, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, n, 2, 2, 2, NULL, p, 2, p, 2, &one, p, 2), INVALID_VALUE);
    STATUS(cublasSgemm_v2(handle, n, n, 2, 2, 2, &one, p, 2, p, 2, NULL, p, 2), INVALID_VALUE);
    STATUS(
        cublasSgemmStridedBatched(handle, n, n, 2, 2, 2, &one, p, 2, 0, p, 2, 0, &one, p, 2, 4, -1),
        INVALID_VALUE);
    STATUS(cublasGemmEx(handle, n, n, 2, 2, 2, &one, p, CUDA_R_16F, 2, p, CUDA_R_32F, 2, &one, p,
                        CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
           NOT_SUPPORTED);
    STATUS(cublasGemmEx(handle, n, n, 2, 2, 2, &one, p, CUDA_R_32F, 2, p, CUDA_R_32F, 2, &one, p,
                        CUDA_R_32F, 2, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT),
           NOT_SUPPORTED);
    STATUS(cublasGemmEx(handle, n, n, 2, 2, 2, &one, p, CUDA_R_32F, 2, p, CUDA_R_32F, 2, &one, p,
                        CUDA_R_32F, 2, CUBLAS_COMPUTE_32F, (cublasGemmAlgo_t)500),
           INVALID_VALUE);
    STATUS(cublasHgemm(NULL, n, n, 2, 2, 2, &one, p, 2, p, 2, &one, p, 2), NOT_INITIALIZED);
    array_free(&x);
}
END_TEST

START_TEST(handle_state)
{
    cublasPointerMode_t pointer_mode;
    cublasAtomicsMode_t atomics;
    cublasMath_t math;
    cudaStream_t stream;
    int value;
    OK(cublasGetPointerMode_v2(handle, &pointer_mode));
    ck_assert_int_eq(pointer_mode, CUBLAS_POINTER_MODE_HOST);
    OK(cublasGetAtomicsMode(handle, &atomics));
    ck_assert_int_eq(atomics, CUBLAS_ATOMICS_NOT_ALLOWED);
    OK(cublasGetMathMode(handle, &math));
    ck_assert_int_eq(math, CUBLAS_DEFAULT_MATH);
    OK(cublasGetStream_v2(handle, &stream));
    ck_assert_ptr_null(stream);
    OK(cublasSetSmCountTarget(handle, 20));
    OK(cublasGetSmCountTarget(handle, &value));
    ck_assert_int_eq(value, 20);
    STATUS(cublasSetSmCountTarget(handle, -1), INVALID_VALUE);
    STATUS(cublasSetPointerMode_v2(handle, (cublasPointerMode_t)9), INVALID_VALUE);
    STATUS(cublasGetStream_v2(handle, NULL), INVALID_VALUE);
    STATUS(cublasGetStream_v2(NULL, &stream), NOT_INITIALIZED);
    STATUS(cublasDestroy_v2(NULL), NOT_INITIALIZED);
    STATUS(cublasCreate_v2(NULL), INVALID_VALUE);
    OK(cublasGetVersion_v2(handle, &value));
    ck_assert_int_eq(value, CUBLAS_VERSION);
    OK(cublasGetProperty(MAJOR_VERSION, &value));
    ck_assert_int_eq(value, CUBLAS_VER_MAJOR);
    ck_assert_str_eq(cublasGetStatusName(CUBLAS_STATUS_NOT_SUPPORTED),
                     "CUBLAS_STATUS_NOT_SUPPORTED");
    struct array w = array_poison(CUDA_R_8I, 1 << 16);
    OK(cublasSetWorkspace_v2(handle, PTR(w), 1 << 16));
    STATUS(cublasSetWorkspace_v2(handle, (char *)PTR(w) + 16, 1 << 15), INVALID_VALUE);
    OK(cublasSetWorkspace_v2(handle, NULL, 0));
    array_free(&w);
}
END_TEST

/* A small D with a long sum takes the split-K way: it may use the program's workspace, all that is
 * left of it afterwards is garbage, and never a byte beyond it. */
START_TEST(workspace_is_respected)
{
    const float one = 1, zero = 0;
    struct array a = array_new(CUDA_R_16F, 64 * 4096), c = array_poison(CUDA_R_32F, 64 * 64);
    struct array w = array_poison(CUDA_R_8I, 1 << 17);
    memset(w.host, 0x55, 1 << 17);
    array_put(&w);
    OK(cublasSetWorkspace_v2(handle, PTR(w), 1 << 16));
    OK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 64, 64, 4096, &one, PTR(a), CUDA_R_16F, 4096,
                    PTR(a), CUDA_R_16F, 4096, &zero, PTR(c), CUDA_R_32F, 64, CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT));
    array_get(&w);
    ck_assert_int_ne(w.host[0], 0x55);
    int changed = 0;
    for (int i = 1 << 16; i < 1 << 17; i++)
        changed += w.host[i] != 0x55;
    ck_assert_int_eq(changed, 0);
    /* SetStream forgets it */
    memset(w.host, 0x55, 1 << 17);
    array_put(&w);
    OK(cublasSetStream_v2(handle, NULL));
    OK(cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, 64, 64, 4096, &one, PTR(a), CUDA_R_16F, 4096,
                    PTR(a), CUDA_R_16F, 4096, &zero, PTR(c), CUDA_R_32F, 64, CUBLAS_COMPUTE_32F,
                    CUBLAS_GEMM_DEFAULT));
    array_get(&w);
    ck_assert_int_eq(w.host[0], 0x55);
    array_free(&a);
    array_free(&c);
    array_free(&w);
}
END_TEST

Suite *suite_rules(void)
{
    Suite *suite = suite_create("cublas rules");
    TCase *tests = tcase_create("rules");
    tcase_add_checked_fixture(tests, blas_setup, blas_teardown);
    tcase_add_test(tests, edges);
    tcase_add_test(tests, statuses);
    tcase_add_test(tests, handle_state);
    tcase_add_test(tests, workspace_is_respected);
    suite_add_tcase(suite, tests);
    return suite;
}
