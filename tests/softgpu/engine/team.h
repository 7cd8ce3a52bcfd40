/* SPDX-License-Identifier: BSD-3-Clause
 * A team of CPU threads that wait for work. The caller takes part. */
#ifndef SOFTGPU_TEAM_H
#define SOFTGPU_TEAM_H

#include <stddef.h>

unsigned team_size(void); /* how many CPUs this process may use */
/* Calls fn(arg + k * size) for k < n, on several threads, and returns when all are done. */
void team_run(unsigned n, void (*fn)(void *), void *arg, size_t size);

#endif
