/* SPDX-License-Identifier: BSD-3-Clause
 * The number formats of the matrices under test, to and from double. Written from the definitions
 * of the formats, independent of the code under test. */
#ifndef CONFORMANCE_NUMBER_H
#define CONFORMANCE_NUMBER_H

#include <library_types.h>
#include <stdbool.h>
#include <stddef.h>

enum number { F32, F64, C32, C64, F16, BF16, NUMBERS };

struct value {
    double re, im; /* im is 0 in real formats */
};

size_t number_bytes(enum number number); /* of one element, both parts of a complex one */
bool number_complex(enum number number);
cudaDataType number_type(enum number number); /* the vendor's enumerator */
double number_unit(enum number number);       /* unit round-off */
double number_smallest(enum number number);   /* step below the normal range */
double number_largest(enum number number);    /* largest finite */

struct value number_load(enum number number, const void *from);
/* Rounds to nearest even. */
void number_store(enum number number, void *to, struct value x);

#endif
