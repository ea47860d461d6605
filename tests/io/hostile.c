/* tests/io/hostile.c - files that were cut off or damaged: an error each, never a crash or a hang. ESRA_TEST_ROUNDS=n
 * sets the number of random damages a file (default 2000). */
#define _GNU_SOURCE
#include "tried.h"

#include <zlib.h>

#include "io/exif.h"

static void samples_are_sound(void)
{
    for (int n = 0; n < SAMPLES; n++)
        if (!CHECK(try(samples[n].bytes.data, samples[n].bytes.size, false, NULL) == ESRA_OK))
            printf("    %s\n", samples[n].name);
}

static void every_truncation_is_told(void)
{
    for (int n = 0; n < SAMPLES; n++) {
        int wrong = 0, kept = 0;
        for (size_t size = 0; size < samples[n].bytes.size; size++) {
            bool incomplete = false;
            esra_status status = try(samples[n].bytes.data, size, false, NULL);
            if (status != ESRA_BAD_DATA && wrong++ < 3)
                printf("    %s at %zu of %zu: %s\n", samples[n].name, size, samples[n].bytes.size,
                       esra_status_name(status));
            status = try(samples[n].bytes.data, size, true, &incomplete);
            CHECK(status == ESRA_OK || status == ESRA_BAD_DATA);
            kept += status == ESRA_OK;
        }
        printf("  %s: %zu cuts refused, %d of them tolerated on request\n", samples[n].name, samples[n].bytes.size,
               kept);
        CHECK(wrong == 0);
    }
}

/* Files of some size: every byte of the first 4 KiB with ESRA_TEST_ALL, and 500 cuts in the rest. */
static void cuts_of_larger_files_are_told(void)
{
    static const char *const names[] = {"l.png", "l.jpg", "l.tif", "l.npy"};
    struct write_options plain = WRITE_OPTIONS_DEFAULT;
    struct photo photo = made_photo(90, 70, 3, 8);
    struct message message;
    for (int n = 0; n < 4; n++) {
        CHECK(esra_photo_write(&photo, made_path(names[n]), &plain, &message) == ESRA_OK);
        struct bytes whole = made_load(made_path(names[n]));
        size_t start = getenv("ESRA_TEST_ALL") ? 0 : 4096, cuts = 0, refused = 0;
        CHECK(whole.size > 4096 + 500);
        for (size_t size = start; size < whole.size; size += size < 4096 ? 1 : (whole.size - 4096) / 500) {
            refused += try(whole.data, size, false, NULL) == ESRA_BAD_DATA;
            cuts++;
        }
        printf("  %s: %zu of %zu cuts refused\n", names[n], refused, cuts);
        CHECK(refused == cuts);
        esra_bytes_free(&whole);
    }
    esra_photo_free(&photo);
}

/* Makes the sums of a damaged PNG right again, so that the damage gets past them. */
static void mend_png(unsigned char *data, size_t size)
{
    for (size_t at = 8; at + 12 <= size;) {
        size_t length = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 | (size_t)data[at + 2] << 8 | data[at + 3];
        if (length > size - at - 12)
            return;
        made_number(data + at + 8 + length, (uint32_t)crc32(0, data + at + 4, (unsigned)length + 4), 4, true);
        at += length + 12;
    }
}

static void damage(unsigned char *data, size_t size)
{
    static const unsigned char telling[] = {0, 1, 0x7f, 0x80, 0xff, 0xfe};
    int changes = 1 + (int)(check_bits() % 6);
    for (int n = 0; n < changes; n++) {
        /* Half of the damage falls on the first 200 bytes, where headers are. */
        size_t range = check_bits() % 2 && size > 200 ? 200 : size, at = check_bits() % range;
        if (check_bits() % 2)
            data[at] = telling[check_bits() % sizeof telling];
        else
            data[at] ^= (unsigned char)(1 << check_bits() % 8);
    }
    if (check_bits() % 4 == 0) {
        size_t from = check_bits() % size, to = check_bits() % size, length = check_bits() % 64;
        if (from + length < size && to + length < size)
            memmove(data + to, data + from, length);
    }
}

static void random_damage_does_no_harm(void)
{
    const char *text = getenv("ESRA_TEST_ROUNDS");
    int rounds = text ? atoi(text) : 2000;
    for (int n = 0; n < SAMPLES; n++) {
        size_t size = samples[n].bytes.size;
        unsigned char *data = malloc(size);
        int read = 0, refused = 0;
        for (int round = 0; round < rounds; round++) {
            memcpy(data, samples[n].bytes.data, size);
            damage(data, size);
            if (strstr(samples[n].name, ".png") && round % 4)
                mend_png(data, size);
            esra_status status = try(data, size, round % 2, NULL);
            read += status == ESRA_OK;
            refused += status == ESRA_BAD_DATA || status == ESRA_OVER_LIMIT;
            CHECK(status == ESRA_OK || status == ESRA_BAD_DATA || status == ESRA_OVER_LIMIT);
        }
        printf("  %s: %d damages, %d refused, %d read\n", samples[n].name, rounds, refused, read);
        free(data);
    }
}

static void damaged_exif_does_no_harm(void)
{
    for (int round = 0; round < 20000; round++) {
        struct bytes exif = made_exif(6, round & 1), tiff = made_exif(1, round & 1);
        struct message message;
        char text[16];
        damage(exif.data, exif.size);
        exif.size -= check_bits() % 4 ? 0 : check_bits() % exif.size;
        int orientation = esra_exif_settle(&exif);
        CHECK(orientation >= 1 && orientation <= 8);
        esra_exif_swap_sides(&exif);
        esra_exif_text(&exif, 0x010f, text, sizeof text);
        CHECK(esra_exif_into_tiff(&exif, &tiff, &message) == ESRA_OK);
        esra_bytes_free(&exif);
        esra_bytes_free(&tiff);
    }
}

/* A photo and the same cut off, half of it: the first rows must be right, the others black or guessed. */
static void what_is_there_is_kept(void)
{
    static const char *const names[] = {"t.png", "t.jpg", "t.tif"};
    struct read_options options = READ_OPTIONS_DEFAULT;
    struct write_options plain = WRITE_OPTIONS_DEFAULT;
    struct message message;
    options.tolerate_truncated = true;
    for (int n = 0; n < 3; n++) {
        struct photo photo = made_photo(100, 200, 3, 8), whole, part;
        CHECK(esra_photo_write(&photo, made_path(names[n]), &plain, &message) == ESRA_OK);
        CHECK(esra_photo_read(&whole, made_path(names[n]), &options, &message) == ESRA_OK && !whole.incomplete);
        struct bytes bytes = made_load(made_path(names[n]));
        if (n == 2) /* a TIFF's directory stands last, so the pixels are damaged and not cut */
            memset(bytes.data + bytes.size / 2, 0, 2000);
        made_write(made_path("part"), bytes.data, n == 2 ? bytes.size : bytes.size / 2);
        if (CHECK(esra_photo_read(&part, made_path("part"), &options, &message) == ESRA_OK)) {
            CHECK(part.incomplete && memcmp(part.pixels.data, whole.pixels.data, 100 * 40 * sizeof(float)) == 0);
            for (int x = 0; x < 100 && n != 1; x++)
                CHECK(plane_row(image_plane(&part.pixels, 2), 199)[x] == 0);
            esra_photo_free(&part);
        }
        esra_bytes_free(&bytes);
        esra_photo_free(&whole);
        esra_photo_free(&photo);
    }
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    make_samples();
    RUN(samples_are_sound);
    RUN(what_is_there_is_kept);
    RUN(every_truncation_is_told);
    RUN(cuts_of_larger_files_are_told);
    RUN(random_damage_does_no_harm);
    RUN(damaged_exif_does_no_harm);
    free_samples();
    made_end();
    return check_report();
}
