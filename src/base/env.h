/* SPDX-License-Identifier: BSD-3-Clause
 * The variables of env.def, read once. */
#ifndef APEXSHIM_ENV_H
#define APEXSHIM_ENV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum env_opt_level { OPT_O0, OPT_O1, OPT_O2, OPT_O3 };
enum env_preset { PRESET_NONE, PRESET_SAFE, PRESET_FAST, PRESET_ACCURATE, PRESET_REPRODUCIBLE };
enum env_precision {
    PRECISION_FP32,
    PRECISION_TF32,
    PRECISION_FP16,
    PRECISION_BF16,
    PRECISION_FP16X2,
    PRECISION_BF16X3,
    PRECISION_BF16X6,
    PRECISION_AUTO, /* a tuning run */
    PRECISION_FP8,  /* by rule only */
    PRECISIONS
};
enum env_policy { POLICY_COST, POLICY_ALWAYS };
enum env_scale { SCALE_DYNAMIC, SCALE_EXACT, SCALE_FIXED };

enum { ENV_TEXT_BYTES = 512 };

struct env {
#define ENV(_name, _field, _choices, _default, _doc) int _field;
#define ENV_TEXT(_name, _field, _default, _doc)      char _field[ENV_TEXT_BYTES];
#define ENV_FORM(_name, _field, _form, _default, _doc)
#define ENV_DEFAULT(_variable, _value, _name, _other)
#include "env.def"
#undef ENV
#undef ENV_TEXT
#undef ENV_FORM
#undef ENV_DEFAULT
    int precision;                /* enum env_precision */
    double tolerance;             /* of PRECISION_AUTO: relative error of a product */
    int scale;                    /* enum env_scale */
    int scale_exponent;           /* of SCALE_FIXED: operands are multiplied by 2 to this power */
    int verify;                   /* every so many calls; 0: never */
    uint64_t scratch_budget;      /* bytes; 0: scratch_share counts */
    double scratch_share;         /* of the memory that is free at the first use, 0 to 1 */
    double underflow_limit;       /* share of the elements, 0 to 1; infinite: no guard */
    bool tf32_vetoed;             /* NVIDIA_TF32_OVERRIDE=0: the user forbids lower precision */
    bool converts;                /* some call may be converted: not fp32, or there are rules */
    bool copies;                  /* some call may be computed from copies of its operands */
    char cache[ENV_TEXT_BYTES];   /* XDG_CACHE_HOME/apexshim or what stands for it; "": none */
    char program[ENV_TEXT_BYTES]; /* file name of the executable; filled in by env_get */
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

/* What a variable is when it is not set: what others imply, or its fallback. */
const char *env_default(const struct env_variable *v, const char *(*get)(const char *name));

/* Does a name match one of the file name patterns separated by commas? */
bool env_list_matches(const char *patterns, const char *name);

/* "dynamic", "exact" or a power of two (a number or 2^N). False: neither; nothing is changed. */
bool env_read_scale(const char *text, int *scale_p, int *exponent_p);

/* A variable of the process's environment as it is; NULL: not set, or not to be trusted (a program
 * with more rights than its user). */
const char *env_given(const char *name);

/* The process's variables, read at the first call. Thread safe. Never fails. */
const struct env *env_get(void);
/* Writes the warnings about bad values and unknown names to the log; later calls do nothing. */
void env_report(void);

#endif
