/* SPDX-License-Identifier: BSD-3-Clause
 * The exported dlclose: the real one, after which an address may belong to another library. It can
 * be wrapped, unlike dlopen, since it does not depend on who calls it. Owns nothing. */
#include "config.h"
#include "base/caller.h"
#include "base/dlsym.h"

#include <dlfcn.h>
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int dlclose(void *handle)
{
    const dlclose_function next = dlclose_next();
    const int result = next != NULL ? next(handle) : -1;
    caller_forget();
    return result;
}
