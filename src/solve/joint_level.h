/* solve/joint_level.h - one resolution of the joint two-layer problem: the photos, how the reflection is seen in each,
 * and the two layers. Level 0 is the full size; level k+1 averages 2x2 pixels of level k, so that position x of level k
 * is (x - 1/2)/2 of level k+1, in the frame and on the reflection's canvas alike. */
#ifndef ESRA_SOLVE_JOINT_LEVEL_H
#define ESRA_SOLVE_JOINT_LEVEL_H

#include <stdint.h>

#include "base/context.h"
#include "ops/warp.h"

/* Work is cut into as many blocks of rows whatever the number of threads, so that sums are added in one order. More
 * blocks feed more threads but enlarge the overlap of their strips (joint_system.h). A block has some 25 us of work,
 * ten times what it takes a thread that spins to begin: 2048 pixels of five photos. A solve that is one of several jobs
 * has a few at the most: four or five jobs keep 16 threads busy. */
#define JOINT_BLOCKS_MOST  32
#define JOINT_BLOCKS_JOB   4
#define JOINT_BLOCK_PIXELS 2048

enum { TRANSMITTED, REFLECTED, JOINT_LAYERS };

struct joint_level {
    int photos;                                    /* m */
    int channels;                                  /* c <= COLOURS */
    int width[JOINT_LAYERS], height[JOINT_LAYERS]; /* of the frame, and of the reflection's canvas */
    int blocks;                                    /* of rows, in frame and canvas: 1 to JOINT_BLOCKS_MOST */
    float **photo;                                 /* [m]: I_i, plane after plane; borrowed at level 0 */
    float **mask;                                  /* [m]: w_i in [0,1], or NULL: all seen; borrowed at level 0 */
    float **weight;               /* [m]: w_i, its robust weight and the photo's confidence; 0 where R is not seen */
    struct warp *warp;            /* [m]: S_i */
    colours *layer[JOINT_LAYERS]; /* T, R */
    colours *expected[2];         /* E, down and right; NULL where there is none */
};

/* Rows [*begin, *end) of a layer's block number `block`. */
static inline void joint_block(const struct joint_level *level, int layer, int block, int *begin, int *end)
{
    long long height = level->height[layer];
    *begin = (int)(height * block / level->blocks);
    *end = (int)(height * (block + 1) / level->blocks);
}

static inline size_t joint_pixels(const struct joint_level *level, int layer)
{
    return (size_t)level->width[layer] * (size_t)level->height[layer];
}

/* Blocks for the frame's size: a power of two, so that threads get alike shares. */
void esra_joint_level_divide(struct joint_level *level, const struct context *context);

/* E; the frame's size must be set. */
void esra_joint_level_layout_expected(struct joint_level *level, struct arena *arena);

/* All colours of photo i at pixel n. */
static inline colours joint_photo(const struct joint_level *level, int i, size_t n)
{
    size_t plane = joint_pixels(level, TRANSMITTED);
    colours value = {0};
    for (int c = 0; c < level->channels; c++)
        value[c] = level->photo[i][c * plane + n];
    return value;
}

static inline float joint_mask(const struct joint_level *level, int i, size_t n)
{
    return level->mask[i] ? level->mask[i][n] : 1;
}

/* Photos and masks of a level past the first; the frame's size must be set. */
void esra_joint_level_layout_photos(struct joint_level *level, struct arena *arena);

/* Robust weights, warps and layers; the canvas' size must be set as well. Warps by dense maps need their tables. */
void esra_joint_level_layout_layers(struct joint_level *level, bool table, struct arena *arena);

/* coarse's photos and masks from fine's. A coarse pixel is seen where all of its pixels are: its mask is the least. */
void esra_joint_level_halve(struct joint_level *coarse, const struct joint_level *fine, struct context *context);

/* Fills the warps from g_i, frame pixel to canvas pixel of this level. */
void esra_joint_level_aim(struct joint_level *level, const double *motion, struct context *context);

/* Fills them from dense maps: full-size pixels to full-size pixels of R's frame, of which the canvas begins at
 * (left, top); this level is coarser by `step`. */
void esra_joint_level_aim_maps(struct joint_level *level, const struct image *maps, int step, int left, int top,
                               struct context *context);

/* fine's layers from coarse's, bilinearly. */
void esra_joint_level_prolong(const struct joint_level *coarse, struct joint_level *fine, struct context *context);

#endif
