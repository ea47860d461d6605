/* tests/io/kinds.c - the kinds of PNG, TIFF and JPEG that esra reads and does not write, and those it refuses. */
#include "tell.h"

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

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(png_kinds);
    RUN(interlaced_png_is_the_same);
    RUN(tiff_kinds);
    RUN(tiff_odd_kinds);
    RUN(tiff_with_jpeg_inside);
    RUN(jpeg_kinds);
    RUN(cmyk_jpeg_needs_its_profile);
    made_end();
    return check_report();
}
