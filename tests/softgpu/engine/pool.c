/* SPDX-License-Identifier: BSD-3-Clause
 * Pool of loader memory and the name maps in it. The owner of a pool owns all that came from it. */
#include "pool.h"

#include <stdlib.h>
#include <string.h>

struct pool_chunk {
    struct pool_chunk *next;
    size_t bytes;
    _Alignas(16) char data[];
};

enum { CHUNK = 64 << 10 };

void *pool_alloc(struct pool *pool, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (pool->left < bytes) {
        size_t room = bytes > CHUNK ? bytes : CHUNK;
        bool allowed = !pool->limit || (room <= pool->limit && pool->bytes <= pool->limit - room);
        struct pool_chunk *c = allowed ? calloc(1, sizeof *c + room) : NULL;

        if (!c) {
            pool->exhausted(pool->arg);
            abort();
        }
        c->bytes = room;
        pool->bytes += room;
        c->next = pool->chunk;
        pool->chunk = c;
        pool->left = room;
    }
    pool->left -= bytes;
    return pool->chunk->data + pool->left;
}

char *pool_strndup(struct pool *pool, const char *text, size_t len)
{
    char *s = pool_alloc(pool, len + 1);

    memcpy(s, text, len);
    return s;
}

void pool_free(struct pool *pool)
{
    while (pool->chunk) {
        struct pool_chunk *next = pool->chunk->next;

        free(pool->chunk);
        pool->chunk = next;
    }
    pool->left = pool->bytes = 0;
}

void *pool_push(struct pool *pool, void **array_p, unsigned *n_p, unsigned *room_p, size_t size)
{
    if (*n_p == *room_p) {
        unsigned room = *room_p ? 2 * *room_p : 8;
        void *bigger;

        if (room < *room_p)
            pool->exhausted(pool->arg);
        bigger = pool_alloc(pool, room * size);

        if (*n_p)
            memcpy(bigger, *array_p, *n_p * size);
        *array_p = bigger;
        *room_p = room;
    }
    return (char *)*array_p + (*n_p)++ * size;
}

static unsigned hash(const char *key)
{
    uint32_t h = 2166136261u;

    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 16777619u;
    return h ^ h >> 15;
}

void *map_get(const struct map *map, const char *key)
{
    if (!map->room)
        return NULL;
    for (unsigned k = hash(key);; k++) {
        const struct map_entry *e = &map->entry[k & (map->room - 1)];

        if (!e->key)
            return NULL;
        if (strcmp(e->key, key) == 0)
            return e->value;
    }
}

static bool insert(struct map *map, const char *key, void *value)
{
    for (unsigned k = hash(key);; k++) {
        struct map_entry *e = &map->entry[k & (map->room - 1)];

        if (!e->key) {
            *e = (struct map_entry){key, value};
            map->n++;
            return true;
        }
        if (strcmp(e->key, key) == 0)
            return false;
    }
}

bool map_put(struct map *map, struct pool *pool, const char *key, void *value)
{
    if (2 * (map->n + 1) > map->room) {
        struct map old = *map;

        map->room = old.room ? 2 * old.room : 8;
        map->n = 0;
        map->entry = pool_alloc(pool, map->room * sizeof *map->entry);
        for (unsigned k = 0; k < old.room; k++)
            if (old.entry[k].key)
                insert(map, old.entry[k].key, old.entry[k].value);
    }
    return insert(map, key, value);
}
