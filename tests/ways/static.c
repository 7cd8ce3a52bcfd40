/* SPDX-License-Identifier: BSD-3-Clause
 * A program with cuBLAS in it: linked with the stand-in's objects. NVIDIA's reads the variable
 * below (it is documented), so its name is among the program's constants; the stand-in does not. */
#include "gemm.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    const struct ways_blas linked_in = {cublasCreate_v2, cublasDestroy_v2, cublasSgemm_v2,
                                        cublasSetStream_v2};
    const char *log = getenv("CUBLAS_LOGINFO_DBG");
    if (log != NULL)
        printf("%s\n", log);
    return ways_gemm(&linked_in);
}
