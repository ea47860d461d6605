/* tests/io/formats.c - what is written is read again: pixels, depth, profile and EXIF, for every format. */
#define _GNU_SOURCE
#include "tell.h"

#include "io/exif.h"
#include "io/orient.h"

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

/* To the byte: an APP1 of 65,533 bytes less its name, 255 APP2 of 65,519 bytes, 65,500 px. Nothing of it is looked at.
 */
static void what_jpeg_can_hold(void)
{
    static unsigned char byte;
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    struct message message;
    const struct photo fits = {.pixels = {NULL, 65500, 65500, 3}, .exif = {&byte, 65527}, .icc = {&byte, 255 * 65519}};
    for (int n = 0; n < 4; n++) {
        struct photo photo = fits;
        photo.pixels.width += n == 1;
        photo.exif.size += n == 2;
        photo.icc.size += n == 3;
        CHECK(esra_photo_check_fits(&photo, "a.jpg", &options, &message) == (n ? ESRA_BAD_DATA : ESRA_OK));
        CHECK(esra_photo_check_fits(&photo, "a.png", &options, &message) == ESRA_OK);
    }
    CHECK(esra_photo_check_fits(&fits, "a.xyz", &options, &message) == ESRA_BAD_ARGUMENT);
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
    RUN(the_name_does_not_matter);
    RUN(other_files_are_refused);
    RUN(wishes_are_checked);
    RUN(what_jpeg_can_hold);
    RUN(an_old_file_survives);
    RUN(from_standard_input);
    RUN(shared_photos_are_read);
    made_end();
    return check_report();
}
