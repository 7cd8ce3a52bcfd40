/* SPDX-License-Identifier: BSD-3-Clause
 * The variables of env.def, read once. */
#ifndef APEXSHIM_ENV_H
#define APEXSHIM_ENV_H

#include <stdbool.h>
#include <stddef.h>

enum env_opt_level { OPT_O0, OPT_O1 };
enum env_precision { PRECISION_FP32, PRECISION_TF32, PRECISION_FP16 };
enum env_policy { POLICY_COST, POLICY_ALWAYS };
enum env_scale { SCALE_DYNAMIC, SCALE_EXACT, SCALE_FIXED };

enum { ENV_TEXT_BYTES = 512 };

struct env {
#define ENV(_name, _field, _choices, _default, _doc) int _field;
#define ENV_TEXT(_name, _field, _default, _doc)      char _field[ENV_TEXT_BYTES];
#include "env.def"
#undef ENV
#undef ENV_TEXT
    int scale_exponent; /* of SCALE_FIXED */
    bool tf32_vetoed; /* NVIDIA_TF32_OVERRIDE=0: the user forbids lower precision */
};

/* One variable as documented; choices is NULL for a text. */
struct env_variable {
    const char *name, *choices, *fallback, *doc;
};
extern const struct env_variable env_variables[];
extern const size_t env_variables_n;

/* Reads all variables through get (getenv-like). complain gets one line for each bad value (the
 * default is then taken); NULL: silent. */
void env_parse(struct env *env, const char *(*get)(const char *name),
               void (*complain)(const char *line));
/* One line for each APEXSHIM* name in environ ("NAME=value" strings) that is not in the table. */
void env_check_names(const char *const *environ_, void (*complain)(const char *line));

/* Does a name match one of the file name patterns separated by commas? */
bool env_list_matches(const char *patterns, const char *name);

/* The process's variables, read at the first call. Thread safe. Never fails. */
const struct env *env_get(void);
/* Writes the warnings about bad values and unknown names to the log; later calls do nothing. */
void env_report(void);

#endif
