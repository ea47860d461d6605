/* camera/sgm.c - semi-global matching over a cost volume. Every path is a line of pixels: rows are worked on one by
 * one, columns in stripes, in both directions; none depends on another. */
#include "camera/sgm.h"

#include <string.h>

#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"

/* Stands for L before the first label and past the last: never the least, and far from overflowing. */
#define WALL   16000
#define GUARD  16
#define STRIPE 16

static int16_t least_of(const int16_t *values, int count)
{
    int16_t least = WALL;
    for (int k = 0; k < count; k++)
        least = values[k] < least ? values[k] : least;
    return least;
}

/* One step along a path: now <- L at a pixel from `before`, L at the one before it; both have GUARD walls around them.
 * The arrays are parameters, and not members of a struct, so that `restrict` holds and the loop vectorises. */
static void step(const int16_t *restrict before, int16_t *restrict now, const uint8_t *restrict cost,
                 int16_t *restrict sums, int padded, int16_t small, int16_t large)
{
    int16_t least = least_of(before, padded), jump = (int16_t)(least + large);
    for (int k = 0; k < padded; k++) {
        int16_t beside = before[k - 1] < before[k + 1] ? before[k - 1] : before[k + 1];
        int16_t moved = (int16_t)(beside + small), best = before[k] < moved ? before[k] : moved;
        best = best < jump ? best : jump;
        now[k] = (int16_t)(best - least + cost[k]);
        sums[k] = (int16_t)(sums[k] + now[k]);
    }
}

struct paths {
    const struct sgm *sgm;
    int16_t *memory; /* [threads][2][STRIPE][padded + 2 GUARD] */
    size_t each;     /* int16_t of a worker */
};

/* The L of pixel `line` of a stripe; side 0 and 1 take turns. */
static int16_t *state_of(const struct paths *p, int worker, int side, int line)
{
    size_t room = (size_t)p->sgm->padded + 2 * GUARD;
    return p->memory + (size_t)worker * p->each + ((size_t)side * STRIPE + (size_t)line) * room + GUARD;
}

static void raise_walls(const struct paths *p, int worker)
{
    for (size_t n = 0; n < p->each; n++)
        p->memory[(size_t)worker * p->each + n] = WALL;
}

/* The step to pixel n; before the first of a path L is zero. */
static void visit(const struct paths *p, int worker, int line, size_t n, bool first, int side)
{
    const struct sgm *sgm = p->sgm;
    int16_t *before = state_of(p, worker, side, line), *now = state_of(p, worker, !side, line);
    if (first)
        memset(before, 0, (size_t)sgm->padded * sizeof *before);
    step(before, now, sgm->volume + n * (size_t)sgm->padded, sgm->sums + n * (size_t)sgm->padded, sgm->padded,
         sgm->small[n], sgm->large[n]);
    /* Labels past the last stay walls. */
    for (int k = sgm->labels; k < sgm->padded; k++)
        now[k] = WALL;
}

static void run_rows(void *work, int task, int worker)
{
    const struct paths *p = work;
    int width = p->sgm->width;
    raise_walls(p, worker);
    for (int y = rows_begin(task); y < rows_end(task, p->sgm->height); y++) {
        size_t row = (size_t)y * (size_t)width;
        memset(p->sgm->sums + row * (size_t)p->sgm->padded, 0,
               (size_t)width * (size_t)p->sgm->padded * sizeof(int16_t));
        for (int x = 0; x < width; x++)
            visit(p, worker, 0, row + (size_t)x, x == 0, x & 1);
        for (int x = 0; x < width; x++)
            visit(p, worker, 0, row + (size_t)(width - 1 - x), x == 0, x & 1);
    }
}
WIDE_TASK(run_rows)

static void run_columns(void *work, int task, int worker)
{
    const struct paths *p = work;
    int width = p->sgm->width, height = p->sgm->height, left = task * STRIPE;
    int lines = width - left < STRIPE ? width - left : STRIPE;
    raise_walls(p, worker);
    for (int up = 0; up < 2; up++)
        for (int y = 0; y < height; y++) {
            size_t row = (size_t)(up ? height - 1 - y : y) * (size_t)width + (size_t)left;
            for (int line = 0; line < lines; line++)
                visit(p, worker, line, row + (size_t)line, y == 0, y & 1);
        }
}
WIDE_TASK(run_columns)

esra_status esra_sgm_run(const struct sgm *sgm, struct context *context)
{
    struct paths p = {sgm, NULL, 2 * STRIPE * ((size_t)sgm->padded + 2 * GUARD)};
    p.memory = esra_allocate((size_t)esra_context_threads(context) * p.each, sizeof *p.memory);
    if (!p.memory)
        return esra_fail_memory(context->message);
    esra_context_run(context, WIDE(context, run_rows), &p, rows_blocks(sgm->height), NULL);
    esra_context_run(context, WIDE(context, run_columns), &p, (sgm->width + STRIPE - 1) / STRIPE, NULL);
    esra_release(&p.memory);
    return ESRA_OK;
}

float esra_sgm_choose(const struct sgm *sgm, size_t n)
{
    const int16_t *sums = sgm->sums + n * (size_t)sgm->padded;
    int best = 0;
    for (int k = 1; k < sgm->labels; k++)
        best = sums[k] < sums[best] ? k : best;
    if (best == 0 || best == sgm->labels - 1)
        return (float)best;
    float before = sums[best - 1], here = sums[best], after = sums[best + 1], bend = before + after - 2 * here;
    return (float)best + (bend > 0 ? .5f * (before - after) / bend : 0);
}
