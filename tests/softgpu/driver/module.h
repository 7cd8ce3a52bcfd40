/* SPDX-License-Identifier: BSD-3-Clause
 * Modules, libraries, functions and kernels of the software driver. module_lock guards them;
 * driver_lock is never taken while it is held. Handles are marked dead, never freed. */
#ifndef SOFTGPU_DRIVER_MODULE_H
#define SOFTGPU_DRIVER_MODULE_H

#include "tests/softgpu/driver/internal.h"

enum { MAX_TEXTS = 256, OLD_PARAM_BYTES = 4096 };

enum handle_kind { HANDLE_MODULE, HANDLE_LIBRARY, HANDLE_FUNCTION, HANDLE_KERNEL, HANDLE_LINK };

/* Begins each struct of a handle, so that a handle can be told from the others. */
struct handle {
    enum handle_kind kind;
    bool dead;
};

/* PTX texts that belong together. */
struct texts {
    char *ptx[MAX_TEXTS];
    size_t bytes[MAX_TEXTS];
    unsigned n;
    unsigned target; /* 90 for sm_90 */
};

/* What cuFuncSetAttribute and cuKernelSetAttribute change. */
struct settings {
    int dynamic_shared; /* -1: the default */
    int carveout;
    int non_portable_cluster;
    int cluster_policy;
};

struct CUmod_st {
    struct handle handle;
    CUcontext context;
    CUlibrary library; /* NULL: made by cuModuleLoad* */
    struct sg_module *code;
    unsigned target;
    CUfunction *functions;
    unsigned n;
    struct CUmod_st *next;
};

struct CUfunc_st {
    struct handle handle;
    CUmodule module;
    CUkernel kernel; /* NULL: not of a library */
    const struct sg_kernel *code;
    struct settings settings;
    /* The launch interface of CUDA 3, which keeps its arguments in the function. */
    uint32_t old_block[3], old_shared, old_bytes;
    unsigned char *old_params;
};

struct CUkern_st {
    struct handle handle;
    CUlibrary library;
    unsigned index;         /* of its function in each module of the library */
    struct sg_kernel facts; /* a copy: lives longer than the module it was read from */
    struct settings settings[MAX_DEVICES];
};

struct CUlib_st {
    struct handle handle;
    char origin[32]; /* for messages: "library 3" */
    struct texts texts;
    char **managed; /* names of managed variables */
    unsigned n_managed;
    CUkernel *kernels;
    unsigned n;
};

extern pthread_mutex_t module_lock;

/* An image that cuLinkComplete made: the texts follow, each ended by a zero. */
#define LINKED_MAGIC "\177softgpu linked" /* 16 bytes with the zero */
struct linked {
    char magic[16];
    uint32_t n;
};

/* fatbin.c: "sm_90a" of a PTX text gives 90 and 'a' (or '\0'). */
bool ptx_target(const char *text, unsigned *sm_p, char *suffix_p);

/* module.c; the lock is held. */
void handle_add(struct handle *handle, enum handle_kind kind);
bool handle_is(const void *handle, enum handle_kind kind); /* live and of this kind */
CUresult texts_find(const void *image, struct texts *texts);
void texts_free(struct texts *texts);
CUresult module_make(CUcontext context, const struct texts *texts, CUlibrary library,
                     const char *origin, CUmodule *module_p, char **message_p);
void module_kill(CUmodule module);
/* Can the texts be linked? Reads them beside all contexts; then calls fn, if it is not NULL. */
CUresult texts_check(const struct texts *texts, const char *origin, char **message_p,
                     void (*fn)(void *arg, const struct sg_module *code), void *arg);
/* The module of a library in a context; NULL: not made yet. */
CUmodule module_of_library(CUlibrary library, CUcontext context);
/* Reads a whole file, NUL-terminated; CUDA_ERROR_FILE_NOT_FOUND. */
CUresult read_file(const char *path, char **data_p, size_t *bytes_p);

/* JIT options that the driver answers: the logs. */
struct jit_log {
    char *error, *info;
    size_t error_room, info_room;
    void **error_room_p, **info_room_p; /* where the bytes used are told */
};
void jit_log_read(struct jit_log *log, unsigned n, const CUjit_option *options, void **values);
void jit_log_write(struct jit_log *log, const char *error);

/* library.c; the lock is held: the kernel's function in a context, its module made if needed. */
CUresult kernel_function(CUkernel kernel, CUcontext context, CUfunction *function_p);

/* function.c: what a CUfunction argument means, which may be a CUkernel too. Takes the lock.
 * context: NULL for the current one. */
CUresult function_resolve(CUfunction handle, CUcontext context, CUfunction *function_p);
int function_registers(const struct sg_kernel *code, const struct model *model);
int function_dynamic_limit(const struct sg_kernel *code, const struct settings *settings,
                           const struct model *model);
CUresult function_attribute(int *value, CUfunction_attribute attribute,
                            const struct sg_kernel *code, const struct settings *settings,
                            const struct model *model, unsigned target);
CUresult function_set(struct settings *settings, CUfunction_attribute attribute, int value,
                      const struct sg_kernel *code, const struct model *model);
/* Blocks of a function that fit on one multiprocessor at once. */
int occupancy(const struct sg_kernel *code, const struct model *model, uint32_t threads,
              size_t dynamic_shared);

/* launch.c: a launch, checked and packed; graphs keep them as nodes. One flat block, which may be
 * copied. */
struct launch {
    CUfunction function;
    uint32_t grid[3], block[3], shared;
    bool cooperative;
    uint32_t param_bytes;
    _Alignas(16) unsigned char params[];
};
extern const struct op_kind kernel_launch_kind;
/* A function of the host as an operation. */
struct host_call {
    CUhostFn function;
    void *data;
};
extern const struct op_kind host_call_kind;
void launch_release_context(CUcontext context); /* the device-side heap */
/* context: where it shall run. *launch_p is malloc'ed, of *bytes_p bytes. */
CUresult launch_make(CUfunction handle, CUcontext context, const uint32_t grid[3],
                     const uint32_t block[3], uint32_t shared, bool cooperative, void **params,
                     void **extra, struct launch **launch_p, size_t *bytes_p);

#endif
