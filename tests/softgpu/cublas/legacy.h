/* SPDX-License-Identifier: BSD-3-Clause
 * Entry points of the interface without handles (cublas.h of old): characters instead of
 * enumerators, scalars by value, no status. Each calls its _v2 sibling on one hidden handle. */
#ifndef BLAS_LEGACY_H
#define BLAS_LEGACY_H

#include "vector.h"

/* Declared here since cublas.h can't be included beside cublas_api.h. */
#define LEGACY(_return, _name, _params)                                                            \
    _return _name _params;                                                                         \
    BLAS_API _return _name _params

/* The body of one without a result. */
#define LEGACY_CALL(_call)                                                                         \
    {                                                                                              \
        legacy_status(_call);                                                                      \
    }
/* ... and with one, called `value`. */
#define LEGACY_VALUE(_type, _call)                                                                 \
    {                                                                                              \
        _type value;                                                                               \
        memset(&value, 0, sizeof value);                                                           \
        legacy_status(_call);                                                                      \
        return value;                                                                              \
    }

#endif
