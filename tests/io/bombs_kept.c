/* tests/io/bombs_kept.c - small files that claim much, of which --tolerate-truncated keeps what there is: memory is
 * taken for that, and not for what is claimed. */
#include "bomb.h"

static void keep_bomb(const char *what)
{
    if (getenv("ESRA_TEST_UNTIMED"))
        SKIP("the tool that slows the program down writes all zeros itself");
    struct read_options options = READ_OPTIONS_DEFAULT;
    options.tolerate_truncated = true;
    /* Where addresses have 32 bits there is no room even for the claim. */
    survive_bomb_with(&options, what, sizeof(void *) < 8 ? ESRA_OUT_OF_MEMORY : ESRA_OK);
}

/* 199 megapixels, of which two rows are there. */
static void png_bombs(void)
{
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        struct bytes packed = packed_zeros(2 * (1 + 3 * 14100));
        FILE *file = begin_png(14100, 14100, interlaced);
        put_chunk(file, "IDAT", packed.data, packed.size);
        fclose(file);
        keep_bomb(interlaced ? "PNG of 199 MP, interlaced" : "PNG of 199 MP");
        esra_bytes_free(&packed);
    }
}

/* 196 megapixels, of which the first strip or tile is there. */
static void write_tiff(bool tiled)
{
    static unsigned char zeros[14000 * 16 * 3];
    TIFF *tiff = TIFFOpen(made_path("bomb"), "w");
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 14000);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 14000);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 3);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_RGB);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    if (tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 14000);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
        TIFFWriteEncodedTile(tiff, 0, zeros, sizeof zeros);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, 16);
        TIFFWriteEncodedStrip(tiff, 0, zeros, sizeof zeros);
    }
    TIFFClose(tiff);
}

static void tiff_bombs(void)
{
    write_tiff(false);
    keep_bomb("TIFF of 196 MP, in strips");
    write_tiff(true);
    keep_bomb("TIFF of 196 MP, in tiles");
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(png_bombs);
    RUN(tiff_bombs);
    made_end();
    return check_report();
}
