/* tests/io/hostile.c - files that were cut off, damaged or made to do harm: an error each, never a crash, a hang or
 * memory for what is only claimed. ESRA_TEST_ROUNDS=n sets the number of random damages a file (default 2000). */
#define _GNU_SOURCE
#include "made.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <zlib.h>

#include "io/exif.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* ---- Small files of every kind ---- */

struct sample {
    const char *name;
    struct bytes bytes;
};

#define SAMPLES 13
static struct sample samples[SAMPLES];

static void keep(int *count, const char *name)
{
    samples[*count] = (struct sample){name, made_load(made_path(name))};
    (*count)++;
}

static void keep_written(int *count, const char *name, int channels, int depth, bool metadata)
{
    struct photo photo = made_photo(13, 9, channels, depth);
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    struct message message;
    if (metadata) {
        photo.icc = made_profile(channels, cmsBuildGamma(NULL, 2.2));
        photo.exif = made_exif(6, *count & 1);
    }
    CHECK(esra_photo_write(&photo, made_path(name), &options, &message) == ESRA_OK);
    esra_photo_free(&photo);
    keep(count, name);
}

static void keep_png(int *count)
{
    unsigned char pixels[20 * 20 * 6];
    png_color palette[16];
    for (size_t n = 0; n < sizeof pixels; n++)
        pixels[n] = (unsigned char)check_bits();
    for (size_t n = 0; n < 16; n++)
        palette[n] = (png_color){(png_byte)n, (png_byte)(16 * n), (png_byte)check_bits()};
    made_png(made_path("interlaced.png"), 11, 12, PNG_COLOR_TYPE_RGB, 16, true, pixels, NULL, 0, NULL);
    keep(count, "interlaced.png");
    made_png(made_path("palette.png"), 16, 16, PNG_COLOR_TYPE_PALETTE, 4, false, pixels, palette, 16, NULL);
    keep(count, "palette.png");
}

static void keep_jpeg(int *count)
{
    unsigned char pixels[32 * 32 * 3];
    for (size_t n = 0; n < sizeof pixels; n++)
        pixels[n] = (unsigned char)(n / 7 + check_bits() % 20);
    made_jpeg(made_path("progressive.jpg"), 21, 18, JCS_YCbCr, true, pixels, NULL);
    keep(count, "progressive.jpg");
    made_jpeg(made_path("grey.jpg"), 32, 32, JCS_GRAYSCALE, false, pixels, NULL);
    keep(count, "grey.jpg");
}

static void keep_tiff(int *count)
{
    struct photo photo = made_photo(37, 21, 3, 16);
    made_tiff(made_path("tiled.tif"), &photo, (struct made_tiff){"wb", 16, 3, 1, 16, 1, COMPRESSION_LZW, 0, 7});
    keep(count, "tiled.tif");
    made_tiff(made_path("big.tif"), &photo, (struct made_tiff){"w8", 8, 3, 0, 0, 0, COMPRESSION_PACKBITS, 0, 0});
    keep(count, "big.tif");
    esra_photo_free(&photo);
}

static void make_samples(void)
{
    int count = 0;
    keep_written(&count, "rgb.png", 3, 8, true);
    keep_written(&count, "grey.png", 1, 16, false);
    keep_written(&count, "rgb.jpg", 3, 8, true);
    keep_written(&count, "rgb.tif", 3, 8, true);
    keep_written(&count, "grey.tif", 1, 16, true);
    keep_written(&count, "float.tif", 3, 32, false);
    keep_written(&count, "rgb.npy", 3, 32, false);
    keep_png(&count);
    keep_jpeg(&count);
    keep_tiff(&count);
    CHECK(count == SAMPLES);
}

static void free_samples(void)
{
    for (int n = 0; n < SAMPLES; n++)
        esra_bytes_free(&samples[n].bytes);
}

/* ---- Trying a file ---- */

static bool is_finite(const struct photo *photo)
{
    const struct image *pixels = &photo->pixels;
    for (long n = 0; n < (long)pixels->width * pixels->height * pixels->channels; n++)
        if (!isfinite(pixels->data[n]))
            return false;
    return true;
}

/* A file in memory: tens of thousands of small files would keep a disk busy for minutes. */
static const char *in_memory(const void *bytes, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("tried", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
    return path;
}

/* Reads the bytes as a file; a photo that comes out must be whole in itself, and so must its profile's curves. */
static esra_status try(const void *bytes, size_t size, bool tolerate, bool *incomplete)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    struct photo photo;
    struct light light;
    struct message message = {""};
    options.tolerate_truncated = tolerate;
    options.limits.pixels = 1000000;
    esra_status status = esra_photo_read(&photo, in_memory(bytes, size), &options, &message);
    if (status == ESRA_OK) {
        CHECK(photo.pixels.width > 0 && photo.pixels.height > 0 && is_finite(&photo));
        if (photo.icc.size && check_bits() % 4 == 0) {
            CHECK(made_light(&light, &photo, &message) == ESRA_OK);
            esra_light_free(&light);
        }
        if (incomplete)
            *incomplete = photo.incomplete;
    } else {
        CHECK(message.text[0] && !strchr(message.text, '\n'));
        if (status != ESRA_BAD_DATA && status != ESRA_OVER_LIMIT)
            printf("    %s\n", message.text);
    }
    esra_photo_free(&photo);
    return status;
}

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

/* ---- Bombs ---- */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static long peak_kib(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return usage.ru_maxrss;
}

/* Read in a child, whose memory is its own; its exit code is the status. 64 MiB are allowed on top of what the test
 * itself has. */
static void refuse_bomb(const char *what, esra_status wanted)
{
    double before = now();
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        struct read_options options = READ_OPTIONS_DEFAULT;
        struct photo photo;
        struct message message = {""};
        long start = peak_kib(RUSAGE_SELF);
        esra_status status = esra_photo_read(&photo, made_path("bomb"), &options, &message);
        long taken = peak_kib(RUSAGE_SELF) - start;
        printf("  %-34s %3.0f ms %3ld MiB: %s\n", what, 1e3 * (now() - before), taken >> 10, message.text);
        fflush(stdout);
        esra_photo_free(&photo);
        _exit(!SANITIZED && taken > 64 << 10 ? 100 : (int)status);
    }
    int state = 0;
    CHECK(waitpid(child, &state, 0) == child);
    if (!CHECK(WIFEXITED(state) && WEXITSTATUS(state) == (int)wanted))
        printf("    %s: %s\n", what,
               WIFEXITED(state) && WEXITSTATUS(state) == 100 ? "more than 64 MiB" : "another status than wanted");
}

static void put(FILE *file, const void *bytes, size_t size)
{
    CHECK(fwrite(bytes, 1, size, file) == size);
}

static void put_chunk(FILE *file, const char *type, const void *data, size_t size)
{
    unsigned char head[8], sum[4];
    made_number(head, (uint32_t)size, 4, true);
    memcpy(head + 4, type, 4);
    uLong crc = crc32(crc32(0, head + 4, 4), data, (unsigned)size);
    made_number(sum, (uint32_t)crc, 4, true);
    put(file, head, 8);
    put(file, data, size);
    put(file, sum, 4);
}

static FILE *begin_png(uint32_t width, uint32_t height)
{
    unsigned char head[13] = {[8] = 8, [9] = 2};
    FILE *file = fopen(made_path("bomb"), "wb");
    made_number(head, width, 4, true);
    made_number(head + 4, height, 4, true);
    put(file, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(file, "IHDR", head, sizeof head);
    return file;
}

/* Zeros, compressed as far as deflate goes: a thousand to one. */
static struct bytes packed_zeros(size_t size)
{
    struct bytes packed = {malloc(compressBound(size)), compressBound(size)};
    unsigned char *zeros = calloc(size, 1);
    CHECK(compress2(packed.data, &packed.size, zeros, size, 9) == Z_OK);
    free(zeros);
    return packed;
}

static void png_bombs(void)
{
    static unsigned char profile[32 + 200000];
    struct bytes packed = packed_zeros(100 << 20);
    FILE *file = begin_png(100000, 100000);
    put_chunk(file, "IDAT", packed.data, packed.size);
    fclose(file);
    refuse_bomb("PNG of 100000 x 100000", ESRA_OVER_LIMIT);
    file = begin_png(0x7fffffff, 0x7fffffff);
    fclose(file);
    refuse_bomb("PNG of 2^31 x 2^31", ESRA_BAD_DATA);
    file = begin_png(0x7fffffff, 1);
    put_chunk(file, "IDAT", packed.data, 100);
    fclose(file);
    refuse_bomb("PNG of 2^31 x 1", ESRA_OVER_LIMIT);
    file = begin_png(14000, 14000);
    put_chunk(file, "IDAT", packed.data, 100);
    fclose(file);
    refuse_bomb("PNG of 196 MP in 200 bytes", ESRA_BAD_DATA);
    file = begin_png(8, 8);
    memcpy(profile, "ICC\0\0", 5);
    CHECK(packed.size < sizeof profile - 5);
    memcpy(profile + 5, packed.data, packed.size);
    put_chunk(file, "iCCP", profile, 5 + packed.size);
    fclose(file);
    refuse_bomb("PNG, profile unpacks to 100 MB", ESRA_BAD_DATA);
    esra_bytes_free(&packed);
}

static void png_metadata_bombs(void)
{
    FILE *file = begin_png(8, 8);
    put(file, "\x06\x40\0\0tEXt", 8);
    CHECK(fseek(file, 100 << 20, SEEK_CUR) == 0);
    put(file, "end!", 4);
    fclose(file);
    refuse_bomb("PNG with 100 MB of text", ESRA_OVER_LIMIT);
    file = begin_png(8, 8);
    for (int n = 0; n < 2000000; n++)
        put(file, "\0\0\0\0abCd\xff\xff\xff\xff", 12);
    fclose(file);
    refuse_bomb("PNG with 2 million empty chunks", ESRA_OVER_LIMIT);
}

/* Where a marker stands in a file. */
static size_t find_marker(const struct bytes *bytes, int marker, size_t from)
{
    for (size_t at = from; at + 1 < bytes->size; at++)
        if (bytes->data[at] == 0xff && bytes->data[at + 1] == marker)
            return at;
    CHECK(false);
    return 0;
}

/* The progressive sample with another size, and its last scan as often as wanted. */
static void write_jpeg_bomb(int width, int height, int scans)
{
    const struct sample *sample = NULL;
    for (int n = 0; n < SAMPLES; n++)
        if (strcmp(samples[n].name, "progressive.jpg") == 0)
            sample = &samples[n];
    struct bytes jpeg = {malloc(sample->bytes.size), sample->bytes.size};
    memcpy(jpeg.data, sample->bytes.data, jpeg.size);
    size_t frame = find_marker(&jpeg, 0xc2, 0), scan = 0;
    made_number(jpeg.data + frame + 5, (uint32_t)height, 2, true);
    made_number(jpeg.data + frame + 7, (uint32_t)width, 2, true);
    for (size_t at = 0; at + 2 < jpeg.size; at++)
        if (jpeg.data[at] == 0xff && jpeg.data[at + 1] == 0xda)
            scan = at;
    FILE *file = fopen(made_path("bomb"), "wb");
    put(file, jpeg.data, scan);
    for (int n = 0; n < scans; n++)
        put(file, jpeg.data + scan, jpeg.size - 2 - scan);
    put(file, "\xff\xd9", 2);
    fclose(file);
    esra_bytes_free(&jpeg);
}

static void jpeg_bombs(void)
{
    write_jpeg_bomb(21, 18, 10000);
    refuse_bomb("JPEG with 10,000 scans", ESRA_OVER_LIMIT);
    write_jpeg_bomb(10000, 10000, 10000);
    refuse_bomb("JPEG of 100 MP with 10,000 scans", ESRA_OVER_LIMIT);
    write_jpeg_bomb(65500, 65500, 1);
    refuse_bomb("JPEG of 65500 x 65500", ESRA_OVER_LIMIT);
    write_jpeg_bomb(14000, 14000, 1);
    refuse_bomb("JPEG of 196 MP in 1 KB", ESRA_BAD_DATA);
    FILE *file = fopen(made_path("bomb"), "wb");
    put(file, "\xff\xd8", 2);
    for (int n = 0; n < 1600; n++) {
        put(file, "\xff\xe1\xff\xff", 4);
        CHECK(fseek(file, 65533, SEEK_CUR) == 0);
    }
    put(file, "\xff\xd9", 2);
    fclose(file);
    refuse_bomb("JPEG with 100 MB of metadata", ESRA_OVER_LIMIT);
}

/* A directory of these entries at offset 8, in little endian, and `next` after it. */
static void write_tiff(const uint32_t (*entries)[4], int count, uint32_t next, long size)
{
    unsigned char bytes[12] = "II*\0\x08\0\0\0";
    FILE *file = fopen(made_path("bomb"), "wb");
    put(file, bytes, 8);
    made_number(bytes, (uint32_t)count, 2, false);
    put(file, bytes, 2);
    for (int n = 0; n < count; n++) {
        made_entry(bytes, (int)entries[n][0], (int)entries[n][1], entries[n][2], entries[n][3], false);
        put(file, bytes, 12);
    }
    made_number(bytes, next, 4, false);
    put(file, bytes, 4);
    if (size > ftell(file)) {
        CHECK(fseek(file, size - 1, SEEK_SET) == 0);
        put(file, "", 1);
    }
    fclose(file);
}

static void tiff_bombs(void)
{
    write_tiff((const uint32_t[][4]){{256, 4, 1, 100000},
                                     {257, 4, 1, 100000},
                                     {258, 3, 1, 8},
                                     {262, 3, 1, 1},
                                     {273, 4, 1, 8},
                                     {277, 3, 1, 1},
                                     {278, 4, 1, 100000},
                                     {279, 4, 1, 100}},
               8, 0, 1000);
    refuse_bomb("TIFF of 100000 x 100000", ESRA_OVER_LIMIT);
    write_tiff((const uint32_t[][4]){{256, 4, 1, 14000},
                                     {257, 4, 1, 14000},
                                     {258, 3, 1, 8},
                                     {262, 3, 1, 1},
                                     {273, 4, 1, 8},
                                     {277, 3, 1, 1},
                                     {278, 4, 1, 14000},
                                     {279, 4, 1, 196000000}},
               8, 0, 1000);
    refuse_bomb("TIFF of 196 MP in 1 KB", ESRA_BAD_DATA);
    write_tiff((const uint32_t[][4]){{256, 4, 1, 14000},
                                     {257, 4, 1, 14000},
                                     {258, 3, 1, 8},
                                     {259, 3, 1, 8},
                                     {262, 3, 1, 1},
                                     {273, 4, 1, 8},
                                     {277, 3, 1, 1},
                                     {278, 4, 1, 14000},
                                     {279, 4, 1, 500}},
               9, 0, 1000);
    refuse_bomb("TIFF of 196 MP, packed, in 1 KB", ESRA_BAD_DATA);
    write_tiff((const uint32_t[][4]){{256, 4, 1, 8},
                                     {257, 4, 1, 8},
                                     {258, 3, 1, 8},
                                     {262, 3, 1, 1},
                                     {277, 3, 1, 1},
                                     {322, 4, 1, 0x7ffffff0},
                                     {323, 4, 1, 0x7ffffff0},
                                     {324, 4, 1, 8},
                                     {325, 4, 1, 100}},
               9, 0, 1000);
    refuse_bomb("TIFF with a tile of 2^62 pixels", ESRA_BAD_DATA);
    write_tiff((const uint32_t[][4]){{256, 4, 1, 8},
                                     {257, 4, 1, 8},
                                     {258, 3, 1, 8},
                                     {262, 3, 1, 1},
                                     {277, 3, 1, 1},
                                     {322, 4, 1, 14000},
                                     {323, 4, 1, 14000},
                                     {324, 4, 1, 8},
                                     {325, 4, 1, 100}},
               9, 0, 1000);
    refuse_bomb("TIFF of 64 pixels, tile of 196 MP", ESRA_BAD_DATA);
}

static void tiff_directory_bombs(void)
{
    write_tiff((const uint32_t[][4]){{256, 4, 1, 8}, {257, 4, 1, 8}, {34675, 7, 100 << 20, 1000}}, 3, 0, 101 << 20);
    refuse_bomb("TIFF with a profile of 100 MB", ESRA_OVER_LIMIT);
    write_tiff((const uint32_t[][4]){{256, 4, 1, 8}, {257, 4, 1, 8}, {34665, 4, 1, 8}, {34853, 4, 1, 8}}, 4, 8, 0);
    refuse_bomb("TIFF whose directories are one", ESRA_BAD_DATA);
    write_tiff((const uint32_t[][4]){{256, 4, 1, 60000},
                                     {257, 4, 1, 3000},
                                     {258, 3, 1, 8},
                                     {262, 3, 1, 1},
                                     {273, 4, 0x3fffffff, 8},
                                     {277, 3, 1, 1},
                                     {278, 4, 1, 1},
                                     {279, 4, 0x3fffffff, 8}},
               8, 0, 1000);
    refuse_bomb("TIFF with a billion strips", ESRA_BAD_DATA);
    made_write(made_path("bomb"), "II*\0\x08\0\0\0\xff\xff\0\1\3\0\1\0\0\0\1\0\0\0", 22);
    refuse_bomb("TIFF with 65535 entries", ESRA_BAD_DATA);
    made_write(made_path("bomb"), "II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\x0f", 24);
    refuse_bomb("BigTIFF with 2^60 entries", ESRA_BAD_DATA);
    made_write(made_path("bomb"), "II+\0\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f", 16);
    refuse_bomb("BigTIFF with a far directory", ESRA_BAD_DATA);
}

static void npy_bombs(void)
{
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (100000, 100000), }       \n";
    unsigned char size[2] = {sizeof header - 1, 0};
    made_write(made_path("bomb"), "\x93NUMPY\x02\0\xff\xff\xff\x7f{'descr'", 20);
    refuse_bomb("NPY with a header of 2 GB", ESRA_BAD_DATA);
    FILE *file = fopen(made_path("bomb"), "wb");
    put(file, "\x93NUMPY\x01\0", 8);
    put(file, size, 2);
    put(file, header, sizeof header - 1);
    fclose(file);
    refuse_bomb("NPY of 100000 x 100000", ESRA_OVER_LIMIT);
}

static void limits_can_be_lifted(void)
{
    struct photo photo = made_photo(30, 20, 3, 8), again;
    struct read_options options = READ_OPTIONS_DEFAULT;
    struct write_options plain = WRITE_OPTIONS_DEFAULT;
    struct message message;
    photo.icc = made_profile(3, cmsBuildGamma(NULL, 2.2));
    static const char *const names[] = {"l.png", "l.jpg", "l.tif", "l.npy"};
    for (int n = 0; n < 4; n++) {
        CHECK(esra_photo_write(&photo, made_path(names[n]), &plain, &message) == ESRA_OK);
        options.limits = (struct limits){100, 100, 100, 1 << 20, 0, 9, 0};
        CHECK(esra_photo_read(&again, made_path(names[n]), &options, &message) == ESRA_OVER_LIMIT);
        options.limits = (struct limits){1000, 100, 100, 100, 0, 9, 0};
        CHECK(esra_photo_read(&again, made_path(names[n]), &options, &message) == (n < 3 ? ESRA_OVER_LIMIT : ESRA_OK));
        esra_photo_free(&again);
        options.limits = (struct limits)LIMITS_NONE;
        CHECK(esra_photo_read(&again, made_path(names[n]), &options, &message) == ESRA_OK);
        esra_photo_free(&again);
    }
    esra_photo_free(&photo);
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
    RUN(png_bombs);
    RUN(png_metadata_bombs);
    RUN(jpeg_bombs);
    RUN(tiff_bombs);
    RUN(tiff_directory_bombs);
    RUN(npy_bombs);
    RUN(limits_can_be_lifted);
    RUN(what_is_there_is_kept);
    RUN(every_truncation_is_told);
    RUN(random_damage_does_no_harm);
    RUN(damaged_exif_does_no_harm);
    free_samples();
    made_end();
    return check_report();
}
