/* SPDX-License-Identifier: BSD-3-Clause
 * Runs one program to its end, or stops it. The caller has called program_signals first. */
#ifndef APEXSHIM_TOOLS_PROGRAM_H
#define APEXSHIM_TOOLS_PROGRAM_H

#include <stdbool.h>

struct outcome {
    int error;   /* errno of what kept it from starting, else 0 */
    int status;  /* as of waitpid */
    double wall; /* seconds */
    bool stopped, interrupted;
};

/* From here on, signals that end this process are noticed in program_run and program_interrupted.
 */
void program_signals(void);
bool program_interrupted(void);

/* settings: NAME=VALUE sets a variable of the program, NAME removes one; NULL at the end. out, err:
 * files for what it prints. until: seconds after which it is stopped, 0: never. Its input is empty,
 * or, from the beginning, the file that is ours. */
struct outcome program_run(char *const *command, const char *const *settings, const char *out,
                           const char *err, double until);

#endif
