/* solve/joint_system.c - the workspace of the joint solve. */
#include "solve/joint_system.h"

/* All strips together are at most so many canvases: past that, clearing and adding what overlaps costs a tenth of an
 * iteration, and more blocks would hardly be faster. */
#define STRIPS_MOST 3

static size_t place_strips(struct joint_system *system)
{
    const struct joint_level *level = system->level;
    size_t rows = 0;
    for (int block = 0; block < level->blocks; block++) {
        int begin, end, low = level->height[REFLECTED], high = 0;
        joint_block(level, TRANSMITTED, block, &begin, &end);
        for (int i = 0; i < level->photos; i++)
            for (int y = begin; y < end; y++) {
                const struct warp *warp = &level->warp[i];
                if (warp->low[y] >= warp->high[y])
                    continue;
                low = warp->low[y] < low ? warp->low[y] : low;
                high = warp->high[y] > high ? warp->high[y] : high;
            }
        system->strip_low[block] = low < high ? low : 0;
        system->strip_high[block] = low < high ? high : 0;
        rows += (size_t)(system->strip_high[block] - system->strip_low[block]);
    }
    return rows * (size_t)level->width[REFLECTED];
}

/* Whether a block touches a canvas row that one of the wave's does, which is order[begin .. end - 1]. */
static bool meets_wave(const struct joint_system *system, int block, int begin, int end)
{
    for (int n = begin; n < end; n++) {
        int other = system->order[n];
        if (system->strip_low[block] < system->strip_high[other] &&
            system->strip_low[other] < system->strip_high[block])
            return true;
    }
    return false;
}

/* Each wave takes what it can of the blocks that are left, in their order. */
static void order_waves(struct joint_system *system)
{
    bool taken[JOINT_BLOCKS_MOST] = {false};
    int blocks = system->level->blocks, end = 0;
    for (system->waves = 0; end < blocks; system->waves++) {
        int begin = end;
        for (int block = 0; block < blocks; block++)
            if (!taken[block] && !(system->in_waves && meets_wave(system, block, begin, end))) {
                taken[block] = true;
                system->order[end++] = block;
            }
        system->wave_end[system->waves] = end;
    }
}

size_t esra_joint_strips(struct joint_system *system)
{
    struct joint_level *level = system->level;
    esra_joint_level_divide(level, system->context);
    size_t samples = place_strips(system);
    system->in_waves = joint_pixels(level, TRANSMITTED) >= system->lean_pixels;
    while (!system->in_waves && level->blocks > 1 && samples > STRIPS_MOST * joint_pixels(level, REFLECTED)) {
        level->blocks /= 2;
        samples = place_strips(system);
    }
    order_waves(system);
    return system->in_waves ? 0 : samples;
}

void esra_joint_system_layout(struct joint_system *system, const struct joint_level *largest, struct arena *arena)
{
    for (int k = 0; k < JOINT_LAYERS; k++) {
        size_t pixels = joint_pixels(largest, k);
        system->residual[k] = esra_arena_take(arena, pixels, sizeof(colours));
        system->direction[k] = esra_arena_take(arena, pixels, sizeof(colours));
        system->image[k] = esra_arena_take(arena, pixels, sizeof(colours));
        system->jacobi[k] = esra_arena_take(arena, pixels, sizeof(float));
        system->edge[k][0] = esra_arena_take(arena, pixels, sizeof(float));
        system->edge[k][1] = esra_arena_take(arena, pixels, sizeof(float));
        system->dark[k] = esra_arena_take(arena, pixels, sizeof(uint8_t));
    }
    size_t threads = (size_t)esra_context_threads(system->context), width = (size_t)largest->width[TRANSMITTED];
    system->row = esra_arena_take(arena, threads * width, sizeof *system->row);
    system->strip[0] = esra_arena_take(arena, system->strip_pixels, sizeof(colours));
}

void esra_joint_system_enter(struct joint_system *system, struct joint_level *level)
{
    system->level = level;
    esra_joint_strips(system);
    for (int block = 1; !system->in_waves && block < level->blocks; block++)
        system->strip[block] =
            system->strip[block - 1] +
            (size_t)(system->strip_high[block - 1] - system->strip_low[block - 1]) * (size_t)level->width[REFLECTED];
}
