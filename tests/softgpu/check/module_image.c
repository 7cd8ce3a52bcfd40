/* SPDX-License-Identifier: BSD-3-Clause
 * What cuModuleLoad* makes of an image: PTX text, fat binaries in each packing, wrappers, machine
 * code, and images that are broken or too new. */
#include "config.h"

#include "module_tests.h"

#include <lz4.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { PTX = 1, ELF = 2, STORED = 0, LZ4 = 0x2000, ZSTD = 0x8000, ROOM = 1 << 16, HEADER = 64 };

struct fatbin {
    unsigned char bytes[ROOM];
    size_t n;
};

static void put(struct fatbin *f, size_t at, uint64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        f->bytes[at + i] = (unsigned char)(value >> 8 * i);
}

static void begin(struct fatbin *f)
{
    memset(f, 0, sizeof *f);
    put(f, 0, 0xba55ed50, 4);
    put(f, 4, 1, 2);
    put(f, 6, 16, 2);
    f->n = 16;
}

static void add(struct fatbin *f, unsigned kind, unsigned sm, unsigned isa, unsigned packing,
                const char *text)
{
    size_t bytes = strlen(text) + 1, at = f->n, packed = 0;
    char *payload = (char *)f->bytes + at + HEADER;
    if (packing == ZSTD)
        packed = ZSTD_compress(payload, ROOM - at - HEADER, text, bytes, 3);
    else if (packing == LZ4)
        packed = (size_t)LZ4_compress_default(text, payload, (int)bytes, (int)(ROOM - at - HEADER));
    else
        memcpy(payload, text, bytes);
    size_t padded = ((packing == STORED ? bytes : packed) + 7) / 8 * 8;
    put(f, at, kind, 2);
    put(f, at + 2, 0x0101, 2);
    put(f, at + 4, HEADER, 4);
    put(f, at + 8, padded, 8);
    put(f, at + 16, packed, 4);
    put(f, at + 24, isa % 10, 2);
    put(f, at + 26, isa / 10, 2);
    put(f, at + 28, sm, 4);
    put(f, at + 40, 0x11 | packing, 8);
    put(f, at + 56, bytes, 8);
    f->n += HEADER + padded;
    put(f, 8, f->n - 16, 8);
}

/* A kernel k whose only trace is its name: which text was taken shows in what else there is. */
#define MARK(_version, _target, _name)                                                             \
    PTX_HEAD(_version, _target) ".visible .entry " _name "()\n{\nret;\n}\n"

static bool has(CUmodule module, const char *name)
{
    CUfunction f;
    CUresult r = cuModuleGetFunction(&f, module, name);
    ck_assert(r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_FOUND);
    return r == CUDA_SUCCESS;
}

START_TEST(text_is_loaded_and_unloaded)
{
    CUmodule module;
    CUfunction f;
    OK(cuModuleLoadData(&module, ptx_store));
    OK(cuModuleGetFunction(&f, module, "store"));
    FAILS(cuModuleGetFunction(&f, module, "stor"), NOT_FOUND);
    FAILS(cuModuleGetFunction(&f, module, NULL), INVALID_VALUE);
    unsigned n;
    CUfunction all[2] = {NULL, NULL};
    OK(cuModuleGetFunctionCount(&n, module));
    ck_assert_uint_eq(n, 1);
    OK(cuModuleEnumerateFunctions(all, 2, module));
    ck_assert_ptr_eq(all[0], f);
    ck_assert_ptr_null(all[1]);
    OK(cuModuleUnload(module));
    FAILS(cuModuleUnload(module), INVALID_HANDLE);
    FAILS(cuModuleGetFunction(&f, module, "store"), INVALID_HANDLE);
    CUdeviceptr p = words();
    uint32_t v = 1;
    void *params[] = {&p, &v};
    FAILS(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL), INVALID_HANDLE);
}
END_TEST

START_TEST(bad_images_are_refused)
{
    CUmodule module;
    FAILS(cuModuleLoadData(&module, NULL), INVALID_VALUE);
    FAILS(cuModuleLoadData(&module, ""), INVALID_IMAGE);
    FAILS(cuModuleLoadData(&module, "neither this nor that"), INVALID_IMAGE);
    FAILS(cuModuleLoadData(&module, "\177ELF\2\1\1"), NO_BINARY_FOR_GPU);
    FAILS(cuModuleLoadData(&module, MARK("9.1", "sm_75", "k")), UNSUPPORTED_PTX_VERSION);
    FAILS(cuModuleLoadData(&module, MARK("9.0", "sm_100", "k")), INVALID_PTX);
    FAILS(cuModuleLoadData(&module, MARK("9.0", "sm_89a", "k")), INVALID_PTX);
    FAILS(cuModuleLoadData(&module, PTX_HEAD("9.0", "sm_90") "nonsense"), INVALID_PTX);
    FAILS(cuModuleLoad(&module, "/nowhere/to/be.found"), FILE_NOT_FOUND);
    OK(cuModuleLoadData(&module, MARK("9.0", "sm_90a", "k")));
}
END_TEST

START_TEST(errors_go_to_the_log)
{
    CUmodule module;
    char error[256] = "untouched", info[64] = "untouched";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                              CU_JIT_OPTIMIZATION_LEVEL};
    void *values[] = {error, (void *)sizeof error, info, (void *)sizeof info, (void *)4};
    FAILS(cuModuleLoadDataEx(
              &module, PTX_HEAD("9.0", "sm_90") ".visible .entry k()\n{\nfrobnicate.u32;\n}\n", 5,
              options, values),
          INVALID_PTX);
    ck_assert_ptr_nonnull(strstr(error, "frobnicate"));
    ck_assert_uint_eq((size_t)values[1], strlen(error));
    ck_assert_str_eq(info, "");
    values[1] = (void *)8;
    FAILS(cuModuleLoadDataEx(&module, PTX_HEAD("9.0", "sm_90") "nonsense", 5, options, values),
          INVALID_PTX);
    ck_assert_uint_eq(strlen(error), 7);
    FAILS(cuModuleLoadDataEx(&module, ptx_store, 1, NULL, NULL), INVALID_VALUE);
}
END_TEST

static const unsigned packings[] = {STORED, LZ4, ZSTD};

START_TEST(the_newest_that_suits_is_taken)
{
    static struct fatbin f;
    CUmodule module;
    unsigned packing = packings[_i];
    begin(&f);
    add(&f, PTX, 100, 90, packing, MARK("9.0", "sm_100", "blackwell"));
    add(&f, ELF, 90, 81, STORED, "\177ELF machine code");
    add(&f, PTX, 75, 90, packing, MARK("9.0", "sm_75", "turing"));
    add(&f, PTX, 89, 90, packing, MARK("9.0", "sm_89", "ada"));
    add(&f, PTX, 80, 90, packing, MARK("9.0", "sm_80", "ampere"));
    add(&f, PTX, 89, 90, packing, MARK("9.0", "sm_89a", "ada_only"));
    OK(cuModuleLoadData(&module, f.bytes));
    ck_assert(has(module, "ada"));
    ck_assert(!has(module, "turing") && !has(module, "ampere"));
    OK(cuModuleUnload(module));
    add(&f, PTX, 90, 90, packing, MARK("9.0", "sm_90a", "hopper_only"));
    OK(cuModuleLoadFatBinary(&module, f.bytes));
    ck_assert(has(module, "hopper_only"));
}
END_TEST

START_TEST(containers_without_anything_for_us)
{
    static struct fatbin f;
    CUmodule module;
    begin(&f);
    FAILS(cuModuleLoadData(&module, f.bytes), NO_BINARY_FOR_GPU);
    add(&f, ELF, 90, 81, STORED, "\177ELF machine code");
    add(&f, PTX, 100, 90, STORED, MARK("9.0", "sm_100", "blackwell"));
    FAILS(cuModuleLoadData(&module, f.bytes), NO_BINARY_FOR_GPU);
    add(&f, PTX, 90, 91, STORED, MARK("9.1", "sm_90", "of_the_future"));
    FAILS(cuModuleLoadData(&module, f.bytes), UNSUPPORTED_PTX_VERSION);
    add(&f, PTX, 80, 80, STORED, MARK("8.0", "sm_80", "of_the_past"));
    OK(cuModuleLoadData(&module, f.bytes));
    ck_assert(has(module, "of_the_past"));
}
END_TEST

START_TEST(damage_is_noticed)
{
    static struct fatbin f;
    CUmodule module;
    begin(&f);
    add(&f, PTX, 90, 90, packings[_i], ptx_store);
    if (packings[_i] != STORED) {
        memset(f.bytes + 16 + HEADER, 0xa5, 24);
        FAILS(cuModuleLoadData(&module, f.bytes), INVALID_IMAGE);
    }
    put(&f, 16 + 8, 1 << 30, 8); /* the payload would end behind the container */
    FAILS(cuModuleLoadData(&module, f.bytes), INVALID_IMAGE);
    put(&f, 0, 0xba55ed51, 4);
    FAILS(cuModuleLoadData(&module, f.bytes), INVALID_IMAGE);
}
END_TEST

struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *more;
};

#define TWICE_CALLER                                                                               \
    PTX_HEAD("9.0", "sm_90")                                                                       \
    ".extern .func (.param .b32 r) twice(.param .b32 x);\n"                                        \
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<3>;\n.reg .b64 %d<2>;\n"                    \
    "ld.param.u64 %d1, [p];\nmov.u32 %r1, 21;\n{\n.param .b32 in;\n.param .b32 out;\n"             \
    "st.param.b32 [in], %r1;\ncall.uni (out), twice, (in);\nld.param.b32 %r2, [out];\n}\n"         \
    "st.global.u32 [%d1], %r2;\nret;\n}\n"
#define TWICE                                                                                      \
    PTX_HEAD("9.0", "sm_90")                                                                       \
    ".visible .func (.param .b32 r) twice(.param .b32 x)\n{\n.reg .b32 %r<3>;\n"                   \
    "ld.param.b32 %r1, [x];\nadd.s32 %r2, %r1, %r1;\nst.param.b32 [r], %r2;\nret;\n}\n"

static void answer_is_42(CUmodule module)
{
    CUfunction f;
    CUdeviceptr p = words();
    void *params[] = {&p};
    OK(cuModuleGetFunction(&f, module, "k"));
    OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    ck_assert_uint_eq(word(p, 0), 42);
}

START_TEST(wrappers_are_opened)
{
    static struct fatbin a, b, linked;
    CUmodule module;
    begin(&a);
    add(&a, PTX, 90, 90, ZSTD, TWICE_CALLER);
    begin(&b);
    add(&b, PTX, 75, 90, ZSTD, MARK("9.0", "sm_75", "older"));
    add(&b, PTX, 90, 90, ZSTD, TWICE);
    begin(&linked);
    add(&linked, ELF, 90, 81, STORED, "\177ELF linked machine code");
    struct wrapper one = {0x466243b1, 1, b.bytes, NULL};
    OK(cuModuleLoadData(&module, &one));
    const void *const parts[] = {a.bytes, b.bytes, NULL};
    struct wrapper two = {0x466243b1, 2, linked.bytes, parts};
    OK(cuModuleLoadData(&module, &two));
    answer_is_42(module);
    const void *const part[] = {a.bytes, NULL};
    struct wrapper undefined = {0x466243b1, 2, linked.bytes, part};
    FAILS(cuModuleLoadData(&module, &undefined), INVALID_PTX);
    struct wrapper strange = {0x466243b1, 3, linked.bytes, part};
    FAILS(cuModuleLoadData(&module, &strange), INVALID_IMAGE);
}
END_TEST

/* nvcc links its device runtime, which has its PTX for the newest GPU only, to every program of
 * several objects. */
START_TEST(an_object_of_machine_code_is_left_out)
{
    static struct fatbin a, b, runtime, other, linked;
    CUmodule module;
    begin(&a);
    add(&a, PTX, 90, 90, ZSTD, TWICE_CALLER);
    begin(&b);
    add(&b, PTX, 90, 90, ZSTD, TWICE);
    begin(&runtime);
    add(&runtime, ELF, 80, 81, STORED, "\177ELF for an older GPU");
    add(&runtime, ELF, 90, 81, STORED, "\177ELF for this GPU");
    add(&runtime, PTX, 121, 90, ZSTD, MARK("9.0", "sm_121", "newer"));
    begin(&other);
    add(&other, ELF, 80, 81, STORED, "\177ELF for an older GPU");
    add(&other, ELF, 100, 81, STORED, "\177ELF for a newer GPU");
    begin(&linked);
    const void *const parts[] = {a.bytes, runtime.bytes, b.bytes, NULL};
    struct wrapper whole = {0x466243b1, 2, linked.bytes, parts};
    OK(cuModuleLoadData(&module, &whole));
    answer_is_42(module);
    const void *const lacking[] = {a.bytes, runtime.bytes, NULL}; /* twice may be in there */
    struct wrapper needed = {0x466243b1, 2, linked.bytes, lacking};
    FAILS(cuModuleLoadData(&module, &needed), INVALID_PTX);
    const void *const foreign[] = {a.bytes, b.bytes, other.bytes, NULL};
    struct wrapper impossible = {0x466243b1, 2, linked.bytes, foreign};
    FAILS(cuModuleLoadData(&module, &impossible), NO_BINARY_FOR_GPU);
    const void *const nothing[] = {runtime.bytes, NULL};
    struct wrapper empty = {0x466243b1, 2, linked.bytes, nothing};
    FAILS(cuModuleLoadData(&module, &empty), NO_BINARY_FOR_GPU);
}
END_TEST

START_TEST(linker_links)
{
    CUlinkState state;
    CUmodule module;
    void *image;
    size_t bytes;
    OK(cuLinkCreate(0, NULL, NULL, &state));
    OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)TWICE_CALLER, sizeof TWICE_CALLER,
                     "caller", 0, NULL, NULL));
    FAILS(
        cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t) "bad", 4, "bad", 0, NULL, NULL),
        INVALID_IMAGE);
    FAILS(cuLinkComplete(state, &image, &bytes), INVALID_PTX); /* twice is missing */
    OK(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)(uintptr_t)TWICE, sizeof TWICE, NULL, 0, NULL,
                     NULL));
    OK(cuLinkComplete(state, &image, &bytes));
    void *copy = malloc(bytes);
    ck_assert_ptr_nonnull(copy);
    memcpy(copy, image, bytes);
    OK(cuLinkDestroy(state));
    FAILS(cuLinkDestroy(state), INVALID_HANDLE);
    OK(cuModuleLoadData(&module, copy));
    free(copy);
    answer_is_42(module);
}
END_TEST

START_TEST(files_are_read)
{
    CUmodule module;
    CUlibrary library;
    char path[] = "module_image_XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *file = fdopen(fd, "w");
    fputs(ptx_store, file);
    fclose(file);
    CUresult first = cuModuleLoad(&module, path);
    CUresult second = cuLibraryLoadFromFile(&library, path, NULL, NULL, 0, NULL, NULL, 0);
    remove(path);
    OK(first);
    OK(second);
    ck_assert(has(module, "store"));
}
END_TEST

TCase *image_tests(void)
{
    TCase *t = tcase_create("image");
    tcase_add_checked_fixture(t, module_setup, NULL);
    tcase_set_timeout(t, 60);
    tcase_add_test(t, text_is_loaded_and_unloaded);
    tcase_add_test(t, bad_images_are_refused);
    tcase_add_test(t, errors_go_to_the_log);
    tcase_add_loop_test(t, the_newest_that_suits_is_taken, 0, 3);
    tcase_add_test(t, containers_without_anything_for_us);
    tcase_add_loop_test(t, damage_is_noticed, 0, 3);
    tcase_add_test(t, wrappers_are_opened);
    tcase_add_test(t, an_object_of_machine_code_is_left_out);
    tcase_add_test(t, linker_links);
    tcase_add_test(t, files_are_read);
    return t;
}
