/* SPDX-License-Identifier: BSD-3-Clause
 * Modules: images loaded into a context. Owns the table of all module, library, function and kernel
 * handles, and the modules. */
#include "tests/softgpu/driver/module.h"
#include "tests/softgpu/driver/stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCRATCH_GIB = 4 };

pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER;

static struct {
    struct handle **slot; /* open addressing; handles are never removed */
    size_t slots, used;
    struct CUmod_st *modules;
    unsigned made;
} state;

static size_t slot_of(const void *handle)
{
    size_t i = (size_t)(((uintptr_t)handle >> 4) * 0x9e3779b97f4a7c15u) & (state.slots - 1);
    while (state.slot[i] != NULL && state.slot[i] != handle)
        i = (i + 1) & (state.slots - 1);
    return i;
}

void handle_add(struct handle *handle, enum handle_kind kind)
{
    handle->kind = kind;
    if (2 * (state.used + 1) > state.slots) {
        struct handle **old = state.slot;
        size_t n = state.slots;
        state.slots = n > 0 ? 2 * n : 1024;
        state.slot = calloc(state.slots, sizeof(struct handle *));
        if (state.slot == NULL)
            abort();
        for (size_t i = 0; i < n; i++)
            if (old[i] != NULL)
                state.slot[slot_of(old[i])] = old[i];
        free(old);
    }
    state.slot[slot_of(handle)] = handle;
    state.used++;
}

bool handle_is(const void *handle, enum handle_kind kind)
{
    if (state.slots == 0 || handle == NULL)
        return false;
    const struct handle *found = state.slot[slot_of(handle)];
    return found != NULL && found->kind == kind && !found->dead;
}

/* ---- images */
CUresult texts_find(const void *image, struct texts *texts)
{
    CUresult r;
    char suffix;
    const struct model *m = &devices[0].model; /* all devices are of one model */
    texts->n = fatbin_ptx(image, 10 * m->major + m->minor, texts->ptx, texts->bytes, MAX_TEXTS, &r);
    if (texts->n > 0)
        ptx_target(texts->ptx[0], &texts->target, &suffix);
    return texts->n > 0 ? CUDA_SUCCESS : r;
}

void texts_free(struct texts *texts)
{
    while (texts->n > 0)
        free(texts->ptx[--texts->n]);
}

CUresult texts_check(const struct texts *texts, const char *origin, char **message_p,
                     void (*fn)(void *arg, const struct sg_module *code), void *arg)
{
    *message_p = NULL;
    struct sg_arena *scratch = sg_arena_new("scratch", (uint64_t)SCRATCH_GIB << 30);
    if (scratch == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    struct sg_module *code = sg_module_load((const char *const *)texts->ptx, texts->bytes, texts->n,
                                            origin, scratch, message_p);
    if (code != NULL && fn != NULL)
        fn(arg, code);
    if (code != NULL)
        sg_module_unload(code);
    sg_arena_delete(scratch);
    return code != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
}

CUresult read_file(const char *path, char **data_p, size_t *bytes_p)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return CUDA_ERROR_FILE_NOT_FOUND;
    size_t room = 1 << 16, n = 0;
    char *data = malloc(room);
    while (data != NULL) {
        n += fread(data + n, 1, room - 1 - n, file);
        if (n < room - 1)
            break;
        room *= 2;
        char *grown = realloc(data, room);
        if (grown == NULL)
            free(data);
        data = grown;
    }
    bool bad = ferror(file) != 0;
    fclose(file);
    if (data == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    data[n] = '\0';
    *data_p = data;
    *bytes_p = n;
    if (bad)
        free(data);
    return bad ? CUDA_ERROR_FILE_NOT_FOUND : CUDA_SUCCESS;
}

/* ---- JIT options */
void jit_log_read(struct jit_log *log, unsigned n, const CUjit_option *options, void **values)
{
    memset(log, 0, sizeof *log);
    for (unsigned i = 0; i < n; i++) {
        size_t number = (size_t)(uintptr_t)values[i];
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
            log->error = values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER:
            log->info = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->error_room = number & UINT32_MAX;
            log->error_room_p = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            log->info_room = number & UINT32_MAX;
            log->info_room_p = &values[i];
            break;
        default: /* how to compile: nothing that an interpreter could follow */
            break;
        }
    }
}

static void write_log(char *buffer, size_t room, void **used_p, const char *text)
{
    size_t n = 0;
    if (buffer != NULL && room > 0)
        n = (size_t)snprintf(buffer, room, "%s", text);
    if (n >= room && room > 0)
        n = room - 1;
    if (used_p != NULL)
        *used_p = (void *)(uintptr_t)n;
}

void jit_log_write(struct jit_log *log, const char *error)
{
    write_log(log->error, log->error_room, log->error_room_p, error != NULL ? error : "");
    write_log(log->info, log->info_room, log->info_room_p, "");
}

/* ---- modules */
static CUfunction make_function(CUmodule module, const struct sg_kernel *code)
{
    CUfunction f = calloc(1, sizeof *f);
    if (f == NULL)
        abort();
    f->module = module;
    f->code = code;
    f->settings.dynamic_shared = -1;
    f->settings.carveout = -1;
    f->old_block[0] = f->old_block[1] = f->old_block[2] = 1;
    handle_add(&f->handle, HANDLE_FUNCTION);
    return f;
}

CUresult module_make(CUcontext context, const struct texts *texts, CUlibrary library,
                     const char *origin, CUmodule *module_p, char **message_p)
{
    *message_p = NULL;
    CUmodule module = calloc(1, sizeof *module);
    if (module == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    module->code = sg_module_load((const char *const *)texts->ptx, texts->bytes, texts->n, origin,
                                  context->device->memory, message_p);
    if (module->code == NULL) {
        free(module);
        return CUDA_ERROR_INVALID_PTX;
    }
    module->context = context;
    module->library = library;
    module->target = texts->target;
    module->n = sg_module_kernels(module->code);
    module->functions = calloc(module->n + 1, sizeof(CUfunction));
    if (module->functions == NULL)
        abort();
    for (unsigned i = 0; i < module->n; i++)
        module->functions[i] = make_function(module, sg_module_kernel_at(module->code, i));
    handle_add(&module->handle, HANDLE_MODULE);
    module->next = state.modules;
    state.modules = module;
    *module_p = module;
    return CUDA_SUCCESS;
}

void module_kill(CUmodule module)
{
    for (CUmodule *link = &state.modules; *link != NULL; link = &(*link)->next)
        if (*link == module) {
            *link = module->next;
            break;
        }
    module->handle.dead = true;
    for (unsigned i = 0; i < module->n; i++) {
        module->functions[i]->handle.dead = true;
        module->functions[i]->code = NULL;
        free(module->functions[i]->old_params);
        module->functions[i]->old_params = NULL;
    }
    sg_module_unload(module->code);
    module->code = NULL;
}

CUmodule module_of_library(CUlibrary library, CUcontext context)
{
    for (CUmodule m = state.modules; m != NULL; m = m->next)
        if (m->library == library && m->context == context)
            return m;
    return NULL;
}

void module_release_context(CUcontext context)
{
    pthread_mutex_lock(&module_lock);
    for (CUmodule m = state.modules, next; m != NULL; m = next) {
        next = m->next;
        if (m->context == context)
            module_kill(m);
    }
    pthread_mutex_unlock(&module_lock);
    launch_release_context(context);
}

CUcontext module_context(const struct device *device)
{
    CUcontext found = NULL;
    pthread_mutex_lock(&module_lock);
    for (CUmodule m = state.modules; m != NULL; m = m->next)
        if (m->context->device == device && (found == NULL || m->context == context_now()))
            found = m->context;
    pthread_mutex_unlock(&module_lock);
    return found;
}

static CUresult load(CUmodule *module, const void *image, struct jit_log *log)
{
    CUcontext context;
    struct texts texts;
    char origin[32], *message = NULL;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    if (module == NULL || image == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if ((r = capture_unsafe()) != CUDA_SUCCESS || (r = texts_find(image, &texts)) != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&module_lock);
    snprintf(origin, sizeof origin, "module %u", ++state.made);
    r = module_make(context, &texts, NULL, origin, module, &message);
    pthread_mutex_unlock(&module_lock);
    if (log != NULL)
        jit_log_write(log, message);
    if (message != NULL)
        driver_message("%s", message);
    free(message);
    texts_free(&texts);
    return r;
}

API CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    ENTER("cuModuleLoadData");
    return load(module, image, NULL);
}

API CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n,
                                CUjit_option *options, void **values)
{
    struct jit_log log;
    ENTER("cuModuleLoadDataEx");
    if (n > 0 && (options == NULL || values == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    jit_log_read(&log, n, options, values);
    return load(module, image, &log);
}

API CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    ENTER("cuModuleLoadFatBinary");
    return load(module, image, NULL);
}

API CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    char *data;
    size_t bytes;
    ENTER("cuModuleLoad");
    if (path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = read_file(path, &data, &bytes);
    if (r != CUDA_SUCCESS)
        return r;
    r = load(module, data, NULL);
    free(data);
    return r;
}

/* Checks a context and a module handle, and takes the lock if both are good. */
static CUresult enter_module(CUmodule module)
{
    CUcontext context;
    CUresult r = context_check(&context);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&module_lock);
    if (!handle_is(module, HANDLE_MODULE)) {
        pthread_mutex_unlock(&module_lock);
        return CUDA_ERROR_INVALID_HANDLE;
    }
    return CUDA_SUCCESS;
}

API CUresult cuModuleUnload(CUmodule module)
{
    ENTER("cuModuleUnload");
    CUresult r = enter_module(module);
    if (r != CUDA_SUCCESS)
        return r;
    CUcontext context = module->context;
    bool of_library = module->library != NULL;
    pthread_mutex_unlock(&module_lock);
    if (of_library)
        return CUDA_ERROR_NOT_PERMITTED;
    if ((r = capture_unsafe()) != CUDA_SUCCESS || (r = context_drain(context)) != CUDA_SUCCESS)
        return r;
    pthread_mutex_lock(&module_lock);
    if (handle_is(module, HANDLE_MODULE))
        module_kill(module);
    pthread_mutex_unlock(&module_lock);
    return CUDA_SUCCESS;
}

API CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    ENTER("cuModuleGetFunction");
    if (function == NULL || name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_module(module);
    if (r != CUDA_SUCCESS)
        return r;
    r = CUDA_ERROR_NOT_FOUND;
    for (unsigned i = 0; i < module->n && r != CUDA_SUCCESS; i++)
        if (strcmp(module->functions[i]->code->name, name) == 0) {
            *function = module->functions[i];
            r = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&module_lock);
    return r;
}

static CUresult get_global(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    void *p;
    size_t n;
    if (name == NULL || (address == NULL && bytes == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_module(module);
    if (r != CUDA_SUCCESS)
        return r;
    bool found = sg_module_global(module->code, name, &p, &n);
    pthread_mutex_unlock(&module_lock);
    if (!found)
        return CUDA_ERROR_NOT_FOUND;
    if (address != NULL)
        *address = (CUdeviceptr)(uintptr_t)p;
    if (bytes != NULL)
        *bytes = n;
    return CUDA_SUCCESS;
}

API CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                                  const char *name)
{
    ENTER("cuModuleGetGlobal_v2");
    return get_global(address, bytes, module, name);
}

API CUresult cuModuleGetFunctionCount(unsigned *count, CUmodule module)
{
    ENTER("cuModuleGetFunctionCount");
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_module(module);
    if (r != CUDA_SUCCESS)
        return r;
    *count = module->n;
    pthread_mutex_unlock(&module_lock);
    return CUDA_SUCCESS;
}

API CUresult cuModuleEnumerateFunctions(CUfunction *functions, unsigned max, CUmodule module)
{
    ENTER("cuModuleEnumerateFunctions");
    if (functions == NULL || max == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_module(module);
    if (r != CUDA_SUCCESS)
        return r;
    for (unsigned i = 0; i < module->n && i < max; i++)
        functions[i] = module->functions[i];
    pthread_mutex_unlock(&module_lock);
    return CUDA_SUCCESS;
}

API CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    ENTER("cuModuleGetLoadingMode");
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (mode == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
}
