/* tests/base/memory.c - sizes are checked, pieces of an arena are aligned and apart. */
#include "base/memory.h"

#include "base/cpu.h"
#include "base/image.h"
#include "check.h"

static void products_that_overflow_are_refused(void)
{
    size_t product;
    CHECK(esra_size_multiply(3, 5, &product) && product == 15);
    CHECK(!esra_size_multiply(SIZE_MAX, 2, &product) && product == 0);
    CHECK(esra_allocate(SIZE_MAX / 2, 4) == NULL);
    CHECK(esra_allocate(SIZE_MAX, 1) == NULL);
}

static void blocks_are_zeroed_and_aligned(void)
{
    for (size_t size = 0; size < 300; size += 37) {
        unsigned char *block = esra_allocate(size, 1);
        CHECK(block && (uintptr_t)block % MEMORY_ALIGNMENT == 0);
        for (size_t n = 0; n < size; n++)
            CHECK(block[n] == 0);
        esra_release(&block);
        CHECK(block == NULL);
    }
}

static void an_arena_places_what_it_counted(void)
{
    struct arena arena = {0};
    for (size_t round = 1; round < 4; round++) {
        unsigned char *pieces[20];
        esra_arena_count(&arena);
        for (size_t n = 0; n < 20; n++)
            CHECK(esra_arena_take(&arena, n * round, 3) == NULL);
        CHECK(esra_arena_place(&arena));
        for (size_t n = 0; n < 20; n++) {
            pieces[n] = esra_arena_take(&arena, n * round, 3);
            memset(pieces[n], (int)n, 3 * n * round);
            CHECK((uintptr_t)pieces[n] % MEMORY_ALIGNMENT == 0);
        }
        for (size_t n = 1; n < 20; n++)
            CHECK(pieces[n][0] == n && pieces[n][3 * n * round - 1] == n);
    }
    esra_arena_free(&arena);
}

static void an_arena_notices_overflow(void)
{
    struct arena arena = {0};
    esra_arena_count(&arena);
    esra_arena_take(&arena, SIZE_MAX / 2, 1);
    esra_arena_take(&arena, SIZE_MAX / 2, 1);
    esra_arena_take(&arena, SIZE_MAX / 2, 1);
    CHECK(!esra_arena_place(&arena));
    esra_arena_count(&arena);
    esra_arena_take(&arena, 10, 1);
    CHECK(esra_arena_place(&arena));
    esra_arena_free(&arena);
}

static void images_have_their_planes_in_a_row(void)
{
    struct image image;
    struct message message;
    CHECK(esra_image_create(&image, 5, 4, 3, &message) == ESRA_OK);
    CHECK(image_plane(&image, 2).data == image.data + 40);
    CHECK(plane_row(image_plane(&image, 1), 3) == image.data + 35);
    esra_image_free(&image);
    CHECK(image.data == NULL);
    CHECK(esra_image_create(&image, 0x7fffffff, 0x7fffffff, 0x7fffffff, &message) == ESRA_OUT_OF_MEMORY);
}

static void there_is_a_processor(void)
{
    CHECK(esra_cpu_count() >= 1);
#if defined(__x86_64__)
    CHECK(esra_cpu_features() & CPU_SSE2);
#endif
}

int main(void)
{
    RUN(products_that_overflow_are_refused);
    RUN(blocks_are_zeroed_and_aligned);
    RUN(an_arena_places_what_it_counted);
    RUN(an_arena_notices_overflow);
    RUN(images_have_their_planes_in_a_row);
    RUN(there_is_a_processor);
    return check_report();
}
