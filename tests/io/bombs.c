/* tests/io/bombs.c - small files made to take much memory or time: refused before it is taken, or read without it. */
#include "bomb.h"

static void png_bombs(void)
{
    static unsigned char profile[32 + 200000];
    struct bytes packed = packed_zeros(100 << 20), pixels = packed_zeros(8 * (1 + 3 * 8));
    FILE *file = begin_png(100000, 100000, false);
    put_chunk(file, "IDAT", packed.data, packed.size);
    fclose(file);
    survive_bomb("PNG of 100000 x 100000", ESRA_OVER_LIMIT);
    file = begin_png(0x7fffffff, 0x7fffffff, false);
    fclose(file);
    survive_bomb("PNG of 2^31 x 2^31", ESRA_BAD_DATA);
    file = begin_png(0x7fffffff, 1, false);
    put_chunk(file, "IDAT", packed.data, 100);
    fclose(file);
    survive_bomb("PNG of 2^31 x 1", ESRA_OVER_LIMIT);
    file = begin_png(14000, 14000, false);
    put_chunk(file, "IDAT", packed.data, 100);
    fclose(file);
    survive_bomb("PNG of 196 MP in 200 bytes", ESRA_BAD_DATA);
    file = begin_png(8, 8, false);
    memcpy(profile, "ICC\0\0", 5);
    CHECK(packed.size < sizeof profile - 5);
    memcpy(profile + 5, packed.data, packed.size);
    put_chunk(file, "iCCP", profile, 5 + packed.size);
    put_chunk(file, "IDAT", pixels.data, pixels.size);
    put_chunk(file, "IEND", "", 0);
    fclose(file);
    survive_bomb("PNG, profile unpacks to 100 MB", ESRA_OK); /* without it */
    esra_bytes_free(&packed);
    esra_bytes_free(&pixels);
}

static void png_metadata_bombs(void)
{
    FILE *file = begin_png(8, 8, false);
    put(file, "\x06\x40\0\0tEXt", 8);
    CHECK(fseek(file, 100 << 20, SEEK_CUR) == 0);
    put(file, "end!", 4);
    fclose(file);
    survive_bomb("PNG with 100 MB of text", ESRA_OVER_LIMIT);
    file = begin_png(8, 8, false);
    for (int n = 0; n < 2000000; n++)
        put(file, "\0\0\0\0abCd\xff\xff\xff\xff", 12);
    fclose(file);
    survive_bomb("PNG with 2 million empty chunks", ESRA_OVER_LIMIT);
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

static struct bytes progressive_jpeg(void)
{
    static unsigned char pixels[21 * 18 * 3];
    for (size_t n = 0; n < sizeof pixels; n++)
        pixels[n] = (unsigned char)(n / 7 + check_bits() % 20);
    made_jpeg(made_path("progressive.jpg"), 21, 18, JCS_YCbCr, true, pixels, NULL);
    return made_load(made_path("progressive.jpg"));
}

/* A progressive JPEG that claims another size, with its last scan as often as wanted. */
static void write_jpeg_bomb(int width, int height, int scans)
{
    struct bytes jpeg = progressive_jpeg();
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
    survive_bomb("JPEG with 10,000 scans", ESRA_OVER_LIMIT);
    write_jpeg_bomb(10000, 10000, 10000);
    survive_bomb("JPEG of 100 MP with 10,000 scans", ESRA_OVER_LIMIT);
    write_jpeg_bomb(65500, 65500, 1);
    survive_bomb("JPEG of 65500 x 65500", ESRA_OVER_LIMIT);
    write_jpeg_bomb(14000, 14000, 1);
    survive_bomb("JPEG of 196 MP in 1 KB", ESRA_BAD_DATA);
    FILE *file = fopen(made_path("bomb"), "wb");
    put(file, "\xff\xd8", 2);
    for (int n = 0; n < 1600; n++) {
        put(file, "\xff\xe1\xff\xff", 4);
        CHECK(fseek(file, 65533, SEEK_CUR) == 0);
    }
    put(file, "\xff\xd9", 2);
    fclose(file);
    survive_bomb("JPEG with 100 MB of metadata", ESRA_OVER_LIMIT);
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
    survive_bomb("TIFF of 100000 x 100000", ESRA_OVER_LIMIT);
    write_tiff((const uint32_t[][4]){{256, 4, 1, 14000},
                                     {257, 4, 1, 14000},
                                     {258, 3, 1, 8},
                                     {262, 3, 1, 1},
                                     {273, 4, 1, 8},
                                     {277, 3, 1, 1},
                                     {278, 4, 1, 14000},
                                     {279, 4, 1, 196000000}},
               8, 0, 1000);
    survive_bomb("TIFF of 196 MP in 1 KB", ESRA_BAD_DATA);
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
    survive_bomb("TIFF of 196 MP, packed, in 1 KB", ESRA_BAD_DATA);
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
    survive_bomb("TIFF with a tile of 2^62 pixels", ESRA_OVER_LIMIT);
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
    survive_bomb("TIFF of 64 pixels, tile of 196 MP", ESRA_OVER_LIMIT);
}

/* RGB of 16 x 16 pixels in one tile that holds only zeros, packed. */
static void write_tile(uint32_t side)
{
    const uint32_t bits = 8 + 2 + 12 * 11 + 4, packed_at = bits + 6;
    struct bytes packed = packed_zeros((size_t)side * side * 3);
    write_tiff((const uint32_t[][4]){{256, 4, 1, 16},
                                     {257, 4, 1, 16},
                                     {258, 3, 3, bits},
                                     {259, 3, 1, 8},
                                     {262, 3, 1, 2},
                                     {277, 3, 1, 3},
                                     {284, 3, 1, 1},
                                     {322, 4, 1, side},
                                     {323, 4, 1, side},
                                     {324, 4, 1, packed_at},
                                     {325, 4, 1, (uint32_t)packed.size}},
               11, 0, 0);
    FILE *file = fopen(made_path("bomb"), "ab");
    put(file, "\x08\0\x08\0\x08\0", 6);
    put(file, packed.data, packed.size);
    fclose(file);
    esra_bytes_free(&packed);
}

static void tiff_tile_bombs(void)
{
    write_tile(8192);
    survive_bomb("TIFF of 256 pixels, tile of 67 MP", ESRA_OVER_LIMIT);
    for (uint32_t side = 16; side <= 4096; side *= 4) {
        write_tile(side);
        survive_bomb("  no bomb: a tile of a usual size", ESRA_OK);
    }
}

static void tiff_directory_bombs(void)
{
    write_tiff((const uint32_t[][4]){{256, 4, 1, 8}, {257, 4, 1, 8}, {34675, 7, 100 << 20, 1000}}, 3, 0, 101 << 20);
    survive_bomb("TIFF with a profile of 100 MB", ESRA_OVER_LIMIT);
    const uint32_t picture[][4] = {{256, 4, 1, 8}, {257, 4, 1, 8}, {258, 3, 1, 8},  {262, 3, 1, 1},   {273, 4, 1, 8},
                                   {277, 3, 1, 1}, {278, 4, 1, 8}, {279, 4, 1, 64}, {34665, 4, 1, 8}, {34853, 4, 1, 8}};
    write_tiff(picture, 10, 8, 200);
    survive_bomb("TIFF whose directories are one", ESRA_OK);
    const uint32_t chain = 8 + 2 + 10 * 12 + 4, link = 2 + 12 + 4, links = 200000;
    write_tiff(picture, 8, chain, chain);
    FILE *file = fopen(made_path("bomb"), "ab");
    for (uint32_t n = 0; n < links; n++) {
        unsigned char bytes[2 + 12 + 4] = {1};
        made_entry(bytes + 2, 34665, 4, 1, chain + link * (links - n), false);
        made_number(bytes + 14, n + 1 < links ? chain + link * (n + 1) : 0, 4, false);
        put(file, bytes, sizeof bytes);
    }
    fclose(file);
    survive_bomb("TIFF with 200,000 directories", ESRA_OK); /* the first alone is looked at */
    write_tiff((const uint32_t[][4]){{256, 4, 1, 60000},
                                     {257, 4, 1, 3000},
                                     {258, 3, 1, 8},
                                     {262, 3, 1, 1},
                                     {273, 4, 0x3fffffff, 8},
                                     {277, 3, 1, 1},
                                     {278, 4, 1, 1},
                                     {279, 4, 0x3fffffff, 8}},
               8, 0, 1000);
    survive_bomb("TIFF with a billion strips", ESRA_BAD_DATA);
    made_write(made_path("bomb"), "II*\0\x08\0\0\0\xff\xff\0\1\3\0\1\0\0\0\1\0\0\0", 22);
    survive_bomb("TIFF with 65535 entries", ESRA_BAD_DATA);
    made_write(made_path("bomb"), "II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\x0f", 24);
    survive_bomb("BigTIFF with 2^60 entries", ESRA_BAD_DATA);
    made_write(made_path("bomb"), "II+\0\x08\0\0\0\xff\xff\xff\xff\xff\xff\xff\x7f", 16);
    survive_bomb("BigTIFF with a far directory", ESRA_BAD_DATA);
}

/* The header, and as many bytes of zeros, which the file system need not store. */
static void write_npy(const char *shape, long bytes)
{
    char header[128];
    int length = snprintf(header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }\n", shape);
    unsigned char size[2] = {(unsigned char)length, 0};
    FILE *file = fopen(made_path("bomb"), "wb");
    put(file, "\x93NUMPY\x01\0", 8);
    put(file, size, 2);
    put(file, header, (size_t)length);
    CHECK(fflush(file) == 0 && ftruncate(fileno(file), ftell(file) + bytes) == 0);
    fclose(file);
}

static void npy_bombs(void)
{
    made_write(made_path("bomb"), "\x93NUMPY\x02\0\xff\xff\xff\x7f{'descr'", 20);
    survive_bomb("NPY with a header of 2 GB", ESRA_BAD_DATA);
    write_npy("(100000, 100000)", 0);
    survive_bomb("NPY of 100000 x 100000", ESRA_OVER_LIMIT);
    write_npy("(100000000,)", 400000000);
    survive_bomb("NPY of 100 million in a row", ESRA_BAD_DATA);
    write_npy("(10, 10, 1000000)", 400000000);
    survive_bomb("NPY of 10 x 10, a million channels", ESRA_BAD_DATA);
    write_npy("(50000000, 2, 1)", 400000000);
    survive_bomb("NPY with a side of 50 million", ESRA_OVER_LIMIT);
}

/* Formats whose libraries want all of a file in memory; without the library there is nothing to refuse. */
static void write_whole(const char *head, size_t size)
{
    FILE *file = fopen(made_path("bomb"), "wb");
    put(file, head, size);
    CHECK(fflush(file) == 0 && ftruncate(fileno(file), (off_t)1500 << 20) == 0);
    fclose(file);
}

static void files_kept_in_memory(void)
{
    esra_status heif = ESRA_BAD_DATA, raw = ESRA_BAD_DATA;
#ifdef ESRA_HAVE_LIBHEIF
    heif = ESRA_OVER_LIMIT;
#endif
#ifdef ESRA_HAVE_LIBRAW
    raw = ESRA_OVER_LIMIT;
#endif
    write_whole("\0\0\0\x18"
                "ftypheic\0\0\0\0mif1heic",
                24);
    survive_bomb("HEIC of 1.5 GB", heif);
    write_whole("FUJIFILMCCD-RAW ", 16);
    survive_bomb("camera RAW of 1.5 GB", raw);
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

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(png_bombs);
    RUN(png_metadata_bombs);
    RUN(jpeg_bombs);
    RUN(tiff_bombs);
    RUN(tiff_tile_bombs);
    RUN(tiff_directory_bombs);
    RUN(npy_bombs);
    RUN(files_kept_in_memory);
    RUN(limits_can_be_lifted);
    made_end();
    return check_report();
}
