/* SPDX-License-Identifier: BSD-3-Clause
 * Libraries: images loaded for all contexts, each of which gets a module of its own at first need.
 * Owns the libraries and their kernels. */
#include "tests/softgpu/driver/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned made; /* module_lock */

/* Names of the variables declared with .attribute(.managed). */
static void find_managed(CUlibrary library)
{
    for (unsigned i = 0; i < library->texts.n; i++) {
        const char *at = library->texts.ptx[i];
        while ((at = strstr(at, ".attribute(.managed")) != NULL) {
            at += strcspn(at, ")");
            size_t declaration = strcspn(at, "[;=\n");
            size_t end = declaration;
            while (end > 0 && at[end - 1] == ' ')
                end--;
            size_t begin = end;
            while (begin > 0 && at[begin - 1] != ' ' && at[begin - 1] != '\t')
                begin--;
            char **grown =
                realloc(library->managed, sizeof(char *) * (size_t)(library->n_managed + 1));
            if (grown == NULL)
                abort();
            library->managed = grown;
            library->managed[library->n_managed++] = strndup(at + begin, end - begin);
            at += declaration;
        }
    }
}

static CUkernel make_kernel(CUlibrary library, unsigned index, const struct sg_kernel *code)
{
    CUkernel kernel = calloc(1, sizeof *kernel);
    struct sg_param *params = calloc(code->nparams + 1, sizeof *params);
    if (kernel == NULL || params == NULL)
        abort();
    if (code->nparams > 0)
        memcpy(params, code->params, code->nparams * sizeof *params);
    kernel->library = library;
    kernel->index = index;
    kernel->facts = *code;
    kernel->facts.module = NULL;
    kernel->facts.params = params;
    kernel->facts.name = strdup(code->name);
    for (int i = 0; i < MAX_DEVICES; i++) {
        kernel->settings[i].dynamic_shared = -1;
        kernel->settings[i].carveout = -1;
    }
    handle_add(&kernel->handle, HANDLE_KERNEL);
    return kernel;
}

static void make_kernels(CUlibrary library, const struct sg_module *code)
{
    library->n = sg_module_kernels(code);
    library->kernels = calloc(library->n + 1, sizeof(CUkernel));
    if (library->kernels == NULL)
        abort();
    for (unsigned i = 0; i < library->n; i++)
        library->kernels[i] = make_kernel(library, i, sg_module_kernel_at(code, i));
}

/* The module of a library in a context, made now if need be. */
static CUresult library_module(CUlibrary library, CUcontext context, CUmodule *module_p,
                               char **message_p)
{
    *message_p = NULL;
    *module_p = module_of_library(library, context);
    if (*module_p != NULL)
        return CUDA_SUCCESS;
    CUresult r =
        module_make(context, &library->texts, library, library->origin, module_p, message_p);
    if (r != CUDA_SUCCESS)
        return r;
    if (library->kernels == NULL)
        make_kernels(library, (*module_p)->code);
    for (unsigned i = 0; i < library->n; i++) {
        CUfunction f = (*module_p)->functions[i];
        f->kernel = library->kernels[i];
        f->settings = library->kernels[i]->settings[context->device->ordinal];
    }
    return CUDA_SUCCESS;
}

static void note_kernels(void *arg, const struct sg_module *code)
{
    make_kernels(arg, code);
}

CUresult kernel_function(CUkernel kernel, CUcontext context, CUfunction *function_p)
{
    CUmodule module;
    char *message;
    CUresult r = library_module(kernel->library, context, &module, &message);
    if (message != NULL)
        driver_message("%s", message);
    free(message);
    if (r == CUDA_SUCCESS)
        *function_p = module->functions[kernel->index];
    return r;
}

static void free_library(CUlibrary library)
{
    texts_free(&library->texts);
    for (unsigned i = 0; i < library->n_managed; i++)
        free(library->managed[i]);
    free(library->managed);
    library->managed = NULL;
    library->n_managed = 0;
}

static CUresult load(CUlibrary *library_p, const void *image, unsigned n, CUjit_option *options,
                     void **values)
{
    struct jit_log log;
    CUcontext context;
    CUmodule module;
    char *message = NULL;
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    if (library_p == NULL || image == NULL || (n > 0 && (options == NULL || values == NULL)))
        return CUDA_ERROR_INVALID_VALUE;
    CUlibrary library = calloc(1, sizeof *library);
    if (library == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    jit_log_read(&log, n, options, values);
    CUresult r = texts_find(image, &library->texts);
    if (r == CUDA_SUCCESS) {
        find_managed(library);
        pthread_mutex_lock(&module_lock);
        snprintf(library->origin, sizeof library->origin, "library %u", ++made);
        if (context_check(&context) == CUDA_SUCCESS)
            r = library_module(library, context, &module, &message);
        else
            r = texts_check(&library->texts, library->origin, &message, note_kernels, library);
        if (r == CUDA_SUCCESS)
            handle_add(&library->handle, HANDLE_LIBRARY);
        pthread_mutex_unlock(&module_lock);
    }
    jit_log_write(&log, message);
    if (message != NULL)
        driver_message("%s", message);
    free(message);
    if (r == CUDA_SUCCESS) {
        *library_p = library;
    } else {
        free_library(library);
        free(library);
    }
    return r;
}

API CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit_options,
                               void **jit_values, unsigned n_jit, CUlibraryOption *options,
                               void **values, unsigned n)
{
    (void)options; /* universal function pointers, binary is preserved: nothing to do */
    (void)values;
    (void)n;
    ENTER("cuLibraryLoadData");
    return load(library, image, n_jit, jit_options, jit_values);
}

API CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *jit_options,
                                   void **jit_values, unsigned n_jit, CUlibraryOption *options,
                                   void **values, unsigned n)
{
    char *data;
    size_t bytes;
    (void)options;
    (void)values;
    (void)n;
    ENTER("cuLibraryLoadFromFile");
    if (path == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = read_file(path, &data, &bytes);
    if (r != CUDA_SUCCESS)
        return r;
    r = load(library, data, n_jit, jit_options, jit_values);
    free(data);
    return r;
}

/* Takes the lock if the library is good. */
static CUresult enter_library(CUlibrary library)
{
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&module_lock);
    if (handle_is(library, HANDLE_LIBRARY))
        return CUDA_SUCCESS;
    pthread_mutex_unlock(&module_lock);
    return CUDA_ERROR_INVALID_HANDLE;
}

static CUresult enter_kernel(CUkernel kernel)
{
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    pthread_mutex_lock(&module_lock);
    if (handle_is(kernel, HANDLE_KERNEL))
        return CUDA_SUCCESS;
    pthread_mutex_unlock(&module_lock);
    return CUDA_ERROR_INVALID_HANDLE;
}

API CUresult cuLibraryUnload(CUlibrary library)
{
    ENTER("cuLibraryUnload");
    CUresult r = enter_library(library);
    if (r != CUDA_SUCCESS)
        return r;
    /* Work that was launched before finishes first; a drain runs it without our lock. */
    for (int i = 0; i < context_count(); i++) {
        CUcontext context = context_at(i);
        if (context->dead || module_of_library(library, context) == NULL)
            continue;
        pthread_mutex_unlock(&module_lock);
        context_drain(context);
        pthread_mutex_lock(&module_lock);
    }
    for (int i = 0; i < context_count(); i++) {
        CUmodule module = module_of_library(library, context_at(i));
        if (module != NULL)
            module_kill(module);
    }
    library->handle.dead = true;
    for (unsigned i = 0; i < library->n; i++)
        library->kernels[i]->handle.dead = true;
    free_library(library);
    pthread_mutex_unlock(&module_lock);
    return CUDA_SUCCESS;
}

API CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    ENTER("cuLibraryGetKernel");
    if (kernel == NULL || name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_library(library);
    if (r != CUDA_SUCCESS)
        return r;
    r = CUDA_ERROR_NOT_FOUND;
    for (unsigned i = 0; i < library->n && r != CUDA_SUCCESS; i++)
        if (strcmp(library->kernels[i]->facts.name, name) == 0) {
            *kernel = library->kernels[i];
            r = CUDA_SUCCESS;
        }
    pthread_mutex_unlock(&module_lock);
    return r;
}

API CUresult cuLibraryGetKernelCount(unsigned *count, CUlibrary library)
{
    ENTER("cuLibraryGetKernelCount");
    if (count == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_library(library);
    if (r != CUDA_SUCCESS)
        return r;
    *count = library->n;
    pthread_mutex_unlock(&module_lock);
    return CUDA_SUCCESS;
}

API CUresult cuLibraryEnumerateKernels(CUkernel *kernels, unsigned max, CUlibrary library)
{
    ENTER("cuLibraryEnumerateKernels");
    if (kernels == NULL || max == 0)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_library(library);
    if (r != CUDA_SUCCESS)
        return r;
    for (unsigned i = 0; i < library->n && i < max; i++)
        kernels[i] = library->kernels[i];
    pthread_mutex_unlock(&module_lock);
    return CUDA_SUCCESS;
}

/* The library's module in the current context; the lock is taken when it succeeds. */
static CUresult enter_module(CUlibrary library, CUmodule *module_p)
{
    CUcontext context;
    char *message;
    CUresult r = context_check(&context);
    if (r == CUDA_SUCCESS)
        r = enter_library(library);
    if (r != CUDA_SUCCESS)
        return r;
    r = library_module(library, context, module_p, &message);
    if (message != NULL)
        driver_message("%s", message);
    free(message);
    if (r != CUDA_SUCCESS)
        pthread_mutex_unlock(&module_lock);
    return r;
}

API CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    ENTER("cuLibraryGetModule");
    if (module == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_module(library, module);
    if (r == CUDA_SUCCESS)
        pthread_mutex_unlock(&module_lock);
    return r;
}

static bool is_managed(CUlibrary library, const char *name)
{
    for (unsigned i = 0; i < library->n_managed; i++)
        if (strcmp(library->managed[i], name) == 0)
            return true;
    return false;
}

static CUresult get_variable(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                             const char *name, bool only_managed)
{
    CUmodule module;
    void *p;
    size_t n;
    if (name == NULL || (address == NULL && bytes == NULL))
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_module(library, &module);
    if (r != CUDA_SUCCESS)
        return r;
    bool found = (!only_managed || is_managed(library, name)) &&
                 sg_module_global(module->code, name, &p, &n);
    pthread_mutex_unlock(&module_lock);
    if (!found)
        return CUDA_ERROR_NOT_FOUND;
    if (address != NULL)
        *address = (CUdeviceptr)(uintptr_t)p;
    if (bytes != NULL)
        *bytes = n;
    return CUDA_SUCCESS;
}

API CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                const char *name)
{
    ENTER("cuLibraryGetGlobal");
    return get_variable(address, bytes, library, name, false);
}

API CUresult cuLibraryGetManaged(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                                 const char *name)
{
    ENTER("cuLibraryGetManaged");
    return get_variable(address, bytes, library, name, true);
}

API CUresult cuLibraryGetUnifiedFunction(void **function, CUlibrary library, const char *symbol)
{
    ENTER("cuLibraryGetUnifiedFunction");
    if (function == NULL || symbol == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_library(library);
    if (r != CUDA_SUCCESS)
        return r;
    pthread_mutex_unlock(&module_lock);
    return CUDA_ERROR_NOT_FOUND; /* this GPU has no unified function pointers */
}

API CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    CUcontext context;
    ENTER("cuKernelGetFunction");
    if (function == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = context_check(&context);
    if (r == CUDA_SUCCESS)
        r = enter_kernel(kernel);
    if (r != CUDA_SUCCESS)
        return r;
    r = kernel_function(kernel, context, function);
    pthread_mutex_unlock(&module_lock);
    return r;
}

API CUresult cuKernelGetLibrary(CUlibrary *library, CUkernel kernel)
{
    ENTER("cuKernelGetLibrary");
    if (library == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_kernel(kernel);
    if (r != CUDA_SUCCESS)
        return r;
    *library = kernel->library;
    pthread_mutex_unlock(&module_lock);
    return CUDA_SUCCESS;
}

API CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    ENTER("cuKernelGetName");
    if (name == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_kernel(kernel);
    if (r != CUDA_SUCCESS)
        return r;
    *name = kernel->facts.name;
    pthread_mutex_unlock(&module_lock);
    return CUDA_SUCCESS;
}

API CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    ENTER("cuKernelGetParamInfo");
    if (offset == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult r = enter_kernel(kernel);
    if (r != CUDA_SUCCESS)
        return r;
    if (index < kernel->facts.nparams) {
        *offset = kernel->facts.params[index].offset;
        if (bytes != NULL)
            *bytes = kernel->facts.params[index].size;
    } else {
        r = CUDA_ERROR_INVALID_VALUE;
    }
    pthread_mutex_unlock(&module_lock);
    return r;
}

static CUresult check_device(CUdevice device)
{
    if (!driver_ready)
        return CUDA_ERROR_NOT_INITIALIZED;
    return device >= 0 && device < device_count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

API CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel,
                                  CUdevice device)
{
    ENTER("cuKernelGetAttribute");
    CUresult r = check_device(device);
    if (r == CUDA_SUCCESS && value == NULL)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS)
        r = enter_kernel(kernel);
    if (r != CUDA_SUCCESS)
        return r;
    r = function_attribute(value, attribute, &kernel->facts, &kernel->settings[device],
                           &devices[device].model, kernel->library->texts.target);
    pthread_mutex_unlock(&module_lock);
    return r;
}

API CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                                  CUdevice device)
{
    ENTER("cuKernelSetAttribute");
    CUresult r = check_device(device);
    if (r == CUDA_SUCCESS)
        r = enter_kernel(kernel);
    if (r != CUDA_SUCCESS)
        return r;
    r = function_set(&kernel->settings[device], attribute, value, &kernel->facts,
                     &devices[device].model);
    for (int i = 0; i < context_count() && r == CUDA_SUCCESS; i++) {
        CUmodule module = module_of_library(kernel->library, context_at(i));
        if (module != NULL && context_at(i)->device->ordinal == device)
            module->functions[kernel->index]->settings = kernel->settings[device];
    }
    pthread_mutex_unlock(&module_lock);
    return r;
}

API CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice device)
{
    ENTER("cuKernelSetCacheConfig");
    CUresult r = check_device(device);
    if (r == CUDA_SUCCESS && (unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
        r = CUDA_ERROR_INVALID_VALUE;
    if (r == CUDA_SUCCESS && (r = enter_kernel(kernel)) == CUDA_SUCCESS)
        pthread_mutex_unlock(&module_lock);
    return r;
}
