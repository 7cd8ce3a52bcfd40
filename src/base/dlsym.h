/* SPDX-License-Identifier: BSD-3-Clause
 * The dlsym, dlvsym and dlclose behind our own. Works before any constructor has run. */
#ifndef APEXSHIM_DLSYM_H
#define APEXSHIM_DLSYM_H

typedef void *(*dlsym_function)(void *handle, const char *name);
typedef void *(*dlvsym_function)(void *handle, const char *name, const char *version);
typedef int (*dlclose_function)(void *handle);

/* The next ones in search order after this object: another preload's, else the C library's.
 * NULL only where the C library has none. */
dlsym_function dlsym_next(void);
dlvsym_function dlvsym_next(void);
dlclose_function dlclose_next(void);

#endif
