/* tests/io/tried.h - small files of every kind, and reading such files from memory. */
#ifndef ESRA_TESTS_IO_TRIED_H
#define ESRA_TESTS_IO_TRIED_H

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "made.h"

struct sample {
    const char *name;
    struct bytes bytes;
};

#define SAMPLES 13
static struct sample samples[SAMPLES];

static inline void keep(int *count, const char *name)
{
    samples[*count] = (struct sample){name, made_load(made_path(name))};
    (*count)++;
}

static inline void keep_written(int *count, const char *name, int channels, int depth, bool metadata)
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

static inline void keep_png(int *count)
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

static inline void keep_jpeg(int *count)
{
    unsigned char pixels[32 * 32 * 3];
    for (size_t n = 0; n < sizeof pixels; n++)
        pixels[n] = (unsigned char)(n / 7 + check_bits() % 20);
    made_jpeg(made_path("progressive.jpg"), 21, 18, JCS_YCbCr, true, pixels, NULL);
    keep(count, "progressive.jpg");
    made_jpeg(made_path("grey.jpg"), 32, 32, JCS_GRAYSCALE, false, pixels, NULL);
    keep(count, "grey.jpg");
}

static inline void keep_tiff(int *count)
{
    struct photo photo = made_photo(37, 21, 3, 16);
    made_tiff(made_path("tiled.tif"), &photo, (struct made_tiff){"wb", 16, 3, 1, 16, 1, COMPRESSION_LZW, 0, 7});
    keep(count, "tiled.tif");
    made_tiff(made_path("big.tif"), &photo, (struct made_tiff){"w8", 8, 3, 0, 0, 0, COMPRESSION_PACKBITS, 0, 0});
    keep(count, "big.tif");
    esra_photo_free(&photo);
}

static inline void make_samples(void)
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

static inline void free_samples(void)
{
    for (int n = 0; n < SAMPLES; n++)
        esra_bytes_free(&samples[n].bytes);
}

static inline bool is_finite(const struct photo *photo)
{
    const struct image *pixels = &photo->pixels;
    for (long n = 0; n < (long)pixels->width * pixels->height * pixels->channels; n++)
        if (!isfinite(pixels->data[n]))
            return false;
    return true;
}

/* A file in memory: tens of thousands of small files would keep a disk busy for minutes. */
static inline const char *in_memory(const void *bytes, size_t size)
{
#ifdef __wasm__ /* which has no memfd */
    static char path[] = "/tmp/esra-tried-XXXXXX";
    static int fd = -1;
    if (fd < 0)
        fd = mkstemp(path);
#else
    static char path[64];
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("tried", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
#endif
    CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
    return path;
}

/* Reads the bytes as a file; a photo that comes out must be whole in itself, and so must its profile's curves. */
static inline esra_status try(const void *bytes, size_t size, bool tolerate, bool *incomplete)
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

#endif
