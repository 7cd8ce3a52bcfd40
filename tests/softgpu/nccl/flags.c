/* SPDX-License-Identifier: BSD-3-Clause
 * Words in pinned memory, by which the workers tell streams that their work is done. Owned here,
 * for the length of the process. */
#include "tests/softgpu/nccl/comm.h"

enum { CHUNK = 1024, LIST = 1 << 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t *spare[LIST];
static unsigned nspare;

/* With the lock held. */
static void allocate(void)
{
    void *p;

    if (gpu_get()->host_alloc(&p, CHUNK * sizeof(uint32_t), CU_MEMHOSTALLOC_PORTABLE) !=
        CUDA_SUCCESS)
        return;
    for (unsigned k = 0; k < CHUNK && nspare < LIST; k++)
        spare[nspare++] = (uint32_t *)p + k;
}

uint32_t *flag_take(bool may_allocate)
{
    uint32_t *flag = NULL;

    pthread_mutex_lock(&lock);
    if (nspare == 0 && may_allocate)
        allocate();
    if (nspare > 0)
        flag = spare[--nspare];
    pthread_mutex_unlock(&lock);
    if (flag != NULL)
        __atomic_store_n(flag, 0, __ATOMIC_RELEASE);
    return flag;
}

void flag_give(uint32_t *flag)
{
    pthread_mutex_lock(&lock);
    if (flag != NULL && nspare < LIST)
        spare[nspare++] = flag;
    pthread_mutex_unlock(&lock);
}
