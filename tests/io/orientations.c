/* tests/io/orientations.c - a photo stored lying or mirrored is read upright, from every format. */
#include "tell.h"

#include "io/exif.h"
#include "io/orient.h"

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

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(all_orientations_are_made_upright);
    RUN(jpeg_orientations_are_made_upright);
    RUN(turned_sides_are_told);
    made_end();
    return check_report();
}
