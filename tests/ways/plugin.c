/* SPDX-License-Identifier: BSD-3-Clause
 * A plugin linked with cuBLAS, as Python extensions are. */
#include "gemm.h"

int plugin_main(void);

__attribute__((visibility("default"))) int plugin_main(void)
{
    const struct ways_blas linked = {cublasCreate_v2, cublasDestroy_v2, cublasSgemm_v2,
                                           cublasSetStream_v2};
    return ways_gemm(&linked);
}
