/* tests/io/formats.c - what is written is read again: pixels, depth, profile, EXIF, orientation, for every format. */
#define _GNU_SOURCE
#include "made.h"

#include "io/exif.h"
#include "io/orient.h"

static bool read_photo(struct photo *photo, const char *path)
{
    struct message message = {""};
    esra_status status = esra_photo_read(photo, path, &strict, &message);
    if (status != ESRA_OK)
        printf("    %s\n", message.text);
    return CHECK(status == ESRA_OK);
}

static esra_status refused(const char *path, const char *words)
{
    struct photo photo;
    struct message message = {""};
    esra_status status = esra_photo_read(&photo, path, &strict, &message);
    if (!CHECK(status != ESRA_OK && strstr(message.text, words)))
        printf("    %s\n", message.text);
    esra_photo_free(&photo);
    return status;
}

static bool write_photo(const struct photo *photo, const char *path, int depth)
{
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    struct message message = {""};
    options.depth = depth;
    esra_status status = esra_photo_write(photo, path, &options, &message);
    if (status != ESRA_OK)
        printf("    %s\n", message.text);
    return CHECK(status == ESRA_OK);
}

static void round_trip(const char *name, int depth, int channels, int width, int height)
{
    struct photo photo = made_photo(width, height, channels, depth), again;
    const char *path = made_path(name);
    if (write_photo(&photo, path, 0) && read_photo(&again, path)) {
        CHECK(made_difference(&photo.pixels, &again.pixels) == 0);
        CHECK(again.depth == depth && again.icc.size == 0 && !again.incomplete);
        esra_photo_free(&again);
    }
    esra_photo_free(&photo);
}

static void lossless_formats_keep_every_sample(void)
{
    static const int sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {37, 23}, {300, 5}};
    for (int s = 0; s < 5; s++)
        for (int channels = 1; channels <= 3; channels += 2) {
            int w = sizes[s][0], h = sizes[s][1];
            round_trip("a.png", 8, channels, w, h);
            round_trip("a.png", 16, channels, w, h);
            round_trip("a.tif", 8, channels, w, h);
            round_trip("a.tif", 16, channels, w, h);
            round_trip("a.tiff", 32, channels, w, h);
            round_trip("a.npy", 32, channels, w, h);
        }
}

static void every_16_bit_code_survives(void)
{
    struct photo photo = made_photo(256, 256, 1, 16), again;
    for (int n = 0; n < 65536; n++)
        photo.pixels.data[n] = (float)n / 65535.0f;
    if (write_photo(&photo, made_path("codes.png"), 16) && read_photo(&again, made_path("codes.png"))) {
        CHECK(made_difference(&photo.pixels, &again.pixels) == 0);
        esra_photo_free(&again);
    }
    esra_photo_free(&photo);
}

static void jpeg_is_close(void)
{
    for (int channels = 1; channels <= 3; channels += 2) {
        struct photo photo = made_smooth(61, 47, channels), again;
        if (write_photo(&photo, made_path("a.jpg"), 0) && read_photo(&again, made_path("a.jpg"))) {
            CHECK(made_difference(&photo.pixels, &again.pixels) < 0.03);
            CHECK(again.depth == 8);
            CHECK_TEXT(again.format, "JPEG");
            esra_photo_free(&again);
        }
        esra_photo_free(&photo);
    }
}

static void values_are_clipped_and_rounded(void)
{
    struct photo photo = made_photo(5, 1, 1, 32), again;
    static const float values[] = {-1, 2, 0.5f, NAN, 100.4f / 255};
    static const float wanted[] = {0, 1, 128 / 255.0f, 0, 100 / 255.0f};
    memcpy(photo.pixels.data, values, sizeof values);
    if (write_photo(&photo, made_path("clip.png"), 8) && read_photo(&again, made_path("clip.png"))) {
        CHECK(memcmp(again.pixels.data, wanted, sizeof wanted) == 0);
        esra_photo_free(&again);
    }
    esra_photo_free(&photo);
}

static void profile_and_exif_are_carried(void)
{
    static const char *const names[] = {"m.png", "m.jpg", "m.tif"};
    for (int n = 0; n < 3; n++)
        for (int channels = 1; channels <= 3; channels += 2)
            for (int big = 0; big < 2; big++) {
                struct photo photo = made_smooth(20, 10, channels), again;
                char make[32];
                photo.icc = made_profile(channels, cmsBuildGamma(NULL, 2.2));
                photo.exif = made_exif(1, big);
                esra_exif_settle(&photo.exif);
                if (write_photo(&photo, made_path(names[n]), 0) && read_photo(&again, made_path(names[n]))) {
                    CHECK(made_same(&photo.icc, &again.icc));
                    /* TIFF holds the tags in its own directories. */
                    CHECK(n == 2 || made_same(&photo.exif, &again.exif));
                    CHECK(esra_exif_has_photo(&again.exif) && esra_exif_has_gps(&again.exif));
                    CHECK(esra_exif_big_endian(&again.exif) == big);
                    esra_exif_text(&again.exif, 0x010f, make, sizeof make);
                    CHECK_TEXT(make, "Camera X");
                    esra_photo_free(&again);
                }
                esra_photo_free(&photo);
            }
}

/* From PNG to TIFF and back to PNG, twice: what TIFF keeps, it keeps. */
static void exif_survives_tiff(void)
{
    struct photo photo = made_smooth(8, 8, 3), first, second;
    photo.exif = made_exif(1, true);
    esra_exif_settle(&photo.exif);
    if (write_photo(&photo, made_path("x.tif"), 0) && read_photo(&first, made_path("x.tif")) &&
        write_photo(&first, made_path("y.tif"), 0) && read_photo(&second, made_path("y.tif"))) {
        CHECK(made_same(&first.exif, &second.exif));
        CHECK(memmem(second.exif.data, second.exif.size, "maker's note", 12) != NULL);
        esra_photo_free(&first);
        esra_photo_free(&second);
    }
    esra_photo_free(&photo);
}

static void the_thumbnail_is_gone(void)
{
    static const unsigned char picture[] = {0xaa, 0xaa, 0xaa, 0xaa};
    struct bytes exif = made_exif(6, false);
    CHECK(esra_exif_settle(&exif) == 6);
    CHECK(!memmem(exif.data, exif.size, picture, sizeof picture));
    CHECK(esra_exif_settle(&exif) == 1);
    CHECK(memmem(exif.data, exif.size, "maker's note", 12) == exif.data + 224);
    esra_bytes_free(&exif);
}

/* The picture with orientation o, turned upright, must be the picture. Made by the definition: the file's row 0 and
 * column 0 show these sides of the scene. */
static void make_turned(struct image *file, const struct image *scene, int orientation)
{
    for (int c = 0; c < scene->channels; c++)
        for (int y = 0; y < file->height; y++)
            for (int x = 0; x < file->width; x++) {
                bool sideways = orientation >= 5;
                int u = sideways ? y : x, v = sideways ? x : y;
                if (orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7)
                    u = scene->width - 1 - u;
                if (orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8)
                    v = scene->height - 1 - v;
                plane_row(image_plane(file, c), y)[x] = plane_row(image_plane(scene, c), v)[u];
            }
}

static void check_orientation(const char *name, int orientation, int channels)
{
    int w = 35, h = 70;
    struct photo scene = made_photo(w, h, channels, 8), again;
    struct photo file = made_photo(orientation >= 5 ? h : w, orientation >= 5 ? w : h, channels, 8);
    make_turned(&file.pixels, &scene.pixels, orientation);
    if (strstr(name, ".tif")) {
        made_tiff(made_path(name), &file,
                  (struct made_tiff){.bits = 8, .channels = channels, .orientation = orientation});
    } else {
        file.exif = made_exif(orientation, orientation & 1);
        write_photo(&file, made_path(name), 0);
    }
    if (read_photo(&again, made_path(name))) {
        CHECK(again.pixels.width == w && again.pixels.height == h);
        CHECK(made_difference(&scene.pixels, &again.pixels) <= (strstr(name, ".jpg") ? 0.2 : 0));
        CHECK(esra_exif_settle(&again.exif) == 1);
        esra_photo_free(&again);
    }
    esra_photo_free(&file);
    esra_photo_free(&scene);
}

static void all_orientations_are_made_upright(void)
{
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int channels = 1; channels <= 3; channels += 2) {
            check_orientation("o.png", orientation, channels);
            check_orientation("o.tif", orientation, channels);
        }
}

static void jpeg_orientations_are_made_upright(void)
{
    for (int orientation = 1; orientation <= 8; orientation++) {
        struct photo scene = made_smooth(35, 70, 3), again;
        struct photo file = made_smooth(orientation >= 5 ? 70 : 35, orientation >= 5 ? 35 : 70, 3);
        make_turned(&file.pixels, &scene.pixels, orientation);
        file.exif = made_exif(orientation, false);
        if (write_photo(&file, made_path("o.jpg"), 0) && read_photo(&again, made_path("o.jpg"))) {
            CHECK(made_difference(&scene.pixels, &again.pixels) < 0.03);
            esra_photo_free(&again);
        }
        esra_photo_free(&file);
        esra_photo_free(&scene);
    }
}

static void turned_sides_are_told(void)
{
    struct photo photo = made_photo(4, 3, 1, 8), again;
    photo.exif = made_exif(6, true);
    if (write_photo(&photo, made_path("s.png"), 0) && read_photo(&again, made_path("s.png"))) {
        CHECK(again.pixels.width == 3 && again.pixels.height == 4);
        CHECK(memcmp(again.exif.data + 66 + 24 + 8, "\0\0\x0b\xb8", 4) == 0);
        CHECK(memcmp(again.exif.data + 66 + 36 + 8, "\0\0\x0f\xa0", 4) == 0);
        esra_photo_free(&again);
    }
    esra_photo_free(&photo);
}

static void png_kinds(void)
{
    unsigned char pixels[8 * 8 * 4];
    png_color palette[4] = {{255, 0, 0}, {0, 255, 0}, {0, 0, 255}, {10, 20, 30}};
    png_byte opaque[4] = {255, 255, 255, 255}, clear[4] = {255, 128, 255, 255};
    struct photo photo;
    for (int n = 0; n < 256; n++)
        pixels[n] = (unsigned char)(n % 4);
    made_png(made_path("p.png"), 8, 8, PNG_COLOR_TYPE_PALETTE, 8, false, pixels, palette, 4, opaque);
    if (read_photo(&photo, made_path("p.png"))) {
        CHECK(photo.pixels.channels == 3 && photo.depth == 8);
        CHECK(photo.pixels.data[0] == 1 && photo.pixels.data[1] == 0 && photo.pixels.data[3] == 10 / 255.0f);
        esra_photo_free(&photo);
    }
    made_png(made_path("p.png"), 8, 8, PNG_COLOR_TYPE_PALETTE, 8, false, pixels, palette, 4, clear);
    CHECK(refused(made_path("p.png"), "transparent") == ESRA_BAD_DATA);
    made_png(made_path("p.png"), 8, 8, PNG_COLOR_TYPE_RGB_ALPHA, 8, false, pixels, NULL, 0, NULL);
    CHECK(refused(made_path("p.png"), "transparent") == ESRA_BAD_DATA);
    for (int n = 3; n < 256; n += 4)
        pixels[n] = 255;
    made_png(made_path("p.png"), 8, 8, PNG_COLOR_TYPE_RGB_ALPHA, 8, false, pixels, NULL, 0, NULL);
    if (read_photo(&photo, made_path("p.png"))) {
        CHECK(photo.pixels.channels == 3 && photo.pixels.data[64] == 1 / 255.0f);
        esra_photo_free(&photo);
    }
    memset(pixels, 0xb4, sizeof pixels); /* 10110100 */
    made_png(made_path("p.png"), 8, 8, PNG_COLOR_TYPE_GRAY, 1, false, pixels, NULL, 0, NULL);
    if (read_photo(&photo, made_path("p.png"))) {
        CHECK(photo.pixels.channels == 1 && photo.depth == 8 && photo.pixels.data[0] == 1 && photo.pixels.data[1] == 0);
        esra_photo_free(&photo);
    }
}

static void interlaced_png_is_the_same(void)
{
    for (int width = 1; width <= 19; width += 3)
        for (int height = 1; height <= 19; height += 3)
            for (int bits = 8; bits <= 16; bits += 8) {
                unsigned char pixels[19 * 19 * 6];
                struct photo plain, interlaced;
                for (size_t n = 0; n < sizeof pixels; n++)
                    pixels[n] = (unsigned char)check_bits();
                made_png(made_path("n.png"), width, height, PNG_COLOR_TYPE_RGB, bits, false, pixels, NULL, 0, NULL);
                made_png(made_path("i.png"), width, height, PNG_COLOR_TYPE_RGB, bits, true, pixels, NULL, 0, NULL);
                if (read_photo(&plain, made_path("n.png")) && read_photo(&interlaced, made_path("i.png"))) {
                    CHECK(made_difference(&plain.pixels, &interlaced.pixels) == 0);
                    esra_photo_free(&plain);
                    esra_photo_free(&interlaced);
                }
            }
}

static void tiff_kinds(void)
{
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS,
                                       COMPRESSION_ADOBE_DEFLATE};
    static const char *const modes[] = {"w", "wb", "w8"};
    int count = 0;
    for (int bits = 8; bits <= 32; bits *= 2)
        for (int channels = 1; channels <= 3; channels += 2)
            for (int tile = 0; tile <= 16; tile += 16)
                for (int planar = 0; planar < 2; planar++)
                    for (int alpha = 0; alpha < 2; alpha++, count++) {
                        struct photo photo = made_photo(37, 21, channels, bits), again;
                        made_tiff(made_path("k.tif"), &photo,
                                  (struct made_tiff){modes[count % 3], bits, channels, alpha, tile, planar,
                                                     compressions[count % 4], 0, 0});
                        if (read_photo(&again, made_path("k.tif"))) {
                            CHECK(made_difference(&photo.pixels, &again.pixels) == 0);
                            CHECK(again.depth == bits);
                            esra_photo_free(&again);
                        }
                        esra_photo_free(&photo);
                    }
}

static void tiff_odd_kinds(void)
{
    struct photo photo = made_photo(37, 21, 1, 8), again;
    made_tiff(made_path("k.tif"), &photo, (struct made_tiff){.bits = 8, .channels = 1, .white = 1});
    if (read_photo(&again, made_path("k.tif"))) {
        CHECK(made_difference(&photo.pixels, &again.pixels) < 1e-6);
        esra_photo_free(&again);
    }
    made_tiff(made_path("k.tif"), &photo, (struct made_tiff){.bits = 8, .channels = 1, .alpha = 2});
    CHECK(refused(made_path("k.tif"), "transparent") == ESRA_BAD_DATA);
    made_tiff(made_path("k.tif"), &photo,
              (struct made_tiff){.bits = 8, .channels = 1, .alpha = 2, .tile = 16, .planar = 1});
    CHECK(refused(made_path("k.tif"), "transparent") == ESRA_BAD_DATA);
    esra_photo_free(&photo);
    photo = made_photo(4, 4, 1, 32);
    photo.pixels.data[7] = NAN;
    write_photo(&photo, made_path("nan.tif"), 32);
    CHECK(refused(made_path("nan.tif"), "not numbers") == ESRA_BAD_DATA);
    write_photo(&photo, made_path("nan.npy"), 32);
    CHECK(refused(made_path("nan.npy"), "not numbers") == ESRA_BAD_DATA);
    esra_photo_free(&photo);
}

/* As scanners write it: JPEG in strips, in YCbCr with or without half-size chroma, or in RGB. */
static void tiff_with_jpeg_inside(void)
{
    for (int kind = 0; kind < 3; kind++) {
        struct photo photo = made_smooth(48, 32, 3), again;
        TIFF *tiff = TIFFOpen(made_path("j.tif"), "w");
        unsigned char row[48 * 3];
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 48);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 32);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
        TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
        TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_JPEG);
        TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, 95);
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 16);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, kind ? PHOTOMETRIC_YCBCR : PHOTOMETRIC_RGB);
        if (kind)
            TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
        if (kind)
            TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, kind, kind);
        for (int y = 0; y < 32; y++) {
            for (int n = 0; n < 48 * 3; n++)
                made_sample(row + n, plane_row(image_plane(&photo.pixels, n % 3), y)[n / 3], 8);
            TIFFWriteScanline(tiff, row, (uint32_t)y, 0);
        }
        TIFFClose(tiff);
        if (read_photo(&again, made_path("j.tif"))) {
            CHECK(made_difference(&photo.pixels, &again.pixels) < (kind == 2 ? 0.1 : 0.04));
            esra_photo_free(&again);
        }
        esra_photo_free(&photo);
    }
}

static void jpeg_kinds(void)
{
    static const J_COLOR_SPACE spaces[] = {JCS_GRAYSCALE, JCS_RGB, JCS_YCbCr};
    unsigned char pixels[16 * 16 * 4];
    struct photo photo;
    memset(pixels, 100, sizeof pixels);
    for (int n = 0; n < 3; n++)
        for (int progressive = 0; progressive < 2; progressive++) {
            made_jpeg(made_path("k.jpg"), 16, 16, spaces[n], progressive, pixels, NULL);
            if (read_photo(&photo, made_path("k.jpg"))) {
                CHECK(photo.pixels.channels == (n ? 3 : 1));
                CHECK_NEAR(photo.pixels.data[40], 100 / 255.0, 0.01);
                esra_photo_free(&photo);
            }
        }
}

/* A printer whose paper is white and whose every ink is a quarter of black. */
static struct bytes ink_profile(void)
{
    cmsHPROFILE profile = cmsCreateProfilePlaceholder(NULL);
    cmsUInt16Number table[16 * 3];
    for (int n = 0; n < 16; n++) {
        int ink = (n & 1) + (n >> 1 & 1) + (n >> 2 & 1) + (n >> 3 & 1);
        table[3 * n] = (cmsUInt16Number)(0xff00 * (4 - ink) / 4); /* L falls with the ink */
        table[3 * n + 1] = table[3 * n + 2] = 0x8000;             /* a = b = 0 */
    }
    cmsSetProfileVersion(profile, 2.1);
    cmsSetDeviceClass(profile, cmsSigOutputClass);
    cmsSetColorSpace(profile, cmsSigCmykData);
    cmsSetPCS(profile, cmsSigLabData);
    cmsPipeline *pipeline = cmsPipelineAlloc(NULL, 4, 3);
    cmsPipelineInsertStage(pipeline, cmsAT_END, cmsStageAllocCLut16bit(NULL, 2, 4, 3, table));
    CHECK(cmsWriteTag(profile, cmsSigAToB0Tag, pipeline));
    cmsPipelineFree(pipeline);
    return made_saved(profile);
}

static void cmyk_jpeg_needs_its_profile(void)
{
    unsigned char pixels[16 * 16 * 4];
    struct photo photo;
    struct bytes icc = ink_profile(), rgb = made_profile(3, cmsBuildGamma(NULL, 2.2));
    /* Adobe's way round: 255 is no ink. */
    memset(pixels, 255, sizeof pixels);
    made_jpeg(made_path("c.jpg"), 16, 16, JCS_CMYK, false, pixels, NULL);
    CHECK(refused(made_path("c.jpg"), "CMYK") == ESRA_BAD_DATA);
    made_jpeg(made_path("c.jpg"), 16, 16, JCS_CMYK, false, pixels, &rgb);
    CHECK(refused(made_path("c.jpg"), "cannot be used") == ESRA_BAD_DATA);
    for (int n = 0; n < 2; n++) {
        made_jpeg(made_path("c.jpg"), 16, 16, n ? JCS_YCCK : JCS_CMYK, n, pixels, &icc);
        if (read_photo(&photo, made_path("c.jpg"))) {
            CHECK(photo.pixels.channels == 3 && photo.icc.size == 0);
            CHECK_NEAR(photo.pixels.data[0], 1, 0.02);
            esra_photo_free(&photo);
        }
    }
    memset(pixels, 0, sizeof pixels);
    made_jpeg(made_path("c.jpg"), 16, 16, JCS_CMYK, false, pixels, &icc);
    if (read_photo(&photo, made_path("c.jpg"))) {
        CHECK_NEAR(photo.pixels.data[300], 0, 0.02);
        esra_photo_free(&photo);
    }
    esra_bytes_free(&icc);
    esra_bytes_free(&rgb);
}

static void the_name_does_not_matter(void)
{
    struct photo photo = made_photo(5, 4, 3, 8), again;
    write_photo(&photo, made_path("n.png"), 0);
    CHECK(rename(made_path("n.png"), made_path("n.jpg")) == 0);
    if (read_photo(&again, made_path("n.jpg"))) {
        CHECK_TEXT(again.format, "PNG");
        esra_photo_free(&again);
    }
    esra_photo_free(&photo);
}

static void other_files_are_refused(void)
{
    made_write(made_path("t.png"), "hello, world\n", 13);
    CHECK(refused(made_path("t.png"), "no photo that this esra can read") == ESRA_BAD_DATA);
    made_write(made_path("e.png"), "", 0);
    CHECK(refused(made_path("e.png"), "is empty") == ESRA_BAD_DATA);
    CHECK(refused(made_path("missing.png"), "cannot read") == ESRA_NO_INPUT);
    CHECK(refused(made_folder, "folder") == ESRA_NO_INPUT);
    made_write(made_path("h.heic"),
               "\0\0\0\x18"
               "ftypheic\0\0\0\0mif1heic",
               24);
    CHECK(refused(made_path("h.heic"), "h.heic is") == ESRA_BAD_DATA);
    made_write(made_path("r.cr2"), "II*\0\x10\0\0\0CR\x02\0\0\0\0\0\0\0\0\0", 20);
    CHECK(refused(made_path("r.cr2"), "r.cr2 is") == ESRA_BAD_DATA);
    made_write(made_path("b.npy"), "\x93NUMPY\x01\0", 8);
    CHECK(refused(made_path("b.npy"), "truncated") == ESRA_BAD_DATA);
}

static void wishes_are_checked(void)
{
    struct message message;
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    CHECK(esra_photo_check_write("a.png", &options, &message) == ESRA_OK);
    CHECK(esra_photo_check_write("A.JPEG", &options, &message) == ESRA_OK);
    CHECK(esra_photo_check_write("folder.d/a", &options, &message) == ESRA_BAD_ARGUMENT);
    CHECK(esra_photo_check_write("a.heic", &options, &message) == ESRA_BAD_ARGUMENT);
    CHECK(esra_photo_check_write("a.xyz", &options, &message) == ESRA_BAD_ARGUMENT);
    options.depth = 16;
    CHECK(esra_photo_check_write("a.jpg", &options, &message) == ESRA_BAD_ARGUMENT);
    CHECK(strstr(message.text, "JPEG cannot hold 16 bits") != NULL);
    options.format = "tiff";
    CHECK(esra_photo_check_write("-", &options, &message) == ESRA_OK);
    options.depth = 24;
    CHECK(esra_photo_check_write("-", &options, &message) == ESRA_BAD_ARGUMENT);
    options = (struct write_options)WRITE_OPTIONS_DEFAULT;
    options.quality = 0;
    CHECK(esra_photo_check_write("a.jpg", &options, &message) == ESRA_BAD_ARGUMENT);
}

/* An output that failed leaves the old file and no other. */
static void an_old_file_survives(void)
{
    struct photo photo = made_photo(5, 4, 3, 8);
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    struct message message;
    made_write(made_path("old.jpg"), "old", 3);
    photo.exif = (struct bytes){calloc(1, 70000), 70000};
    CHECK(esra_photo_write(&photo, made_path("old.jpg"), &options, &message) == ESRA_BAD_DATA);
    CHECK(strstr(message.text, "EXIF") != NULL);
    struct bytes old = made_load(made_path("old.jpg"));
    CHECK(old.size == 3);
    esra_bytes_free(&old);
    CHECK(esra_photo_write(&photo, made_path("none/a.png"), &options, &message) == ESRA_CANNOT_CREATE);
    esra_photo_free(&photo);
}

static void from_standard_input(void)
{
    static const char *const names[] = {"a.png", "a.jpg", "a.tif", "a.npy"};
    int before = dup(STDIN_FILENO);
    for (int n = 0; n < 4; n++)
        for (int pipe = 0; pipe < 2; pipe++) {
            struct photo photo = made_smooth(400, 300, 3), again, piped;
            char command[256];
            snprintf(command, sizeof command, "cat %s", made_path(names[n]));
            write_photo(&photo, made_path(names[n]), 0);
            FILE *file = pipe ? popen(command, "r") : fopen(made_path(names[n]), "rb");
            dup2(fileno(file), STDIN_FILENO);
            if (read_photo(&piped, "-") && read_photo(&again, made_path(names[n]))) {
                CHECK(made_difference(&again.pixels, &piped.pixels) == 0);
                esra_photo_free(&again);
                esra_photo_free(&piped);
            }
            dup2(before, STDIN_FILENO);
            pipe ? pclose(file) : fclose(file);
            esra_photo_free(&photo);
        }
    close(before);
}

static void shared_photos_are_read(void)
{
    static const char *const names[] = {"astronaut.png", "camera.png", "rocket.jpg", "hubble_deep_field.jpg"};
    for (int n = 0; n < 4; n++) {
        char path[256];
        struct photo photo;
        snprintf(path, sizeof path, "%s/photos/%s", ESRA_SHARED, names[n]);
        if (access(path, R_OK))
            SKIP("%s is not here", path);
        if (read_photo(&photo, path))
            esra_photo_free(&photo);
    }
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(lossless_formats_keep_every_sample);
    RUN(every_16_bit_code_survives);
    RUN(jpeg_is_close);
    RUN(values_are_clipped_and_rounded);
    RUN(profile_and_exif_are_carried);
    RUN(exif_survives_tiff);
    RUN(the_thumbnail_is_gone);
    RUN(all_orientations_are_made_upright);
    RUN(jpeg_orientations_are_made_upright);
    RUN(turned_sides_are_told);
    RUN(png_kinds);
    RUN(interlaced_png_is_the_same);
    RUN(tiff_kinds);
    RUN(tiff_odd_kinds);
    RUN(tiff_with_jpeg_inside);
    RUN(jpeg_kinds);
    RUN(cmyk_jpeg_needs_its_profile);
    RUN(the_name_does_not_matter);
    RUN(other_files_are_refused);
    RUN(wishes_are_checked);
    RUN(an_old_file_survives);
    RUN(from_standard_input);
    RUN(shared_photos_are_read);
    made_end();
    return check_report();
}
