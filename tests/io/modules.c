/* tests/io/modules.c - the formats whose libraries may be absent: read where they are, explained where not. */
#include "made.h"

#include <sys/wait.h>

#ifdef ESRA_HAVE_LIBHEIF
#include "encode_heif.h"
#endif

#if defined ESRA_HAVE_LIBHEIF || defined ESRA_HAVE_LIBRAW

/* The head alone tells the size, depth and colours that the whole has. */
static void check_head(const char *name, const struct photo *whole)
{
    struct read_options options = strict;
    struct message message = {""};
    struct photo head;
    options.head_only = true;
    if (CHECK(esra_photo_read(&head, made_path(name), &options, &message) == ESRA_OK)) {
        CHECK(!head.pixels.data && head.pixels.width == whole->pixels.width &&
              head.pixels.height == whole->pixels.height);
        CHECK(head.pixels.channels == whole->pixels.channels && head.depth == whole->depth);
        CHECK(head.exif.size == whole->exif.size);
    }
    esra_photo_free(&head);
}

/* Whole or cut off anywhere: from memory as from the file. */
static void check_memory(const char *name)
{
    struct bytes file = made_load(made_path(name));
    int other = 0;
    for (int part = 0; part <= 200; part++) {
        size_t size = file.size * (size_t)part / 200;
        struct photo a, b;
        struct message message[2] = {{""}, {""}};
        const char *path = made_path("cut");
        made_write(path, file.data, size);
        other += esra_photo_read(&a, path, &strict, &message[0]) !=
                     esra_photo_decode(&b, file.data, size, path, &strict, &message[1]) ||
                 strcmp(message[0].text, message[1].text) != 0 || a.pixels.width != b.pixels.width ||
                 (a.pixels.data && made_difference(&a.pixels, &b.pixels) != 0);
        esra_photo_free(&a);
        esra_photo_free(&b);
    }
    CHECK(other == 0);
    esra_bytes_free(&file);
}

#endif

#ifdef ESRA_HAVE_LIBHEIF

/* Left half red, upper half green. In a child: the encoders are not what is tested, and some of them leak. */
static bool write_heif(const char *path, enum heif_compression_format format, bool p3, const struct bytes *exif)
{
    static uint8_t rgb[48][64][3];
    int state = 0;
    for (int y = 0; y < 48; y++)
        for (int x = 0; x < 64; x++)
            memcpy(rgb[y][x], (uint8_t[]){x < 32 ? 220 : 40, y < 24 ? 200 : 60, 128}, 3);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(encode_heif(path, format, rgb[0][0], 64, 48, p3, exif->data, (int)exif->size) ? 0 : 1);
    return waitpid(child, &state, 0) == child && WIFEXITED(state) && WEXITSTATUS(state) == 0;
}

static void check_heif(const char *name, enum heif_compression_format format)
{
    struct bytes exif = made_exif(1, true);
    struct photo photo;
    struct message message = {""};
    if (!write_heif(made_path(name), format, false, &exif)) {
        printf("  skipped: libheif cannot write %s here\n", name);
        esra_bytes_free(&exif);
        return;
    }
    if (CHECK(esra_photo_read(&photo, made_path(name), &strict, &message) == ESRA_OK)) {
        CHECK(photo.pixels.width == 64 && photo.pixels.height == 48 && photo.pixels.channels == 3 && photo.depth == 8);
        CHECK_NEAR(photo.pixels.data[5 * 64 + 5], 220 / 255.0, 0.05);
        CHECK_NEAR(photo.pixels.data[64 * 48 + 40 * 64 + 5], 60 / 255.0, 0.05);
        CHECK(photo.exif.size == exif.size);
        check_head(name, &photo);
        esra_photo_free(&photo);
    } else {
        printf("    %s\n", message.text);
    }
    struct bytes file = made_load(made_path(name));
    int wrong = 0;
    for (size_t size = 0; size < file.size; size += 1 + file.size / 200) {
        made_write(made_path("cut"), file.data, size);
        wrong += esra_photo_read(&photo, made_path("cut"), &strict, &message) != ESRA_BAD_DATA;
        esra_photo_free(&photo);
    }
    CHECK(wrong == 0);
    check_memory(name);
    esra_bytes_free(&file);
    esra_bytes_free(&exif);
}

/* Code points that name Display P3 become a profile that does. */
static void primaries_without_a_profile(void)
{
    static const double red[3] = {0.51512, 0.24120, -0.00105};
    struct bytes exif = made_exif(1, true);
    struct read_options options = strict;
    struct photo photo;
    struct message message = {""};
    options.profile = true;
    if (!write_heif(made_path("p3.avif"), heif_compression_AV1, true, &exif))
        printf("  skipped: libheif cannot write p3.avif here\n");
    else if (CHECK(esra_photo_read(&photo, made_path("p3.avif"), &options, &message) == ESRA_OK)) {
        CHECK(photo.icc.size > 0 && photo.curves);
        for (int row = 0; row < 3; row++)
            CHECK_NEAR(photo.primaries[3 * row], red[row], 1e-3);
        if (photo.curves)
            CHECK_NEAR(esra_photo_curve(&photo, 0, 0.5), esra_srgb_to_linear(0.5), 1e-3);
        esra_photo_free(&photo);
    }
    esra_bytes_free(&exif);
}

static void heic_and_avif_are_read(void)
{
    check_heif("a.heic", heif_compression_HEVC);
    check_heif("a.avif", heif_compression_AV1);
}

#else

static void heic_and_avif_are_explained(void)
{
    struct photo photo;
    struct message message = {""};
    made_write(made_path("photo.heic"),
               "\0\0\0\x18"
               "ftypheic\0\0\0\0mif1heic",
               24);
    CHECK(esra_photo_read(&photo, made_path("photo.heic"), &strict, &message) == ESRA_BAD_DATA);
    CHECK(strstr(message.text, "photo.heic is HEIC, and this esra was built without libheif: install libheif-dev and "
                               "build again, or convert to PNG") != NULL);
}

#endif

/* A DNG as a converter writes it: one directory of sensor data under red, green and blue filters, the right half
 * brighter. */
static void write_dng(const char *path)
{
    uint16_t row[64];
    TIFF *tiff = TIFFOpen(path, "w");
    static const float matrix[9] = {0.6f, 0.3f, 0.1f, 0.3f, 0.6f, 0.1f, 0, 0.1f, 0.9f}, neutral[3] = {1, 1, 1};
    TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, 0);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 64);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 48);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_CFA);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 48);
    TIFFSetField(tiff, TIFFTAG_MAKE, "Test");
    TIFFSetField(tiff, TIFFTAG_MODEL, "Test");
    TIFFSetField(tiff, TIFFTAG_UNIQUECAMERAMODEL, "Test Test");
    TIFFSetField(tiff, TIFFTAG_DNGVERSION, "\1\4\0\0");
    TIFFSetField(tiff, TIFFTAG_DNGBACKWARDVERSION, "\1\1\0\0");
    TIFFSetField(tiff, TIFFTAG_CFAREPEATPATTERNDIM, (uint16_t[]){2, 2});
    TIFFSetField(tiff, TIFFTAG_CFAPATTERN, 4, "\0\1\1\2");
    TIFFSetField(tiff, TIFFTAG_COLORMATRIX1, 9, matrix);
    TIFFSetField(tiff, TIFFTAG_ASSHOTNEUTRAL, 3, neutral);
    TIFFSetField(tiff, TIFFTAG_CALIBRATIONILLUMINANT1, 21);
    for (int y = 0; y < 48; y++) {
        for (int x = 0; x < 64; x++)
            row[x] = x < 32 ? 8000 : 40000;
        TIFFWriteScanline(tiff, row, (uint32_t)y, 0);
    }
    TIFFClose(tiff);
}

static void raw_is_developed_or_explained(void)
{
    struct photo photo;
    struct message message = {""};
    write_dng(made_path("a.dng"));
    esra_status status = esra_photo_read(&photo, made_path("a.dng"), &strict, &message);
#ifdef ESRA_HAVE_LIBRAW
    if (!CHECK(status == ESRA_OK))
        printf("    %s\n", message.text);
    if (status == ESRA_OK) {
        int width = photo.pixels.width;
        CHECK(width >= 32 && photo.pixels.channels == 3 && photo.depth == 16);
        CHECK_TEXT(photo.format, "camera RAW");
        check_head("a.dng", &photo);
        check_memory("a.dng");
        CHECK(photo.pixels.data[20 * width + 5] < photo.pixels.data[20 * width + width - 5]);
    }
#else
    CHECK(status == ESRA_BAD_DATA && strstr(message.text, "camera RAW") && strstr(message.text, "libraw-dev"));
#endif
    esra_photo_free(&photo);
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
#ifdef ESRA_HAVE_LIBHEIF
    RUN(heic_and_avif_are_read);
    RUN(primaries_without_a_profile);
#else
    RUN(heic_and_avif_are_explained);
#endif
    RUN(raw_is_developed_or_explained);
    made_end();
    return check_report();
}
