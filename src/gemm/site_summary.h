/* SPDX-License-Identifier: BSD-3-Clause
 * What the kernels have noted about the sites, in words. */
#ifndef APEXSHIM_SITE_SUMMARY_H
#define APEXSHIM_SITE_SUMMARY_H

/* The lines at exit: re-casts and verified calls in all; a warning for each site whose operands
 * lost more than APEXSHIM_UNDERFLOW allows. Reads host memory only; makes no CUDA call. */
void site_at_exit(void);

#endif
