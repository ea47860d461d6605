/* tests/io/exif.c - what becomes of an EXIF block: the thumbnail goes, wherever it stands, and nothing else; texts
 * reach a TIFF whole. */
#define _GNU_SOURCE
#include "tell.h"

#include "io/exif.h"

/* Whether the picture of made_exif()'s thumbnail, or four bytes of it, is still there. */
static bool shows_picture(const struct bytes *exif)
{
    return memmem(exif->data, exif->size, "\xaa\xaa\xaa\xaa", 4) != NULL;
}

/* An uncompressed thumbnail, which cameras of old write: two strips instead of a JPEG. */
static struct bytes exif_with_strips(bool big)
{
    struct bytes exif = made_exif(6, big);
    unsigned char *at = made_entry(exif.data + 162, 273, 4, 2, 308, big);
    made_entry(at, 279, 3, 2, 0, big);
    made_number(at + 8, 40, 2, big);
    made_number(at + 10, 24, 2, big);
    made_number(exif.data + 308, 240, 4, big);
    made_number(exif.data + 312, 280, 4, big);
    return exif;
}

static void strips_are_wiped(void)
{
    for (int big = 0; big < 2; big++) {
        struct bytes exif = exif_with_strips(big);
        CHECK(shows_picture(&exif));
        CHECK(esra_exif_settle(&exif) == 6);
        CHECK(!shows_picture(&exif) && memmem(exif.data, exif.size, "maker's note", 12) == exif.data + 224);
        CHECK(esra_exif_settle(&exif) == 1);
        esra_bytes_free(&exif);
    }
}

/* The header, the picture, the directories. */
static void a_thumbnail_may_stand_first(void)
{
    struct bytes exif = {calloc(1, 128), 128};
    memcpy(exif.data, "II*\0\x48\0\0\0", 8);
    memset(exif.data + 8, 0xaa, 64);
    made_number(exif.data + 72, 1, 2, false);
    made_number(made_entry(exif.data + 74, 274, 3, 1, 3, false), 92, 4, false);
    made_number(exif.data + 92, 2, 2, false);
    made_entry(made_entry(exif.data + 94, 0x201, 4, 1, 8, false), 0x202, 4, 1, 64, false);
    CHECK(esra_exif_settle(&exif) == 3);
    CHECK(!shows_picture(&exif));
    CHECK(esra_exif_settle(&exif) == 1);
    esra_bytes_free(&exif);
}

/* Whatever is claimed to be the picture, the directories stay. */
static void directories_are_not_wiped(void)
{
    struct bytes exif = made_exif(6, true), before = made_exif(6, true);
    made_number(exif.data + 170, 0, 4, true);
    made_number(exif.data + 182, (uint32_t)exif.size, 4, true);
    CHECK(esra_exif_settle(&exif) == 6);
    CHECK(!shows_picture(&exif));
    CHECK(memcmp(exif.data, before.data, 30) == 0);             /* up to the orientation */
    CHECK(memcmp(exif.data + 64, before.data + 64, 54) == 0);   /* EXIF */
    CHECK(memcmp(exif.data + 136, before.data + 136, 18) == 0); /* GPS */
    CHECK(esra_exif_has_photo(&exif) && esra_exif_has_gps(&exif));
    esra_bytes_free(&before);
    esra_bytes_free(&exif);
}

/* A million strips that are all the same cost no more than one. */
static void overlapping_strips_end(void)
{
    const uint32_t strips = 1000000, size = 200 + 8 * strips;
    struct bytes exif = {calloc(1, size), size};
    memcpy(exif.data, "II*\0\x08\0\0\0", 8);
    made_number(exif.data + 10, 18, 4, false); /* no entries, then the link */
    made_number(exif.data + 18, 2, 2, false);
    made_entry(made_entry(exif.data + 20, 273, 4, strips, 200, false), 279, 4, strips, 200 + 4 * strips, false);
    for (uint32_t n = 0; n < strips; n++)
        made_number(exif.data + 200 + 4 * (size_t)strips + 4 * (size_t)n, size - 100, 4, false);
    for (uint32_t n = 0; n < strips; n++)
        made_number(exif.data + 200 + 4 * (size_t)n, 100, 4, false);
    CHECK(esra_exif_settle(&exif) == 1);
    esra_bytes_free(&exif);
}

/* A description longer than most, and a copyright of two parts. */
static void texts_are_whole_in_tiff(void)
{
    static const char copyright[] = "Photographer\0Editor";
    for (int big = 0; big < 2; big++) {
        struct photo photo = made_smooth(8, 8, 3), again;
        struct bytes exif = {calloc(1, 3100), 3100};
        char text[3100];
        memcpy(exif.data, big ? "MM\0*\0\0\0\x08" : "II*\0\x08\0\0\0", 8);
        made_number(exif.data + 8, 2, 2, big);
        made_entry(made_entry(exif.data + 10, 270, 2, 3000, 40, big), 0x8298, 2, sizeof copyright, 3040, big);
        memset(exif.data + 40, 'x', 2999);
        memcpy(exif.data + 3040, copyright, sizeof copyright);
        photo.exif = exif;
        if (write_photo(&photo, made_path("t.tif"), 0) && read_photo(&again, made_path("t.tif"))) {
            esra_exif_text(&again.exif, 270, text, sizeof text);
            CHECK(strlen(text) == 2999);
            CHECK(memmem(again.exif.data, again.exif.size, copyright, sizeof copyright) != NULL);
            esra_photo_free(&again);
        }
        esra_photo_free(&photo);
    }
}

/* The date of the photo's own directory, with the parts of a second where they stand beside it. */
static void the_time_is_told(void)
{
    for (int big = 0; big < 2; big++)
        for (int parts = 0; parts < 2; parts++) {
            char text[40];
            struct bytes exif = made_exif(1, big);
            esra_exif_taken(&exif, text, sizeof text);
            CHECK_TEXT(text, "");
            made_entry(exif.data + 66, 0x9003, 2, 20, 240, big);
            made_entry(exif.data + 78, parts ? 0x9291 : 0x927c, 2, 4, big ? 0x31323500 : 0x00353231, big);
            memcpy(exif.data + 240, "2024:05:17 14:03:22", 20);
            esra_exif_taken(&exif, text, sizeof text);
            CHECK_TEXT(text, parts ? "2024:05:17 14:03:22.125" : "2024:05:17 14:03:22");
            exif.size = 250;
            esra_exif_taken(&exif, text, sizeof text);
            CHECK_TEXT(text, "");
            free(exif.data);
        }
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(strips_are_wiped);
    RUN(a_thumbnail_may_stand_first);
    RUN(directories_are_not_wiped);
    RUN(overlapping_strips_end);
    RUN(texts_are_whole_in_tiff);
    RUN(the_time_is_told);
    made_end();
    return check_report();
}
