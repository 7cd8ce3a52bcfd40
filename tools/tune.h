/* SPDX-License-Identifier: BSD-3-Clause
 * `apexshim tune` without a program. */
#ifndef APEXSHIM_TUNE_H
#define APEXSHIM_TUNE_H

/* Measures the GPU and writes the file that the cost model reads. object: the preloaded library.
 * seconds: a product that takes longer ends the sweep of its path. Returns an exit status. */
int tune_gpu(const char *object, double seconds);

#endif
