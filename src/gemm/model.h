/* SPDX-License-Identifier: BSD-3-Clause
 * The cost model of a GPU with what `apexshim tune` has measured on it, kept in a file under the
 * cache folder. */
#ifndef APEXSHIM_MODEL_H
#define APEXSHIM_MODEL_H

#include "base/env.h"
#include "device/context.h"
#include "gemm/cost.h"

#include <stdbool.h>
#include <stddef.h>

/* The model of the variables for this GPU; its file is read once. */
struct cost_model model_of(const struct env *env, const struct gpu *gpu);

/* Puts the figures of a file into the model. False: bad or of another GPU; nothing is changed and
 * complaint says why. */
bool model_read(const char *path, const struct gpu *gpu, struct cost_model *model, char *complaint,
                size_t bytes);
/* The file of a model; modelled: the times were not measured on hardware. */
bool model_write(const char *path, const struct gpu *gpu, const struct cost_model *model,
                 bool modelled, char *complaint, size_t bytes);

/* Where the model of the GPU is kept. False: nowhere. */
bool model_file(const struct env *env, const struct gpu *gpu, char *path, size_t bytes);

#endif
