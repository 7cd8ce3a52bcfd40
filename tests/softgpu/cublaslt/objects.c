/* SPDX-License-Identifier: BSD-3-Clause
 * Descriptors, layouts, preferences and their attributes, each from one table. */
#include "objects.h"

#include <stdlib.h>

cublasStatus_t attribute_copy(const void *value, size_t value_bytes, void *buf, size_t bytes,
                              size_t *written)
{
    if (bytes == 0) {
        if (written == NULL)
            return CUBLAS_STATUS_INVALID_VALUE;
        *written = value_bytes;
        return CUBLAS_STATUS_SUCCESS;
    }
    if (buf == NULL || bytes < value_bytes)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(buf, value, value_bytes);
    if (written != NULL)
        *written = value_bytes;
    return CUBLAS_STATUS_SUCCESS;
}

static const struct attribute *find(const struct attribute *table, size_t n, int id)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].id == id)
            return &table[i];
    return NULL;
}

cublasStatus_t attribute_set(const struct attribute *table, size_t n, void *object, int id,
                             const void *buf, size_t bytes)
{
    const struct attribute *a = find(table, n, id);
    if (object == NULL || a == NULL || a->read_only || buf == NULL || bytes != a->api)
        return CUBLAS_STATUS_INVALID_VALUE;
    char *to = (char *)object + a->offset;
    if (a->width == a->api) {
        memcpy(to, buf, bytes);
        return CUBLAS_STATUS_SUCCESS;
    }
    int32_t value;
    memcpy(&value, buf, sizeof value);
    const int32_t most = a->width == 1 ? INT8_MAX : INT16_MAX;
    if (value < -1 || value > most)
        return CUBLAS_STATUS_INVALID_VALUE;
    memcpy(to, &value, a->width); /* little endian */
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t attribute_get(const struct attribute *table, size_t n, const void *object, int id,
                             void *buf, size_t bytes, size_t *written)
{
    const struct attribute *a = find(table, n, id);
    if (object == NULL || a == NULL || (bytes != 0 && bytes != a->api))
        return CUBLAS_STATUS_INVALID_VALUE;
    const char *from = (const char *)object + a->offset;
    if (a->width == a->api)
        return attribute_copy(from, a->api, buf, bytes, written);
    int32_t value;
    if (a->width == 1) {
        int8_t narrow;
        memcpy(&narrow, from, sizeof narrow);
        value = narrow;
    } else {
        int16_t narrow;
        memcpy(&narrow, from, sizeof narrow);
        value = narrow;
    }
    return attribute_copy(&value, sizeof value, buf, bytes, written);
}

#define AT(_id, _struct, _field, _api)                                                             \
    {                                                                                              \
        .id = _id, .offset = offsetof(struct _struct, _field),                                     \
        .width = sizeof(((struct _struct *)0)->_field), .api = _api                                \
    }
#define DESC(_id, _field, _api) AT(CUBLASLT_MATMUL_DESC_##_id, lt_desc, _field, _api)
static const struct attribute desc_table[] = {
    DESC(COMPUTE_TYPE, compute, 4),
    DESC(SCALE_TYPE, scale_type, 4),
    DESC(POINTER_MODE, pointer_mode, 4),
    DESC(TRANSA, transa, 4),
    DESC(TRANSB, transb, 4),
    DESC(TRANSC, transc, 4),
    DESC(FILL_MODE, fill, 4),
    DESC(EPILOGUE, epilogue, 4),
    DESC(BIAS_POINTER, bias, 8),
    DESC(BIAS_BATCH_STRIDE, bias_stride, 8),
    DESC(EPILOGUE_AUX_POINTER, aux, 8),
    DESC(EPILOGUE_AUX_LD, aux_ld, 8),
    DESC(EPILOGUE_AUX_BATCH_STRIDE, aux_stride, 8),
    DESC(ALPHA_VECTOR_BATCH_STRIDE, alpha_stride, 8),
    DESC(SM_COUNT_TARGET, sm_count, 4),
    DESC(A_SCALE_POINTER, scale[0], 8),
    DESC(B_SCALE_POINTER, scale[1], 8),
    DESC(C_SCALE_POINTER, scale[2], 8),
    DESC(D_SCALE_POINTER, scale[3], 8),
    DESC(AMAX_D_POINTER, d_amax, 8),
    DESC(EPILOGUE_AUX_DATA_TYPE, aux_type, 4),
    DESC(EPILOGUE_AUX_SCALE_POINTER, scale[4], 8),
    DESC(EPILOGUE_AUX_AMAX_POINTER, aux_amax, 8),
    DESC(FAST_ACCUM, fast_accum, 1),
    DESC(BIAS_DATA_TYPE, bias_type, 4),
    DESC(A_SCALE_MODE, scale_mode[0], 4),
    DESC(B_SCALE_MODE, scale_mode[1], 4),
    DESC(C_SCALE_MODE, scale_mode[2], 4),
    DESC(D_SCALE_MODE, scale_mode[3], 4),
    DESC(EPILOGUE_AUX_SCALE_MODE, scale_mode[4], 4),
    DESC(D_OUT_SCALE_POINTER, d_out, 8),
    DESC(D_OUT_SCALE_MODE, d_out_mode, 4),
    DESC(EMULATION_DESCRIPTOR, emulation, 8),
};

#define LAYOUT(_id, _field, _api) AT(CUBLASLT_MATRIX_LAYOUT_##_id, lt_layout, _field, _api)
static const struct attribute layout_table[] = {
    LAYOUT(TYPE, type, 4),
    LAYOUT(ORDER, order, 4),
    LAYOUT(ROWS, rows, 8),
    LAYOUT(COLS, cols, 8),
    LAYOUT(LD, ld, 8),
    LAYOUT(BATCH_COUNT, batch, 4),
    LAYOUT(STRIDED_BATCH_OFFSET, stride, 8),
    LAYOUT(PLANE_OFFSET, plane, 8),
    LAYOUT(BATCH_MODE, batch_mode, 4),
};

#define PREF(_id, _field, _api) AT(CUBLASLT_MATMUL_PREF_##_id, lt_preference, _field, _api)
static const struct attribute preference_table[] = {
    PREF(SEARCH_MODE, search, 4),
    PREF(MAX_WORKSPACE_BYTES, workspace, 8),
    PREF(REDUCTION_SCHEME_MASK, reduction_mask, 4),
    PREF(MIN_ALIGNMENT_A_BYTES, align[0], 4),
    PREF(MIN_ALIGNMENT_B_BYTES, align[1], 4),
    PREF(MIN_ALIGNMENT_C_BYTES, align[2], 4),
    PREF(MIN_ALIGNMENT_D_BYTES, align[3], 4),
    PREF(MAX_WAVES_COUNT, waves, 4),
    PREF(IMPL_MASK, impl_mask, 8),
};

#define TRANSFORM(_id, _field) AT(CUBLASLT_MATRIX_TRANSFORM_DESC_##_id, lt_transform, _field, 4)
static const struct attribute transform_table[] = {
    TRANSFORM(SCALE_TYPE, scale_type),
    TRANSFORM(POINTER_MODE, pointer_mode),
    TRANSFORM(TRANSA, transa),
    TRANSFORM(TRANSB, transb),
};

#define EMULATION(_id, _field, _api) AT(CUBLASLT_EMULATION_DESC_##_id, lt_emulation, _field, _api)
static const struct attribute emulation_table[] = {
    EMULATION(STRATEGY, strategy, 4),
    EMULATION(SPECIAL_VALUES_SUPPORT, special, 4),
    EMULATION(FIXEDPOINT_MANTISSA_CONTROL, control, 4),
    EMULATION(FIXEDPOINT_MAX_MANTISSA_BIT_COUNT, max_bits, 4),
    EMULATION(FIXEDPOINT_MANTISSA_BIT_OFFSET, offset, 4),
    EMULATION(FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER, bits, 8),
};

/* Init_internal, Create, Destroy, SetAttribute and GetAttribute of one kind of object. The first
 * parameters of Init and Create after the object are what `_default` is made of. */
#define OBJECT(_prefix, _handle, _opaque, _struct, _table, _attributes, _params, _default)         \
    _Static_assert(sizeof(struct _struct) <= sizeof(_opaque), #_struct);                           \
    BLAS_API cublasStatus_t _prefix##Init_internal(_handle object, size_t size _params)            \
    {                                                                                              \
        ENTER(#_prefix "Init_internal", "%s", "");                                                 \
        if (object == NULL)                                                                        \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        if (size < sizeof(struct _struct))                                                         \
            return CUBLAS_STATUS_ALLOC_FAILED;                                                     \
        const struct _struct fresh = _default;                                                     \
        memset(object, 0, size);                                                                   \
        memcpy(object, &fresh, sizeof fresh);                                                      \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    BLAS_API cublasStatus_t _prefix##Create(_handle *object_p _params)                             \
    {                                                                                              \
        ENTER(#_prefix "Create", "%s", "");                                                        \
        if (object_p == NULL)                                                                      \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        struct _struct *object = calloc(1, sizeof(_opaque));                                       \
        if (object == NULL)                                                                        \
            return CUBLAS_STATUS_ALLOC_FAILED;                                                     \
        const struct _struct fresh = _default;                                                     \
        *object = fresh;                                                                           \
        *object_p = (_handle)object;                                                               \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    BLAS_API cublasStatus_t _prefix##Destroy(_handle object)                                       \
    {                                                                                              \
        ENTER(#_prefix "Destroy", "%s", "");                                                       \
        free(object);                                                                              \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    BLAS_API cublasStatus_t _prefix##SetAttribute(_handle object, _attributes attr,                \
                                                  const void *buf, size_t bytes)                   \
    {                                                                                              \
        ENTER(#_prefix "SetAttribute", "%d", (int)attr);                                           \
        return attribute_set(_table, sizeof _table / sizeof _table[0], object, (int)attr, buf,     \
                             bytes);                                                               \
    }                                                                                              \
    BLAS_API cublasStatus_t _prefix##GetAttribute(_handle object, _attributes attr, void *buf,     \
                                                  size_t bytes, size_t *written)                   \
    {                                                                                              \
        ENTER(#_prefix "GetAttribute", "%d", (int)attr);                                           \
        return attribute_get(_table, sizeof _table / sizeof _table[0], object, (int)attr, buf,     \
                             bytes, written);                                                      \
    }

#define COMMA ,
#define NOTHING
#define DESC_PARAMS COMMA cublasComputeType_t compute COMMA cudaDataType_t scale_type
#define LAYOUT_PARAMS                                                                              \
    COMMA cudaDataType type COMMA uint64_t rows COMMA uint64_t cols COMMA int64_t ld
#define TRANSFORM_PARAMS COMMA cudaDataType scale_type

OBJECT(cublasLtMatmulDesc, cublasLtMatmulDesc_t, cublasLtMatmulDescOpaque_t, lt_desc, desc_table,
       cublasLtMatmulDescAttributes_t, DESC_PARAMS,
       {.compute = (int8_t)compute COMMA.scale_type = (int8_t)scale_type COMMA.fill =
            CUBLAS_FILL_MODE_FULL COMMA.epilogue = CUBLASLT_EPILOGUE_DEFAULT COMMA.aux_type =
                -1 COMMA.bias_type = -1})
OBJECT(cublasLtMatrixLayout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutOpaque_t, lt_layout,
       layout_table, cublasLtMatrixLayoutAttribute_t, LAYOUT_PARAMS,
       {.type = (int32_t)type COMMA.order = CUBLASLT_ORDER_COL COMMA.rows = rows COMMA.cols =
            cols COMMA.ld = ld COMMA.batch = 1})
OBJECT(cublasLtMatmulPreference, cublasLtMatmulPreference_t, cublasLtMatmulPreferenceOpaque_t,
       lt_preference, preference_table, cublasLtMatmulPreferenceAttributes_t, NOTHING,
       {.impl_mask = UINT64_MAX COMMA.reduction_mask =
            CUBLASLT_REDUCTION_SCHEME_MASK COMMA.align = {256 COMMA 256 COMMA 256 COMMA 256}})
OBJECT(cublasLtMatrixTransformDesc, cublasLtMatrixTransformDesc_t,
       cublasLtMatrixTransformDescOpaque_t, lt_transform, transform_table,
       cublasLtMatrixTransformDescAttributes_t, TRANSFORM_PARAMS,
       {.scale_type = (int32_t)scale_type})
OBJECT(cublasLtEmulationDesc, cublasLtEmulationDesc_t, cublasLtEmulationDescOpaque_t, lt_emulation,
       emulation_table, cublasLtEmulationDescAttributes_t, NOTHING, {.special = 0xffff})
