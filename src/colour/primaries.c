/* colour/primaries.c - linear light of one RGB space as linear light of another.
 *
 * With A the primaries of one space and B those of the other, as columns of XYZ, equal colours have A a = B b. Profiles
 * round their columns and some leave out the adaptation to D50, so that A 1 and B 1, the whites, are not quite one.
 * Each is scaled to the same white: b = B^-1 diag(B 1 / A 1) A a, which takes 1 to 1. */
#include "colour/primaries.h"

#include <math.h>

/* sRGB's determinant is 0.20; 4 is twice what any coordinate of a real light has when white has about 1. */
#define LEAST_DETERMINANT  0.02
#define LARGEST_COORDINATE 4.0
#define LEAST_WHITE        0.2

/* Columns are rounded to 1e-4 in some profiles, and inverses of narrow spaces have entries of about 5. Spaces that
 * differ at all differ by more: sRGB and Display P3 by 0.22. */
#define SAME_SPACE 2e-3

static double determinant(const double *a)
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) + a[2] * (a[3] * a[7] - a[4] * a[6]);
}

static double white(const struct primaries *primaries, int row)
{
    return primaries->xyz[3 * row] + primaries->xyz[3 * row + 1] + primaries->xyz[3 * row + 2];
}

bool esra_primaries_usable(const struct primaries *primaries)
{
    for (int n = 0; n < 9; n++)
        if (!(fabs(primaries->xyz[n]) <= LARGEST_COORDINATE))
            return false;
    for (int row = 0; row < 3; row++)
        if (!(white(primaries, row) >= LEAST_WHITE))
            return false;
    return fabs(determinant(primaries->xyz)) >= LEAST_DETERMINANT;
}

/* By cofactors. */
static void invert(const double *a, double *inverse)
{
    double d = determinant(a);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++) {
            const double *r1 = a + 3 * ((column + 1) % 3), *r2 = a + 3 * ((column + 2) % 3);
            int c1 = (row + 1) % 3, c2 = (row + 2) % 3;
            inverse[3 * row + column] = (r1[c1] * r2[c2] - r1[c2] * r2[c1]) / d;
        }
}

struct colour_map esra_colour_map(const struct primaries *from, const struct primaries *to)
{
    struct colour_map map = {.same = true};
    double inverse[9];
    invert(to->xyz, inverse);
    for (int n = 0; n < 9; n++) {
        double sum = 0;
        for (int k = 0; k < 3; k++)
            sum += inverse[n / 3 * 3 + k] * (white(to, k) / white(from, k)) * from->xyz[3 * k + n % 3];
        map.m[n] = (float)sum;
        map.same = map.same && fabs(sum - (n % 4 == 0)) <= SAME_SPACE;
    }
    return map;
}

void esra_colour_map_apply(const struct colour_map *map, struct image *image)
{
    size_t size = image_pixels(image);
    float *r = image->data, *g = r + size, *b = g + size;
    const float *m = map->m;
    if (map->same || image->channels != 3)
        return;
    for (size_t n = 0; n < size; n++) {
        float red = r[n], green = g[n], blue = b[n];
        r[n] = m[0] * red + m[1] * green + m[2] * blue;
        g[n] = m[3] * red + m[4] * green + m[5] * blue;
        b[n] = m[6] * red + m[7] * green + m[8] * blue;
    }
}
