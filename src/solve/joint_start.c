/* solve/joint_start.c - layers of smaller photos as the start of a level. */
#include <math.h>

#include "solve/joint_object.h"

/* Where sample 0 of a layer of the level lies on that of the smaller photos, in its px; a step is a px on both. */
struct placing {
    double left, top;
};

static int clamp(int n, int count)
{
    return n < 0 ? 0 : n >= count ? count - 1 : n;
}

/* The border is continued. */
static colours sample(const struct joint_level *level, int layer, double x, double y)
{
    int width = level->width[layer], height = level->height[layer];
    int left = (int)floor(x), top = (int)floor(y);
    float right = (float)(x - left), below = (float)(y - top);
    const colours *upper = level->layer[layer] + (size_t)clamp(top, height) * width;
    const colours *lower = level->layer[layer] + (size_t)clamp(top + 1, height) * width;
    int a = clamp(left, width), b = clamp(left + 1, width);
    return (1 - below) * ((1 - right) * upper[a] + right * upper[b]) +
           below * ((1 - right) * lower[a] + right * lower[b]);
}

static void take_layer(struct joint_level *level, int layer, const struct joint_level *from, struct placing placing)
{
    for (int y = 0; y < level->height[layer]; y++)
        for (int x = 0; x < level->width[layer]; x++)
            level->layer[layer][(size_t)y * level->width[layer] + x] =
                sample(from, layer, x + placing.left, y + placing.top);
}

/* Position x of level k is 2^k x + (2^k - 1)/2 of the full size, and X of that is X/2^k of photos halved k times with
 * pixel 0 in its place: x + (1 - 2^-k)/2. A canvas begins at its own (left, top) in each. */
void esra_joint_take_start(struct joint *joint)
{
    const struct joint *start = joint->start;
    const struct joint_level *from = &start->level[start->finest];
    struct joint_level *level = &joint->level[joint->start_level];
    double scale = ldexp(1, -joint->start_level), shift = (1 - scale) / 2;
    take_layer(level, TRANSMITTED, from, (struct placing){shift, shift});
    take_layer(level, REFLECTED, from,
               (struct placing){shift + scale * joint->canvas.left - start->canvas.left,
                                shift + scale * joint->canvas.top - start->canvas.top});
    esra_joint_free(&joint->start);
}
