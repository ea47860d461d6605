/* base/memory.c - allocation with checked sizes. */
#include "base/memory.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

bool esra_size_multiply(size_t a, size_t b, size_t *product)
{
    if (!__builtin_mul_overflow(a, b, product))
        return true;
    *product = 0;
    return false;
}

/* *bytes = count * size rounded up to whole lines, at least one; false where no block can be so large. */
static bool block_size(size_t count, size_t size, size_t *bytes)
{
    /* PTRDIFF_MAX: past it the difference of two pointers into the block is undefined. */
    if (!esra_size_multiply(count, size, bytes) || *bytes > PTRDIFF_MAX - MEMORY_ALIGNMENT)
        return false;
    *bytes = (*bytes + MEMORY_ALIGNMENT - 1) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
    if (*bytes == 0)
        *bytes = MEMORY_ALIGNMENT;
    return true;
}

void *esra_allocate_untouched(size_t count, size_t size)
{
    size_t bytes;
    return block_size(count, size, &bytes) ? aligned_alloc(MEMORY_ALIGNMENT, bytes) : NULL;
}

void *esra_allocate(size_t count, size_t size)
{
    size_t bytes;
    void *block = esra_allocate_untouched(count, size);
    if (block && block_size(count, size, &bytes))
        memset(block, 0, bytes);
    return block;
}

void esra_release(void *pointer_to_pointer)
{
    void *block;
    memcpy(&block, pointer_to_pointer, sizeof block);
    free(block);
    block = NULL;
    memcpy(pointer_to_pointer, &block, sizeof block);
}

void esra_arena_count(struct arena *arena)
{
    arena->used = 0;
    arena->counting = true;
    arena->overflow = false;
}

bool esra_arena_place(struct arena *arena)
{
    size_t wanted = arena->used;
    arena->used = 0;
    arena->counting = false;
    if (arena->overflow)
        return false;
    if (wanted <= arena->capacity)
        return true;
    esra_arena_free(arena);
    arena->block = esra_allocate(wanted, 1);
    if (!arena->block)
        return false;
    arena->capacity = wanted;
    return true;
}

void *esra_arena_take(struct arena *arena, size_t count, size_t size)
{
    size_t start = arena->used, bytes;
    if (!esra_size_multiply(count, size, &bytes) || __builtin_add_overflow(bytes, MEMORY_ALIGNMENT - 1, &bytes) ||
        __builtin_add_overflow(start, bytes / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT, &arena->used)) {
        arena->overflow = true;
        return NULL;
    }
    assert(arena->counting || arena->used <= arena->capacity);
    return arena->counting ? NULL : arena->block + start;
}

void esra_arena_free(struct arena *arena)
{
    esra_release(&arena->block);
    arena->capacity = arena->used = 0;
}
