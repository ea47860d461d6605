/* tests/io/tiffs.c - TIFFs of other writers: damage that libtiff only warns of, colours of unusual kinds. */
#include "tell.h"

#define WIDTH  64
#define HEIGHT 48

/* A TIFF of one strip to write rows to. */
static TIFF *begin_tiff(const char *path, int channels, int planar, int photometric, int compression)
{
    TIFF *tiff = TIFFOpen(path, "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, planar);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, photometric);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
    return tiff;
}

static void write_noise(const char *path, int compression)
{
    TIFF *tiff = begin_tiff(path, 1, PLANARCONFIG_CONTIG, PHOTOMETRIC_MINISBLACK, compression);
    unsigned char row[WIDTH];
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++)
            row[x] = (unsigned char)(x / 8 * 20 + (compression == COMPRESSION_JPEG ? check_bits() % 60 : 0));
        TIFFWriteScanline(tiff, row, (uint32_t)y, 0);
    }
    TIFFClose(tiff);
}

/* Puts bytes into the middle of the only strip. */
static void damage_strip(const char *path, const char *bytes, size_t count)
{
    struct bytes file = made_load(path);
    TIFF *tiff = TIFFOpen(path, "r");
    size_t at = (size_t)TIFFGetStrileOffset(tiff, 0), size = (size_t)TIFFGetStrileByteCount(tiff, 0);
    TIFFClose(tiff);
    memcpy(file.data + at + size / 2, bytes, count);
    made_write(path, file.data, file.size);
    esra_bytes_free(&file);
}

/* Refused, or read and said to be incomplete. */
static void damage_is_told(const char *path, const char *words)
{
    struct read_options options = strict;
    struct photo photo;
    struct message message = {""};
    CHECK(refused(path, words) == ESRA_BAD_DATA);
    options.tolerate_truncated = true;
    if (CHECK(esra_photo_read(&photo, path, &options, &message) == ESRA_OK))
        CHECK(photo.incomplete);
    esra_photo_free(&photo);
}

static void what_decoders_make_up_is_damage(void)
{
    struct photo photo;
    write_noise(made_path("d.tif"), COMPRESSION_JPEG);
    if (read_photo(&photo, made_path("d.tif")))
        esra_photo_free(&photo);
    damage_strip(made_path("d.tif"), "\xff\xd9", 2); /* the end of the picture */
    damage_is_told(made_path("d.tif"), "Corrupt JPEG data");
    write_noise(made_path("d.tif"), COMPRESSION_PACKBITS);
    if (read_photo(&photo, made_path("d.tif")))
        esra_photo_free(&photo);
    damage_strip(made_path("d.tif"), "\x81\x05", 2); /* a run of 128, longer than the row */
    damage_is_told(made_path("d.tif"), "Discarding");
}

static void separate_ycbcr_is_refused(void)
{
    TIFF *tiff = begin_tiff(made_path("y.tif"), 3, PLANARCONFIG_SEPARATE, PHOTOMETRIC_YCBCR, COMPRESSION_JPEG);
    unsigned char row[WIDTH];
    TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1);
    for (int plane = 0; plane < 3; plane++)
        for (int y = 0; y < HEIGHT; y++) {
            memset(row, plane == 0 ? 100 : 128, sizeof row);
            TIFFWriteScanline(tiff, row, (uint32_t)y, (uint16_t)plane);
        }
    TIFFClose(tiff);
    CHECK(refused(made_path("y.tif"), "colours of kind 6, which esra does not read; convert it to RGB") ==
          ESRA_BAD_DATA);
}

/* Numbers of 16 bits, and as old writers have them of 8. */
static void palettes_of_either_kind(void)
{
    for (int step = 1; step <= 257; step += 256) {
        TIFF *tiff = begin_tiff(made_path("p.tif"), 1, PLANARCONFIG_CONTIG, PHOTOMETRIC_PALETTE, COMPRESSION_NONE);
        uint16_t map[256];
        unsigned char row[WIDTH];
        struct photo photo;
        for (int n = 0; n < 256; n++)
            map[n] = (uint16_t)(n * step);
        TIFFSetField(tiff, TIFFTAG_COLORMAP, map, map, map);
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++)
                row[x] = (unsigned char)(4 * x + 3);
            TIFFWriteScanline(tiff, row, (uint32_t)y, 0);
        }
        TIFFClose(tiff);
        if (!read_photo(&photo, made_path("p.tif")))
            continue;
        CHECK(photo.pixels.channels == 3);
        for (int x = 0; x < WIDTH; x++)
            CHECK_NEAR(photo.pixels.data[x], (4 * x + 3) / 255.0, 1e-7);
        esra_photo_free(&photo);
    }
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(what_decoders_make_up_is_damage);
    RUN(separate_ycbcr_is_refused);
    RUN(palettes_of_either_kind);
    made_end();
    return check_report();
}
