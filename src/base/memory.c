/* base/memory.c - allocation with checked sizes. */
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"

#define HUGE_PAGE ((size_t)2 << 20)

bool esra_size_multiply(size_t a, size_t b, size_t *product)
{
    if (!__builtin_mul_overflow(a, b, product))
        return true;
    *product = 0;
    return false;
}

/* *bytes = count * size rounded up to whole lines, or where it is large to whole huge pages, at least one; false where
 * no block can be so large. */
static bool block_size(size_t count, size_t size, size_t *bytes, size_t *alignment)
{
    /* PTRDIFF_MAX: past it the difference of two pointers into the block is undefined. */
    if (!esra_size_multiply(count, size, bytes) || *bytes > PTRDIFF_MAX - 2 * HUGE_PAGE)
        return false;
    *alignment = *bytes >= 2 * HUGE_PAGE ? HUGE_PAGE : MEMORY_ALIGNMENT;
    *bytes = (*bytes + *alignment - 1) / *alignment * *alignment;
    if (*bytes == 0)
        *bytes = *alignment;
    return true;
}

double esra_block_bytes(double bytes)
{
    double unit = bytes >= (double)(2 * HUGE_PAGE) ? (double)HUGE_PAGE : MEMORY_ALIGNMENT;
    return ceil(bytes / unit) * unit;
}

/* The system's allocation begins before the block, by at least the word that stores its address for free(). */
static void *begin_block(void *whole, size_t alignment)
{
    char *block = (char *)whole + (alignment - (uintptr_t)whole % alignment);
    memcpy(block - sizeof whole, &whole, sizeof whole);
    return block;
}

/* Memory fresh from the system is zero. Asked for zeros, it hands out pages of them one by one as they are written to,
 * by whichever thread that is; to write zeros here would touch them all, in this one, before anybody needs them. */
static void *large_block(size_t bytes, bool zeroed)
{
    void *whole = zeroed ? calloc(1, bytes + HUGE_PAGE) : malloc(bytes + HUGE_PAGE);
    if (!whole)
        return NULL;
    void *block = begin_block(whole, HUGE_PAGE);
    esra_system_wish_huge_pages(block, bytes);
    return block;
}

static void *small_block(size_t bytes, bool zeroed)
{
    void *whole = esra_system_allocate(bytes + MEMORY_ALIGNMENT);
    if (!whole)
        return NULL;
    void *block = begin_block(whole, MEMORY_ALIGNMENT);
    if (zeroed)
        memset(block, 0, bytes);
    return block;
}

static void *allocate(size_t count, size_t size, bool zeroed)
{
    size_t bytes, alignment;
    if (!block_size(count, size, &bytes, &alignment))
        return NULL;
    return alignment == HUGE_PAGE ? large_block(bytes, zeroed) : small_block(bytes, zeroed);
}

void *esra_allocate_untouched(size_t count, size_t size)
{
    return allocate(count, size, false);
}

void *esra_allocate(size_t count, size_t size)
{
    return allocate(count, size, true);
}

void esra_release(void *pointer_to_pointer)
{
    char *block;
    void *whole = NULL;
    memcpy(&block, pointer_to_pointer, sizeof block);
    if (block)
        memcpy(&whole, block - sizeof whole, sizeof whole);
    free(whole);
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

size_t esra_arena_counted(const struct arena *arena)
{
    return arena->overflow ? SIZE_MAX : arena->used;
}

void esra_arena_free(struct arena *arena)
{
    esra_release(&arena->block);
    arena->capacity = arena->used = 0;
}
