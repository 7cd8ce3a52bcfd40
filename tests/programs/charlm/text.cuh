// SPDX-License-Identifier: BSD-3-Clause
// The text that the character model learns: read from a file, its bytes numbered in order of their
// value, the first nine tenths for training and the rest for validation. Owns the random numbers.
#ifndef CHARLM_TEXT_CUH
#define CHARLM_TEXT_CUH

#include "check.cuh"
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

struct text {
    unsigned char *token; // of each character
    long length, training;
    int vocabulary;
    unsigned char byte_of[256];
};

static void text_load(struct text *t, const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        fail("%s: %s", path, strerror(errno));
    struct stat status;
    if (fstat(fileno(file), &status) != 0 || !S_ISREG(status.st_mode))
        fail("%s: not a regular file", path);
    long size = (long)status.st_size;
    t->token = (unsigned char *)malloc(size + 1);
    if (!t->token)
        fail("out of memory");
    if (fread(t->token, 1, size, file) != (size_t)size)
        fail("%s: cannot be read", path);
    fclose(file);

    int number[256] = {0};
    for (long i = 0; i < size; i++)
        number[t->token[i]] = 1;
    t->vocabulary = 0;
    for (int byte = 0; byte < 256; byte++) {
        if (number[byte]) {
            t->byte_of[t->vocabulary] = (unsigned char)byte;
            number[byte] = t->vocabulary++;
        }
    }
    for (long i = 0; i < size; i++)
        t->token[i] = (unsigned char)number[t->token[i]];
    t->length = size;
    t->training = size - size / 10;
}

// splitmix64: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
static uint64_t random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

// In [0, 1).
static double random_uniform(uint64_t *state)
{
    return (double)(random_bits(state) >> 11) / 9007199254740992.0;
}

static double random_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(1 - random_uniform(state)));
    return radius * cos(6.283185307179586 * random_uniform(state));
}

#endif
