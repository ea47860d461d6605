/* base/memory.c - allocation with checked sizes. */
#define _DEFAULT_SOURCE
#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)

bool esra_size_multiply(size_t a, size_t b, size_t *product)
{
    if (!__builtin_mul_overflow(a, b, product))
        return true;
    *product = 0;
    return false;
}

/* A wish: one fault and one address translation for 512 pages. */
static void ask_for_huge_pages(void *block, size_t bytes)
{
#ifdef MADV_HUGEPAGE
    madvise(block, bytes, MADV_HUGEPAGE);
#else
    (void)block, (void)bytes;
#endif
}

/* *bytes = count * size rounded up to whole lines, or where it is large to whole huge pages, at least one; false where no
 * block can be so large. */
static bool block_size(size_t count, size_t size, size_t *bytes, size_t *alignment)
{
    /* PTRDIFF_MAX: past it the difference of two pointers into the block is undefined. */
    if (!esra_size_multiply(count, size, bytes) || *bytes > PTRDIFF_MAX - HUGE_PAGE)
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

void *esra_allocate_untouched(size_t count, size_t size)
{
    size_t bytes, alignment;
    void *block = block_size(count, size, &bytes, &alignment) ? aligned_alloc(alignment, bytes) : NULL;
    if (block && alignment == HUGE_PAGE)
        ask_for_huge_pages(block, bytes);
    return block;
}

void *esra_allocate(size_t count, size_t size)
{
    size_t bytes, alignment;
    void *block = esra_allocate_untouched(count, size);
    if (block && block_size(count, size, &bytes, &alignment))
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

size_t esra_arena_counted(const struct arena *arena)
{
    return arena->overflow ? SIZE_MAX : arena->used;
}

void esra_arena_free(struct arena *arena)
{
    esra_release(&arena->block);
    arena->capacity = arena->used = 0;
}
