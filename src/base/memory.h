/* base/memory.h - allocation with checked sizes. Every allocation of the library is made here. */
#ifndef ESRA_BASE_MEMORY_H
#define ESRA_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* A cache line and the widest vector. */
#define MEMORY_ALIGNMENT 64

/* *product = a * b, or false and *product = 0 where that does not fit. */
bool esra_size_multiply(size_t a, size_t b, size_t *product);

/* Bytes that the system provides for a block of so many once it is written to, rounded as below. */
double esra_block_bytes(double bytes);

/* count * size bytes, zeroed and aligned; NULL where memory is short or the product overflows. */
void *esra_allocate(size_t count, size_t size);

/* The same with contents unspecified: a large block costs nothing until it is written to. */
void *esra_allocate_untouched(size_t count, size_t size);

/* Frees *pointer and sets it to NULL. */
void esra_release(void *pointer_to_pointer);

/* A block that only ever grows: kept between runs, so that a second run of the same size allocates nothing. It is laid
 * out by a function that takes its pieces one after the other and is run twice: once to count, once to place.
 *
 *     esra_arena_count(arena);
 *     layout(arena, state);
 *     if (!esra_arena_place(arena)) fail;
 *     layout(arena, state);
 */
struct arena {
    char *block;
    size_t capacity, used;
    bool counting, overflow;
};

void esra_arena_count(struct arena *arena);

/* Makes room for what was counted. False where memory is short or the count overflowed: the arena is then sound and
 * empty. */
bool esra_arena_place(struct arena *arena);

/* The next count * size bytes on a MEMORY_ALIGNMENT boundary, holding whatever was there; NULL while counting. */
void *esra_arena_take(struct arena *arena, size_t count, size_t size);

void esra_arena_free(struct arena *arena);

/* Bytes counted since esra_arena_count(); SIZE_MAX where they overflowed. */
size_t esra_arena_counted(const struct arena *arena);

#endif
