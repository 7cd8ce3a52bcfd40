/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of the rules of cuBLASLt: heuristics, algorithms bound to types, alignment, workspaces,
 * attributes, and what must be refused. */
#include "blas_lt.h"

static void preference_set(cublasLtMatmulPreference_t p, int attr, uint64_t value, size_t bytes)
{
    OK(cublasLtMatmulPreferenceSetAttribute(p, (cublasLtMatmulPreferenceAttributes_t)attr, &value,
                                            bytes));
}

START_TEST(heuristics_and_algorithms)
{
    const bool col[4] = {0};
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F,
                       .scale = CUDA_R_32F,
                       .transa = CUBLAS_OP_T,
                       .m = 64,
                       .n = 64,
                       .k = 2048,
                       .batch = 1,
                       .alpha = 1,
                       .beta = 0};
    lt_make(&t, CUDA_R_16F, CUDA_R_32F, col, 0);
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t results[8], checked;
    int n = 0;
    OK(cublasLtMatmulPreferenceCreate(&preference));
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2],
                                      t.layout[3], preference, 8, results, &n));
    ck_assert_int_gt(n, 0);
    for (int i = 0; i < n; i++)
        ck_assert_uint_eq(results[i].workspaceSize, 0); /* none is allowed by default */
    preference_set(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, 1 << 20, 8);
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2],
                                      t.layout[3], preference, 8, results, &n));
    ck_assert_uint_gt(results[0].workspaceSize, 0);
    struct array w = array_poison(CUDA_R_8I, 1 << 20);
    for (int i = 0; i < n; i++) {
        ck_assert_int_eq(results[i].state, 0);
        OK(cublasLtMatmulAlgoCheck(lt, t.desc, t.layout[0], t.layout[1], t.layout[2], t.layout[3],
                                   &results[i].algo, &checked));
        ck_assert_uint_eq(checked.workspaceSize, results[i].workspaceSize);
        lt_compare(&t, &results[i].algo, PTR(w), results[i].workspaceSize, "algorithm");
    }
    STATUS(lt_run(&t, &results[0].algo, PTR(w), results[0].workspaceSize - 1), INVALID_VALUE);
    STATUS(lt_run(&t, &results[0].algo, (char *)PTR(w) + 16, results[0].workspaceSize),
           INVALID_VALUE);
    STATUS(lt_run(&t, &results[0].algo, NULL, results[0].workspaceSize), INVALID_VALUE);

    /* one result is asked for: one comes, the best */
    cublasLtMatmulHeuristicResult_t first;
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2],
                                      t.layout[3], preference, 1, &first, &n));
    ck_assert_int_eq(n, 1);
    ck_assert_mem_eq(&first.algo, &results[0].algo, sizeof first.algo);
    STATUS(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2],
                                          t.layout[3], preference, 0, &first, &n),
           INVALID_VALUE);

    /* made for other types */
    struct matmul u = {.compute = CUBLAS_COMPUTE_32F,
                       .scale = CUDA_R_32F,
                       .transa = CUBLAS_OP_T,
                       .m = 64,
                       .n = 64,
                       .k = 64,
                       .batch = 1,
                       .alpha = 1,
                       .beta = 0};
    lt_make(&u, CUDA_R_32F, CUDA_R_32F, col, 0);
    STATUS(lt_run(&u, &first.algo, PTR(w), 1 << 20), INVALID_VALUE);
    lt_drop(&u);
    lt_make(&u, CUDA_R_16BF, CUDA_R_32F, col, 0);
    STATUS(lt_run(&u, &first.algo, PTR(w), 1 << 20), INVALID_VALUE);
    lt_drop(&u);
    lt_make(&u, CUDA_R_32F, CUDA_R_32F, col, 0);

    /* made by hand */
    int ids[16];
    OK(cublasLtMatmulAlgoGetIds(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                CUDA_R_32F, CUDA_R_32F, 16, ids, &n));
    for (int i = 0; i < n; i++) {
        cublasLtMatmulAlgo_t algo;
        uint32_t tiles[8];
        size_t written;
        OK(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                  CUDA_R_32F, CUDA_R_32F, ids[i], &algo));
        OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_TILE_IDS, NULL, 0, &written));
        OK(cublasLtMatmulAlgoCapGetAttribute(&algo, CUBLASLT_ALGO_CAP_TILE_IDS, tiles, written,
                                             &written));
        OK(cublasLtMatmulAlgoConfigSetAttribute(&algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &tiles[0], 4));
        OK(cublasLtMatmulAlgoConfigGetAttribute(&algo, CUBLASLT_ALGO_CONFIG_TILE_ID, &tiles[1], 4,
                                                &written));
        ck_assert_uint_eq(tiles[0], tiles[1]);
        lt_compare(&u, &algo, NULL, 0, "algorithm made by hand");
    }
    STATUS(cublasLtMatmulAlgoInit(lt, CUBLAS_COMPUTE_32F, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F,
                                  CUDA_R_32F, CUDA_R_32F, 12345, &first.algo),
           INVALID_VALUE);
    OK(cublasLtMatmulPreferenceDestroy(preference));
    array_free(&w);
    lt_drop(&u);
    lt_drop(&t);
}
END_TEST

/* An algorithm for aligned operands is refused for others; the preferences steer the choice. */
START_TEST(alignment)
{
    const bool col[4] = {0};
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F,
                       .scale = CUDA_R_32F,
                       .m = 64,
                       .n = 64,
                       .k = 64,
                       .batch = 1,
                       .alpha = 1,
                       .beta = 0};
    lt_make(&t, CUDA_R_16F, CUDA_R_32F, col, 8);
    const int64_t n_a = t.a.data.n;
    array_free(&t.a.data);
    t.a.data = array_new(CUDA_R_16F, n_a + 1); /* room for the shift below */
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t aligned, any;
    int n;
    OK(cublasLtMatmulPreferenceCreate(&preference));
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2],
                                      t.layout[3], preference, 1, &aligned, &n));
    preference_set(preference, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, 2, 4);
    OK(cublasLtMatmulAlgoGetHeuristic(lt, t.desc, t.layout[0], t.layout[1], t.layout[2],
                                      t.layout[3], preference, 1, &any, &n));
    lt_compare(&t, &aligned.algo, NULL, 0, "aligned");
    lt_compare(&t, &any.algo, NULL, 0, "any");
    t.a.data.device += 2;
    STATUS(lt_run(&t, &aligned.algo, NULL, 0), NOT_SUPPORTED);
    OK(lt_run(&t, &any.algo, NULL, 0));
    OK(lt_run(&t, NULL, NULL, 0));
    t.a.data.device -= 2;
    OK(cublasLtMatmulPreferenceDestroy(preference));
    lt_drop(&t);
}
END_TEST

START_TEST(attributes)
{
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t layout;
    cublasLtMatmulDescOpaque_t on_stack;
    size_t written = 0;
    int32_t value = 0;
    int64_t wide = 0;
    OK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, NULL, 0, &written));
    ck_assert_uint_eq(written, 4);
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 4, &written));
    ck_assert_int_eq(value, CUBLASLT_EPILOGUE_DEFAULT);
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, &value, 4, NULL));
    ck_assert_int_eq(value, CUBLAS_COMPUTE_32F);
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, &value, 4, NULL));
    ck_assert_int_eq(value, -1);
    value = CUBLASLT_EPILOGUE_DGELU_BGRAD;
    OK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 4));
    value = 0;
    OK(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 4, NULL));
    ck_assert_int_eq(value, CUBLASLT_EPILOGUE_DGELU_BGRAD);
    STATUS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, &value, 8),
           INVALID_VALUE);
    STATUS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, NULL, 4),
           INVALID_VALUE);
    STATUS(cublasLtMatmulDescGetAttribute(desc, CUBLASLT_MATMUL_DESC_EPILOGUE, NULL, 0, NULL),
           INVALID_VALUE);
    STATUS(
        cublasLtMatmulDescGetAttribute(desc, (cublasLtMatmulDescAttributes_t)99, &value, 4, NULL),
        INVALID_VALUE);
    OK(cublasLtMatmulDescInit(&on_stack, CUBLAS_COMPUTE_64F, CUDA_R_64F));
    OK(cublasLtMatmulDescGetAttribute(&on_stack, CUBLASLT_MATMUL_DESC_SCALE_TYPE, &value, 4, NULL));
    ck_assert_int_eq(value, CUDA_R_64F);
    STATUS(cublasLtMatmulDescInit_internal(&on_stack, 8, CUBLAS_COMPUTE_64F, CUDA_R_64F),
           ALLOC_FAILED);
    OK(cublasLtMatrixLayoutCreate(&layout, CUDA_R_16F, UINT64_C(5000000000), 3,
                                  INT64_C(6000000000)));
    OK(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_LD, &wide, 8, &written));
    ck_assert_int_eq(wide, INT64_C(6000000000));
    OK(cublasLtMatrixLayoutGetAttribute(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &value, 4,
                                        NULL));
    ck_assert_int_eq(value, 1);
    OK(cublasLtMatrixLayoutDestroy(layout));
    OK(cublasLtMatmulDescDestroy(desc));
}
END_TEST

START_TEST(refusals)
{
    const bool col[4] = {0};
    struct matmul t = {.compute = CUBLAS_COMPUTE_32F,
                       .scale = CUDA_R_32F,
                       .m = 16,
                       .n = 16,
                       .k = 16,
                       .batch = 1,
                       .alpha = 1,
                       .beta = 1};
    lt_make(&t, CUDA_R_16F, CUDA_R_32F, col, 0);
    const float one = 1;
    void *a = PTR(t.a.data), *d = PTR(t.d.data), *c = PTR(t.c.data);
    STATUS(cublasLtMatmul(NULL, t.desc, &one, a, t.layout[0], a, t.layout[1], &one, c, t.layout[2],
                          d, t.layout[3], NULL, NULL, 0, NULL),
           NOT_INITIALIZED);
    STATUS(cublasLtMatmul(lt, NULL, &one, a, t.layout[0], a, t.layout[1], &one, c, t.layout[2], d,
                          t.layout[3], NULL, NULL, 0, NULL),
           INVALID_VALUE);
    STATUS(cublasLtMatmul(lt, t.desc, NULL, a, t.layout[0], a, t.layout[1], &one, c, t.layout[2], d,
                          t.layout[3], NULL, NULL, 0, NULL),
           INVALID_VALUE);
    STATUS(cublasLtMatmul(lt, t.desc, &one, a, t.layout[0], a, t.layout[1], &one, NULL, t.layout[2],
                          d, t.layout[3], NULL, NULL, 0, NULL),
           INVALID_VALUE);
    /* a cublasHandle_t serves as a cublasLtHandle_t */
    OK(cublasLtMatmul((cublasLtHandle_t)handle, t.desc, &one, a, t.layout[0], a, t.layout[1], &one,
                      c, t.layout[2], d, t.layout[3], NULL, NULL, 0, NULL));
    const uint64_t rows = 17;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[1], CUBLASLT_MATRIX_LAYOUT_ROWS, &rows, 8));
    STATUS(lt_run(&t, NULL, NULL, 0), INVALID_VALUE);
    lt_drop(&t);
    lt_make(&t, CUDA_R_16F, CUDA_R_32F, col, 0);
    const int32_t order = CUBLASLT_ORDER_COL32;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[0], CUBLASLT_MATRIX_LAYOUT_ORDER, &order, 4));
    STATUS(lt_run(&t, NULL, NULL, 0), NOT_SUPPORTED);
    lt_drop(&t);
    lt_make(&t, CUDA_R_16F, CUDA_R_16BF, col, 0); /* no such combination */
    STATUS(lt_run(&t, NULL, NULL, 0), NOT_SUPPORTED);
    lt_drop(&t);
    /* scale pointers belong to FP8 */
    lt_make(&t, CUDA_R_16F, CUDA_R_32F, col, 0);
    lt_set(&t, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &t.a.data.device, 8);
    STATUS(lt_run(&t, NULL, NULL, 0), NOT_SUPPORTED);
    lt_drop(&t);
    /* in place with another layout */
    t.in_place = true;
    lt_make(&t, CUDA_R_16F, CUDA_R_32F, col, 2);
    const int64_t ld = 17;
    OK(cublasLtMatrixLayoutSetAttribute(t.layout[2], CUBLASLT_MATRIX_LAYOUT_LD, &ld, 8));
    STATUS(lt_run(&t, NULL, NULL, 0), INVALID_VALUE);
    lt_drop(&t);
}
END_TEST

Suite *suite_lt_rules(void)
{
    Suite *suite = suite_create("cublasLt rules");
    TCase *tests = tcase_create("rules");
    tcase_add_checked_fixture(tests, lt_setup, lt_teardown);
    tcase_add_test(tests, heuristics_and_algorithms);
    tcase_add_test(tests, alignment);
    tcase_add_test(tests, attributes);
    tcase_add_test(tests, refusals);
    suite_add_tcase(suite, tests);
    return suite;
}
