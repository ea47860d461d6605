/* tests/io/made.h - photos, profiles, EXIF blocks and files of unusual kinds, made by the libraries themselves. */
#ifndef ESRA_TESTS_IO_MADE_H
#define ESRA_TESTS_IO_MADE_H

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <jpeglib.h>
#include <lcms2.h>
#include <png.h>
#include <tiffio.h>

#include "check.h"
#include "colour/light.h"
#include "io/codec.h"
#include "io/photo.h"
#include "io/profile.h"

static char made_folder[512];

/* Without tolerance; with the program's argument "untrusted" decoded in a jail. */
static struct read_options strict = READ_OPTIONS_DEFAULT;

/* "folder/name"; a few at a time. */
static inline const char *made_path(const char *name)
{
    static char paths[4][sizeof made_folder + 64];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", made_folder, name);
    return paths[turn];
}

static inline void made_begin(int argc, char **argv)
{
    const char *folder = getenv("TMPDIR");
    umask(022); /* Emscripten's begins as 0777: nobody may do anything with a file that is made */
    strict.untrusted = argc > 1 && strcmp(argv[1], "untrusted") == 0;
    snprintf(made_folder, sizeof made_folder, "%s/esra-io-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(made_folder))
        exit(2);
}

static inline void made_end(void)
{
    char command[sizeof made_folder + 16];
    snprintf(command, sizeof command, "rm -rf '%s'", made_folder);
    if (system(command))
        exit(2);
}

static inline void made_write(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(bytes, 1, size, file) == size);
    if (file)
        fclose(file);
}

static inline struct bytes made_load(const char *path)
{
    struct bytes bytes = {0};
    FILE *file = fopen(path, "rb");
    if (!CHECK(file != NULL))
        return bytes;
    fseek(file, 0, SEEK_END);
    bytes.size = (size_t)ftell(file);
    rewind(file);
    bytes.data = malloc(bytes.size + 1);
    CHECK(fread(bytes.data, 1, bytes.size, file) == bytes.size);
    fclose(file);
    return bytes;
}

/* Random codes of that depth; those of 32 bits lie in [-0.5, 1.5). */
static inline struct photo made_photo(int width, int height, int channels, int depth)
{
    struct photo photo = {.depth = depth};
    struct message message;
    CHECK(esra_image_create(&photo.pixels, width, height, channels, &message) == ESRA_OK);
    for (int n = 0; n < width * height * channels; n++) {
        float scale = depth == 8 ? 255.0f : 65535.0f;
        photo.pixels.data[n] =
            depth == 32 ? (float)check_random(-0.5, 1.5) : (float)(check_bits() % ((uint64_t)scale + 1)) / scale;
    }
    return photo;
}

/* Slow in space, so that JPEG keeps it. */
static inline struct photo made_smooth(int width, int height, int channels)
{
    struct photo photo = made_photo(width, height, channels, 8);
    for (int c = 0; c < channels; c++)
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                plane_row(image_plane(&photo.pixels, c), y)[x] =
                    (float)(0.5 + 0.4 * sin(0.2 * x + c) * cos(0.15 * y - 0.5 * c));
    return photo;
}

static inline double made_difference(const struct image *a, const struct image *b)
{
    double most = 0;
    if (a->width != b->width || a->height != b->height || a->channels != b->channels)
        return INFINITY;
    for (int n = 0; n < a->width * a->height * a->channels; n++)
        most = fmax(most, fabs((double)a->data[n] - b->data[n]));
    return most;
}

static inline bool made_same(const struct bytes *a, const struct bytes *b)
{
    return a->size == b->size && (a->size == 0 || memcmp(a->data, b->data, a->size) == 0);
}

static inline struct bytes made_saved(cmsHPROFILE profile)
{
    struct bytes bytes = {0};
    cmsUInt32Number size = 0;
    CHECK(profile && cmsSaveProfileToMem(profile, NULL, &size));
    bytes.data = malloc(size);
    bytes.size = size;
    CHECK(cmsSaveProfileToMem(profile, bytes.data, &size));
    cmsCloseProfile(profile);
    return bytes;
}

/* Adobe RGB's primaries with the curve given, or a grey profile. */
static inline struct bytes made_profile(int channels, cmsToneCurve *curve)
{
    cmsCIExyY white = {0.3127, 0.3290, 1};
    cmsCIExyYTRIPLE primaries = {{0.64, 0.33, 1}, {0.21, 0.71, 1}, {0.15, 0.06, 1}};
    cmsToneCurve *curves[3] = {curve, curve, curve};
    cmsHPROFILE profile =
        channels == 3 ? cmsCreateRGBProfile(&white, &primaries, curves) : cmsCreateGrayProfile(&white, curve);
    cmsFreeToneCurve(curve);
    return made_saved(profile);
}

/* As the pipeline does it. */
static inline esra_status made_light(struct light *light, const struct photo *photo, struct message *message)
{
    struct photo looked = *photo;
    esra_status status = esra_profile_look(&looked, message);
    if (status == ESRA_OK)
        status = esra_light_choose(light, photo->icc.size > 0, photo->pixels.channels,
                                   looked.curves ? esra_photo_curve : NULL, &looked, message);
    free(looked.curves);
    return status;
}

/* Tags of a camera: make, orientation, an EXIF directory with an exposure, a size and a maker note, a GPS directory, a
 * thumbnail. Big-endian as Apple and Canon write, or little. */
static inline void made_number(unsigned char *to, uint32_t value, int size, bool big)
{
    for (int n = 0; n < size; n++)
        to[big ? size - 1 - n : n] = (unsigned char)(value >> 8 * n);
}

static inline unsigned char *made_entry(unsigned char *to, int tag, int type, uint32_t count, uint32_t value, bool big)
{
    made_number(to, (uint32_t)tag, 2, big);
    made_number(to + 2, (uint32_t)type, 2, big);
    made_number(to + 4, count, 4, big);
    memset(to + 8, 0, 4);
    made_number(to + 8, value, type == 3 ? 2 : 4, big);
    return to + 12;
}

static inline struct bytes made_exif(int orientation, bool big)
{
    struct bytes exif = {calloc(1, 320), 320};
    unsigned char *data = exif.data, *at = data + 10;
    memcpy(data, big ? "MM" : "II", 2);
    made_number(data + 2, 42, 2, big);
    made_number(data + 4, 8, 4, big);
    made_number(data + 8, 4, 2, big);
    at = made_entry(at, 0x010f, 2, 9, 200, big);
    at = made_entry(at, 0x0112, 3, 1, (uint32_t)orientation, big);
    at = made_entry(at, 0x8769, 4, 1, 64, big);
    at = made_entry(at, 0x8825, 4, 1, 136, big);
    made_number(at, 160, 4, big);
    made_number(data + 64, 4, 2, big);
    at = made_entry(data + 66, 0x829a, 5, 1, 216, big);
    at = made_entry(at, 0x927c, 7, 12, 224, big);
    at = made_entry(at, 0xa002, 4, 1, 4000, big);
    at = made_entry(at, 0xa003, 4, 1, 3000, big);
    made_number(data + 136, 1, 2, big);
    made_entry(data + 138, 0x0000, 1, 4, 0x02030000, big);
    made_number(data + 160, 2, 2, big);
    at = made_entry(data + 162, 0x0201, 4, 1, 240, big);
    made_entry(at, 0x0202, 4, 1, 64, big);
    memcpy(data + 200, "Camera X", 9);
    made_number(data + 216, 1, 4, big);
    made_number(data + 220, 125, 4, big);
    memcpy(data + 224, "maker's note", 12);
    memset(data + 240, 0xaa, 64);
    return exif;
}

/* ---- Files that esra does not write itself ---- */

/* Bytes as libpng takes them: rows of `channels` samples of `bits`. */
static inline void made_png(const char *path, int width, int height, int kind, int bits, bool interlaced,
                            unsigned char *pixels, const png_color *palette, int colours, const png_byte *opacity)
{
    FILE *file = fopen(path, "wb");
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, bits, kind,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, 0, 0);
    if (palette)
        png_set_PLTE(png, info, palette, colours);
    if (opacity)
        png_set_tRNS(png, info, opacity, colours, NULL);
    png_write_info(png, info);
    png_bytep *rows = malloc((size_t)height * sizeof *rows);
    for (int y = 0; y < height; y++)
        rows[y] = pixels + (size_t)y * png_get_rowbytes(png, info);
    png_write_image(png, rows);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    fclose(file);
    free(rows);
}

/* space is one of JCS_GRAYSCALE, JCS_RGB (kept as RGB), JCS_YCbCr, JCS_CMYK, JCS_YCCK. */
static inline void made_jpeg(const char *path, int width, int height, J_COLOR_SPACE space, bool progressive,
                             unsigned char *pixels, const struct bytes *icc)
{
    struct jpeg_compress_struct out;
    struct jpeg_error_mgr errors;
    FILE *file = fopen(path, "wb");
    bool inks = space == JCS_CMYK || space == JCS_YCCK;
    out.err = jpeg_std_error(&errors);
    jpeg_create_compress(&out);
    jpeg_stdio_dest(&out, file);
    out.image_width = (JDIMENSION)width;
    out.image_height = (JDIMENSION)height;
    out.input_components = inks ? 4 : space == JCS_GRAYSCALE ? 1 : 3;
    out.in_color_space = inks ? JCS_CMYK : space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&out);
    jpeg_set_colorspace(&out, space);
    jpeg_set_quality(&out, 100, TRUE);
    if (progressive)
        jpeg_simple_progression(&out);
    jpeg_start_compress(&out, TRUE);
    if (icc)
        jpeg_write_icc_profile(&out, icc->data, (unsigned)icc->size);
    for (int y = 0; y < height; y++) {
        JSAMPROW row = pixels + (size_t)y * (size_t)(width * out.input_components);
        jpeg_write_scanlines(&out, &row, 1);
    }
    jpeg_finish_compress(&out);
    jpeg_destroy_compress(&out);
    fclose(file);
}

struct made_tiff {
    const char *mode; /* "w", "wb", "w8" */
    int bits, channels, alpha, tile, planar, compression, white, orientation;
};

static inline void made_sample(unsigned char *to, float value, int bits)
{
    if (bits == 8)
        *to = (unsigned char)(value * 255.0f + 0.5f);
    else if (bits == 16)
        memcpy(to, &(uint16_t){(uint16_t)(value * 65535.0f + 0.5f)}, 2);
    else
        memcpy(to, &value, 4);
}

/* Sample (x, y) of a channel of the file; beyond the photo 0. */
static inline float made_value(const struct photo *photo, struct made_tiff how, int x, int y, int channel)
{
    const struct image *pixels = &photo->pixels;
    if (x >= pixels->width || y >= pixels->height)
        return 0;
    if (channel >= pixels->channels)
        return how.alpha == 2 && x == 1 ? 0.5f : 1.0f;
    float value = plane_row(image_plane(pixels, channel), y)[x];
    return how.white ? 1 - value : value;
}

static inline void made_block(TIFF *tiff, const struct photo *photo, struct made_tiff how, int x, int y, int w, int h,
                              int plane)
{
    int channels = how.planar ? 1 : how.channels + (how.alpha > 0), size = how.bits / 8;
    unsigned char *block = calloc((size_t)(w * h * channels), (size_t)size);
    for (int n = 0; n < w * h * channels; n++)
        made_sample(block + n * size,
                    made_value(photo, how, x + n / channels % w, y + n / channels / w, plane + n % channels), how.bits);
    if (how.tile)
        TIFFWriteTile(tiff, block, (uint32_t)x, (uint32_t)y, 0, (uint16_t)plane);
    else
        for (int row = 0; row < h; row++)
            TIFFWriteScanline(tiff, block + row * w * channels * size, (uint32_t)(y + row), (uint16_t)plane);
    free(block);
}

/* Writes the photo's samples, by strips of 5 rows or square tiles; an alpha channel is opaque, or with alpha 2 not. */
static inline void made_tiff(const char *path, const struct photo *photo, struct made_tiff how)
{
    TIFF *tiff = TIFFOpen(path, how.mode ? how.mode : "w");
    int width = photo->pixels.width, height = photo->pixels.height, all = how.channels + (how.alpha > 0);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, how.bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, all);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, how.bits == 32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, how.planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
                 how.white           ? PHOTOMETRIC_MINISWHITE
                 : how.channels == 3 ? PHOTOMETRIC_RGB
                                     : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, how.compression ? how.compression : COMPRESSION_NONE);
    if (how.orientation)
        TIFFSetField(tiff, TIFFTAG_ORIENTATION, how.orientation);
    if (how.alpha)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &(uint16_t){EXTRASAMPLE_UNASSALPHA});
    if (how.tile) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, how.tile);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, how.tile);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 5);
    }
    for (int plane = 0; plane < (how.planar ? all : 1); plane++)
        for (int y = 0; y < height; y += how.tile ? how.tile : height)
            for (int x = 0; x < width; x += how.tile ? how.tile : width)
                made_block(tiff, photo, how, x, y, how.tile ? how.tile : width, how.tile ? how.tile : height, plane);
    TIFFClose(tiff);
}

#endif
