/* SPDX-License-Identifier: BSD-3-Clause
 * The table behind cuGetProcAddress; constant. */
#ifndef SOFTGPU_DRIVER_PROC_TABLE_H
#define SOFTGPU_DRIVER_PROC_TABLE_H

enum proc_kind {
    PLAIN,
    PER_THREAD /* a _ptds or _ptsz form: the default stream is each thread's own */
};

struct proc {
    const char *base; /* "cuMemAlloc" */
    int release;      /* 3020: the CUDA release that brought this form */
    enum proc_kind kind;
    int (*symbol)(void);
};
extern const struct proc proc_table[];
extern const unsigned proc_count;

#endif
