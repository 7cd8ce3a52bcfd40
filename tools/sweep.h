/* SPDX-License-Identifier: BSD-3-Clause
 * The part of `apexshim tune` that runs on the GPU, in a process of its own for each path. */
#ifndef APEXSHIM_SWEEP_H
#define APEXSHIM_SWEEP_H

/* Times products of growing size with cublasSgemm, as this process finds it (with the preload or
 * without), until one takes longer than seconds. Prints what it finds to standard output:
 *     gpu CAPABILITY MULTIPROCESSORS NAME
 *     copy BYTES SECONDS
 *     gemm M N K SECONDS
 * Returns an exit status. */
int sweep(double seconds);

#endif
