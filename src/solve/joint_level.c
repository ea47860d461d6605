/* solve/joint_level.c - one resolution of the joint two-layer problem. */
#include "solve/joint_level.h"

#include <math.h>
#include <string.h>

#include "base/cells.h"

static colours *take_colours(struct arena *arena, size_t pixels)
{
    return esra_arena_take(arena, pixels, sizeof(colours));
}

void esra_joint_level_layout_photos(struct joint_level *level, struct arena *arena)
{
    size_t pixels = joint_pixels(level, TRANSMITTED);
    for (int i = 0; i < level->photos; i++) {
        level->photo[i] = esra_arena_take(arena, pixels * (size_t)level->channels, sizeof(float));
        level->mask[i] = esra_arena_take(arena, pixels, sizeof(float));
    }
}

void esra_joint_level_layout_expected(struct joint_level *level, struct arena *arena)
{
    for (int direction = 0; direction < 2; direction++)
        level->expected[direction] = take_colours(arena, joint_pixels(level, TRANSMITTED));
}

void esra_joint_level_layout_layers(struct joint_level *level, bool table, struct arena *arena)
{
    for (int i = 0; i < level->photos; i++) {
        struct warp *warp = &level->warp[i];
        level->weight[i] = esra_arena_take(arena, joint_pixels(level, TRANSMITTED), sizeof(float));
        *warp = (struct warp){
            .width = level->width[TRANSMITTED],
            .height = level->height[TRANSMITTED],
            .canvas_width = level->width[REFLECTED],
            .canvas_height = level->height[REFLECTED],
        };
        esra_warp_layout(warp, table, arena);
    }
    for (int k = 0; k < JOINT_LAYERS; k++)
        level->layer[k] = take_colours(arena, joint_pixels(level, k));
}

void esra_joint_level_divide(struct joint_level *level, const struct context *context)
{
    int most = context->parent ? JOINT_BLOCKS_JOB : JOINT_BLOCKS_MOST;
    level->blocks = 1;
    while (level->blocks < most && joint_pixels(level, TRANSMITTED) >= (size_t)(2 * level->blocks * JOINT_BLOCK_PIXELS))
        level->blocks *= 2;
}

struct resize {
    struct joint_level *coarse, *fine;
    const struct image *maps; /* of the warps to fill: NULL, homographies that they have; or maps on a grid `step` times
                                 as fine, to a canvas that begins at (left, top) */
    int step, left, top;
};

/* The four fine samples under one coarse one. */
struct four {
    size_t sample[4];
};

static struct four four_under(const struct joint_level *fine, int x, int y)
{
    size_t width = (size_t)fine->width[TRANSMITTED], above = (size_t)(2 * y) * width;
    size_t below = (size_t)cell_second(y, fine->height[TRANSMITTED]) * width;
    int left = 2 * x, right = cell_second(x, (int)width);
    return (struct four){{above + left, above + right, below + left, below + right}};
}

static void halve_rows(void *work, int task, int worker)
{
    const struct resize *resize = work;
    const struct joint_level *coarse = resize->coarse, *fine = resize->fine;
    int i = task / coarse->blocks, begin, end, width = coarse->width[TRANSMITTED];
    size_t pixels = joint_pixels(coarse, TRANSMITTED), fine_pixels = joint_pixels(fine, TRANSMITTED);
    (void)worker;
    joint_block(coarse, TRANSMITTED, task % coarse->blocks, &begin, &end);
    for (int y = begin; y < end; y++)
        for (int x = 0; x < width; x++) {
            struct four four = four_under(fine, x, y);
            const size_t *s = four.sample;
            size_t n = (size_t)y * width + x;
            for (int c = 0; c < fine->channels; c++) {
                const float *photo = fine->photo[i] + c * fine_pixels;
                coarse->photo[i][c * pixels + n] = 0.25f * ((photo[s[0]] + photo[s[1]]) + (photo[s[2]] + photo[s[3]]));
            }
            coarse->mask[i][n] = fminf(fminf(joint_mask(fine, i, s[0]), joint_mask(fine, i, s[1])),
                                       fminf(joint_mask(fine, i, s[2]), joint_mask(fine, i, s[3])));
        }
}

void esra_joint_level_halve(struct joint_level *coarse, const struct joint_level *fine, struct context *context)
{
    struct resize resize = {.coarse = coarse, .fine = (struct joint_level *)fine};
    esra_context_run(context, halve_rows, &resize, coarse->photos * coarse->blocks, NULL);
}

static void aim_rows(void *work, int task, int worker)
{
    const struct resize *resize = work;
    int blocks = resize->fine->blocks, i = task / blocks, begin, end;
    (void)worker;
    joint_block(resize->fine, TRANSMITTED, task % blocks, &begin, &end);
    if (resize->maps)
        esra_warp_fill_map(&resize->fine->warp[i],
                           &(struct warp_map){image_plane(&resize->maps[i], 0), image_plane(&resize->maps[i], 1),
                                              resize->step, resize->left, resize->top},
                           begin, end);
    else
        esra_warp_fill(&resize->fine->warp[i], begin, end);
}

void esra_joint_level_aim(struct joint_level *level, const double *motion, struct context *context)
{
    struct resize resize = {.fine = level};
    for (int i = 0; i < level->photos; i++)
        memcpy(level->warp[i].motion, motion + 9 * i, sizeof level->warp[i].motion);
    esra_context_run(context, aim_rows, &resize, level->photos * level->blocks, NULL);
}

void esra_joint_level_aim_maps(struct joint_level *level, const struct image *maps, int step, int left, int top,
                               struct context *context)
{
    struct resize resize = {.fine = level, .maps = maps, .step = step, .left = left, .top = top};
    esra_context_run(context, aim_rows, &resize, level->photos * level->blocks, NULL);
}

static void prolong_row(const colours *near, const colours *far, int coarse_width, colours *out, int width)
{
    for (int x = 0; x < width; x++) {
        int u = x / 2, v = cell_beside(x, coarse_width);
        out[x] = 0.75f * (0.75f * near[u] + 0.25f * near[v]) + 0.25f * (0.75f * far[u] + 0.25f * far[v]);
    }
}

static void prolong_rows(void *work, int task, int worker)
{
    const struct resize *resize = work;
    int blocks = resize->fine->blocks, k = task / blocks, begin, end;
    int coarse_width = resize->coarse->width[k], coarse_height = resize->coarse->height[k];
    (void)worker;
    joint_block(resize->fine, k, task % blocks, &begin, &end);
    for (int y = begin; y < end; y++) {
        const colours *coarse = resize->coarse->layer[k];
        const colours *near = coarse + (size_t)(y / 2) * coarse_width;
        const colours *far = coarse + (size_t)cell_beside(y, coarse_height) * coarse_width;
        prolong_row(near, far, coarse_width, resize->fine->layer[k] + (size_t)y * resize->fine->width[k],
                    resize->fine->width[k]);
    }
}

void esra_joint_level_prolong(const struct joint_level *coarse, struct joint_level *fine, struct context *context)
{
    struct resize resize = {.coarse = (struct joint_level *)coarse, .fine = fine};
    esra_context_run(context, prolong_rows, &resize, JOINT_LAYERS * fine->blocks, NULL);
}
