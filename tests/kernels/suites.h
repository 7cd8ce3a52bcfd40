/* SPDX-License-Identifier: BSD-3-Clause
 * The suites of check_kernels that have a file of their own. */
#ifndef KERNELS_SUITES_H
#define KERNELS_SUITES_H

#include <check.h>

Suite *suite_compare(void);
Suite *suite_fp8(void);

#endif
