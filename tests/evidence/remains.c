/* tests/evidence/remains.c - what layers leave of a photo: counted by sign, and by the largest patch in one piece. */
#include "evidence/remains.h"

#include "check.h"

#define WIDTH  200
#define HEIGHT 120
#define CELL   (WIDTH / 40)

static struct message message;
static struct image shown, predicted, mask, weight;

static void make(struct image *image, float value)
{
    CHECK(esra_image_create(image, WIDTH, HEIGHT, 1, &message) == ESRA_OK);
    for (int n = 0; n < WIDTH * HEIGHT; n++)
        image->data[n] = value;
}

static void make_all(void)
{
    make(&shown, .5f);
    make(&predicted, .5f);
    make(&mask, 1);
    make(&weight, 1);
}

static void free_all(void)
{
    esra_image_free(&shown);
    esra_image_free(&predicted);
    esra_image_free(&mask);
    esra_image_free(&weight);
}

/* A rectangle of whole cells that neither layer explains, in which the photo shows that much. */
static void lose(int left, int top, int across, int down, float value)
{
    for (int y = top * CELL; y < (top + down) * CELL; y++)
        for (int x = left * CELL; x < (left + across) * CELL; x++) {
            shown.data[y * WIDTH + x] = value;
            weight.data[y * WIDTH + x] = .05f;
        }
}

static struct remains find(void)
{
    struct explained_photo photo = {&shown, &predicted, &mask, &weight};
    struct remains remains;
    CHECK(esra_remains_find(&photo, &remains, &message) == ESRA_OK);
    return remains;
}

static void what_is_explained_leaves_nothing(void)
{
    make_all();
    struct remains r = find();
    CHECK(r.darker == 0 && r.brighter == 0 && r.patches == 0 && r.largest == 0);
    free_all();
}

/* Two patches, the second of which bends around a corner; cells that touch at corners only are apart. */
static void patches_are_counted_in_one_piece(void)
{
    const double cells = 40. * (HEIGHT / CELL), pixels = WIDTH * HEIGHT;
    make_all();
    lose(2, 2, 3, 2, .1f);
    lose(10, 5, 4, 1, .9f);
    lose(13, 6, 1, 5, .9f);
    lose(14, 11, 2, 1, .9f);
    struct remains r = find();
    CHECK_NEAR(r.patches, (6 + 4 + 5 + 2) / cells, 1e-12);
    CHECK_NEAR(r.largest, 9 / cells, 1e-12);
    CHECK_NEAR(r.darker, 6 * CELL * CELL / pixels, 1e-12);
    CHECK_NEAR(r.brighter, 11 * CELL * CELL / pixels, 1e-12);
    free_all();
}

static void cells_that_are_partly_unseen_are_no_patch(void)
{
    make_all();
    lose(2, 2, 3, 2, .1f);
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < 3 * CELL - 1; x++)
            mask.data[y * WIDTH + x] = 0;
    struct remains r = find();
    CHECK_NEAR(r.patches, 4 / (40. * (HEIGHT / CELL)), 1e-12);
    free_all();
}

int main(void)
{
    RUN(what_is_explained_leaves_nothing);
    RUN(patches_are_counted_in_one_piece);
    RUN(cells_that_are_partly_unseen_are_no_patch);
    return check_report();
}
