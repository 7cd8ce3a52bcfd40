/* SPDX-License-Identifier: BSD-3-Clause
 * A cuBLAS and a cuBLASLt that compute nothing: they note the bytes of every argument and answer as
 * they are told. The program that links them owns the note. Below: prototypes as data, for macros
 * that make a function, a call or a list of each. */
#ifndef CONFORMANCE_SPY_H
#define CONFORMANCE_SPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct spy {
    const char *name; /* the function called last */
    unsigned long calls;
    unsigned long state_calls; /* of functions that change a handle */
    size_t bytes;
    unsigned char argument[256]; /* one after the other */
    int answer;                  /* what to return */
    int error_number;            /* what to leave in errno */
};
extern struct spy spy;

static inline void spy_note(const void *value, size_t bytes)
{
    memcpy(spy.argument + spy.bytes, value, bytes);
    spy.bytes += bytes;
}

/* EACH(_f, _between, types): _f(number, type) for each of up to 23 types, _between() in between.
 * Numbers count down to 1. */
#define EACH(_f, _between, ...)                                                                    \
    EACH_OF(__VA_ARGS__, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, \
            3, 2, 1)                                                                               \
    (_f, _between, __VA_ARGS__)
#define EACH_OF(_1, _2, _3, _4, _5, _6, _7, _8, _9, _10, _11, _12, _13, _14, _15, _16, _17, _18,   \
                _19, _20, _21, _22, _23, _n, ...)                                                  \
    EACH_##_n
#define EACH_1(_f, _b, _t)       _f(1, _t)
#define EACH_2(_f, _b, _t, ...)  _f(2, _t) _b() EACH_1(_f, _b, __VA_ARGS__)
#define EACH_3(_f, _b, _t, ...)  _f(3, _t) _b() EACH_2(_f, _b, __VA_ARGS__)
#define EACH_4(_f, _b, _t, ...)  _f(4, _t) _b() EACH_3(_f, _b, __VA_ARGS__)
#define EACH_5(_f, _b, _t, ...)  _f(5, _t) _b() EACH_4(_f, _b, __VA_ARGS__)
#define EACH_6(_f, _b, _t, ...)  _f(6, _t) _b() EACH_5(_f, _b, __VA_ARGS__)
#define EACH_7(_f, _b, _t, ...)  _f(7, _t) _b() EACH_6(_f, _b, __VA_ARGS__)
#define EACH_8(_f, _b, _t, ...)  _f(8, _t) _b() EACH_7(_f, _b, __VA_ARGS__)
#define EACH_9(_f, _b, _t, ...)  _f(9, _t) _b() EACH_8(_f, _b, __VA_ARGS__)
#define EACH_10(_f, _b, _t, ...) _f(10, _t) _b() EACH_9(_f, _b, __VA_ARGS__)
#define EACH_11(_f, _b, _t, ...) _f(11, _t) _b() EACH_10(_f, _b, __VA_ARGS__)
#define EACH_12(_f, _b, _t, ...) _f(12, _t) _b() EACH_11(_f, _b, __VA_ARGS__)
#define EACH_13(_f, _b, _t, ...) _f(13, _t) _b() EACH_12(_f, _b, __VA_ARGS__)
#define EACH_14(_f, _b, _t, ...) _f(14, _t) _b() EACH_13(_f, _b, __VA_ARGS__)
#define EACH_15(_f, _b, _t, ...) _f(15, _t) _b() EACH_14(_f, _b, __VA_ARGS__)
#define EACH_16(_f, _b, _t, ...) _f(16, _t) _b() EACH_15(_f, _b, __VA_ARGS__)
#define EACH_17(_f, _b, _t, ...) _f(17, _t) _b() EACH_16(_f, _b, __VA_ARGS__)
#define EACH_18(_f, _b, _t, ...) _f(18, _t) _b() EACH_17(_f, _b, __VA_ARGS__)
#define EACH_19(_f, _b, _t, ...) _f(19, _t) _b() EACH_18(_f, _b, __VA_ARGS__)
#define EACH_20(_f, _b, _t, ...) _f(20, _t) _b() EACH_19(_f, _b, __VA_ARGS__)
#define EACH_21(_f, _b, _t, ...) _f(21, _t) _b() EACH_20(_f, _b, __VA_ARGS__)
#define EACH_22(_f, _b, _t, ...) _f(22, _t) _b() EACH_21(_f, _b, __VA_ARGS__)
#define EACH_23(_f, _b, _t, ...) _f(23, _t) _b() EACH_22(_f, _b, __VA_ARGS__)
#define NOTHING()
#define COMMA() ,

#define PARAMETER(_n, _t) _t a##_n
#define ARGUMENT(_n, _t)  a##_n
#define NOTE(_n, _t)      spy_note(&a##_n, sizeof a##_n);

/* A function of a spied library. The vendor's header, included before, checks the types. */
#define SPY(_result, _name, _return, ...)                                                          \
    __attribute__((visibility("default"))) _result _name(EACH(PARAMETER, COMMA, __VA_ARGS__))      \
    {                                                                                              \
        spy.name = #_name;                                                                         \
        spy.calls++;                                                                               \
        spy.bytes = 0;                                                                             \
        EACH(NOTE, NOTHING, __VA_ARGS__)                                                           \
        errno = spy.error_number;                                                                  \
        _return;                                                                                   \
    }

/* A function of the program: calls _name with drawn arguments and compares. KIND(argument) says
 * what a sensible one would be. */
#define FILL(_n, _t)                                                                               \
    _t a##_n;                                                                                      \
    draw(&a##_n, sizeof a##_n, KIND(a##_n));
#define PROBE(_result, _name, _keep, ...)                                                          \
    static void probe_##_name(void)                                                                \
    {                                                                                              \
        EACH(FILL, NOTHING, __VA_ARGS__)                                                           \
        begin();                                                                                   \
        _keep _name(EACH(ARGUMENT, COMMA, __VA_ARGS__));                                           \
        end(#_name);                                                                               \
    }

#endif
