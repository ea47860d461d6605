/* evidence/opposed.c - whether two layers cancel each other's edges: opposed gradients over those of one sign. */
#include "evidence/opposed.h"

#include <math.h>

struct shares {
    double same, opposed;
};

static void compare(struct shares *shares, double a, double b)
{
    double common = fmin(fabs(a), fabs(b));
    if (a * b > 0)
        shares->same += common;
    else
        shares->opposed += common;
}

double esra_opposed(const struct image *a, const struct image *b)
{
    struct shares shares = {0, 0};
    for (int c = 0; c < a->channels; c++)
        for (int y = 0; y + 1 < a->height; y++) {
            const float *p = plane_row(image_plane(a, c), y), *below_p = plane_row(image_plane(a, c), y + 1);
            const float *q = plane_row(image_plane(b, c), y), *below_q = plane_row(image_plane(b, c), y + 1);
            for (int x = 0; x + 1 < a->width; x++) {
                compare(&shares, p[x + 1] - p[x], q[x + 1] - q[x]);
                compare(&shares, below_p[x] - p[x], below_q[x] - q[x]);
            }
        }
    return shares.same + shares.opposed == 0 ? 1 : shares.opposed / shares.same;
}
