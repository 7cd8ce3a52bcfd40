/* SPDX-License-Identifier: BSD-3-Clause
 * cuGetProcAddress against the toolkit's own list of function types: every base name, version and
 * per-thread form leads to the exported function that the toolkit's headers mean by it. The build
 * makes driver_rows.def of cudaTypedefs.h: ROW(name, version, suffix), sorted. */
#include "config.h"

#include "driver.h"

#include <dlfcn.h>
#include <stdio.h>

struct row {
    const char *name;
    int version;
    const char *suffix; /* "", "_ptds" or "_ptsz" */
};

static const struct row rows[] = {
#define ROW(_name, _version, _suffix) {#_name, _version, #_suffix},
#include "driver_rows.def"
#undef ROW
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static bool same_function(const struct row *a, const struct row *b)
{
    return strcmp(a->name, b->name) == 0 && strcmp(a->suffix, b->suffix) == 0;
}

/* The exported forms of a function, oldest first: name, name_v2, name_v3, ... with the suffix. */
static unsigned exported(const struct row *row, void *found[], unsigned max)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    unsigned n = 0;
    ck_assert_ptr_nonnull(library);
    for (unsigned v = 1; v < 6 && n < max; v++) {
        char symbol[128], form[8] = "";
        if (v > 1)
            snprintf(form, sizeof form, "_v%u", v);
        snprintf(symbol, sizeof symbol, "%s%s%s", row->name, form, row->suffix);
        void *p = dlsym(library, symbol);
        if (p != NULL)
            found[n++] = p;
    }
    return n;
}

static void *ask(const char *name, int version, cuuint64_t flags)
{
    void *p = NULL;
    CUdriverProcAddressQueryResult status = (CUdriverProcAddressQueryResult)-1;
    OK(cuGetProcAddress(name, &p, version, flags, &status));
    ck_assert_msg((p != NULL) == (status == CU_GET_PROC_ADDRESS_SUCCESS), "%s %d: status %d", name,
                  version, status);
    return p;
}

START_TEST(every_version_leads_to_its_function)
{
    unsigned checked = 0, next;
    for (unsigned i = 0; i < ROWS; i = next) {
        void *found[6];
        for (next = i; next < ROWS && same_function(&rows[i], &rows[next]); next++)
            ;
        const unsigned n = exported(&rows[i], found, 6);
        if (n == 0)
            ck_abort_msg("%s%s is not exported", rows[i].name, rows[i].suffix);
        ck_assert_msg(n == next - i, "%s%s: %u types but %u symbols", rows[i].name, rows[i].suffix,
                      next - i, n);
        const cuuint64_t flags = rows[i].suffix[0] == '\0'
                                     ? CU_GET_PROC_ADDRESS_LEGACY_STREAM
                                     : CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
        for (unsigned k = 0; k < n; k++) {
            void *p = ask(rows[i + k].name, rows[i + k].version, flags);
            ck_assert_msg(p == found[k], "%s%s version %d is another function", rows[i + k].name,
                          rows[i + k].suffix, rows[i + k].version);
            checked++;
        }
    }
    ck_assert_uint_eq(checked, ROWS);
    ck_assert_uint_gt(checked, 400);
}
END_TEST

START_TEST(the_newest_version_that_is_old_enough_is_meant)
{
    ck_assert_ptr_eq(ask("cuMemAlloc", 13000, 0), ask("cuMemAlloc", 3020, 0));
    ck_assert_ptr_eq(ask("cuMemAlloc", 3019, 0), ask("cuMemAlloc", 2000, 0));
    ck_assert_ptr_ne(ask("cuMemAlloc", 3019, 0), ask("cuMemAlloc", 3020, 0));
    ck_assert_ptr_eq(ask("cuMemAlloc", 3020, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
                     ask("cuMemAlloc", 3020, 0));
    ck_assert_ptr_ne(ask("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
                     ask("cuLaunchKernel", 13000, 0));
    ck_assert_ptr_eq(ask("cuLaunchKernel", 13000, CU_GET_PROC_ADDRESS_LEGACY_STREAM),
                     ask("cuLaunchKernel", 13000, 0));
}
END_TEST

START_TEST(unknown_names_and_old_versions_are_told_apart)
{
    void *p = &p;
    CUdriverProcAddressQueryResult status;
    /* The documentation says success with NULL; drivers answer CUDA_ERROR_NOT_FOUND as well. */
    CUresult r = cuGetProcAddress("cuNoSuchFunction", &p, 13000, 0, &status);
    ck_assert(r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_FOUND);
    ck_assert_ptr_null(p);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    p = &p;
    r = cuGetProcAddress("cuMemAlloc", &p, 1000, 0, &status);
    ck_assert(r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_FOUND);
    ck_assert_ptr_null(p);
    ck_assert_int_eq(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    FAILS(cuGetProcAddress(NULL, &p, 13000, 0, &status), INVALID_VALUE);
    FAILS(cuGetProcAddress("cuInit", NULL, 13000, 0, &status), INVALID_VALUE);
    OK(cuGetProcAddress("cuInit", &p, 13000, 0, NULL));
    ck_assert_ptr_nonnull(p);
}
END_TEST

START_TEST(what_is_found_works)
{
    int n = 0;
    CUresult (*get_count)(int *);
    void *p = ask("cuDeviceGetCount", 2000, 0);
    memcpy(&get_count, &p, sizeof get_count);
    OK(get_count(&n));
    ck_assert_int_eq(n, GPU_DEVICES);
}
END_TEST

Suite *suite_proc(void)
{
    Suite *suite = suite_create("proc");
    TCase *tests = tcase_create("entry points");
    tcase_add_test(tests, every_version_leads_to_its_function);
    tcase_add_test(tests, the_newest_version_that_is_old_enough_is_meant);
    tcase_add_test(tests, unknown_names_and_old_versions_are_told_apart);
    tcase_add_test(tests, what_is_found_works);
    suite_add_tcase(suite, tests);
    return suite;
}
