/* SPDX-License-Identifier: BSD-3-Clause
 * Loader memory: a pool that is freed as a whole, name maps and growing arrays that live in it.
 * Running out of memory, or past the limit, aborts the load through the pool's handler. */
#ifndef SOFTGPU_POOL_H
#define SOFTGPU_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pool {
    struct pool_chunk *chunk;
    size_t left;
    size_t bytes, limit; /* taken so far, and at most; limit 0: no limit */
    void (*exhausted)(void *arg); /* doesn't return */
    void *arg;
};

void *pool_alloc(struct pool *pool, size_t bytes); /* zeroed, 16-byte aligned */
char *pool_strndup(struct pool *pool, const char *text, size_t len);
void pool_free(struct pool *pool);

/* Grows an array of *n_p elements by one and returns the new, zeroed element. */
void *pool_push(struct pool *pool, void **array_p, unsigned *n_p, unsigned *room_p, size_t size);

struct map {
    struct map_entry {
        const char *key;
        void *value;
    } *entry;
    unsigned n, room; /* room is a power of two */
};

void *map_get(const struct map *map, const char *key);
/* False when the key is there already (its value stays). The key is not copied. */
bool map_put(struct map *map, struct pool *pool, const char *key, void *value);

#endif
