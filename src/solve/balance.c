/* solve/balance.c - step sizes from the way gone. */
#include "solve/balance.h"

#include <math.h>
#include <string.h>

#include "ops/diff.h"

#define SAMPLED_ROWS 24

/* r1 is best at about this multiple of the quotient of the ways: from 3 to 5 iterations change little, at 1 and at 10
 * they are up to twice as many (photographs with good and poor gradients, lambda from 1e-3 to 0.3). */
#define FIRST_GAIN 4

/* Lower the gain when, in one iteration, the duals move less than the layers (both in the metric M/r1): r1 is too
 * large. Happens for large lambda and unseen pixels, where more modes than c are poorly determined. */
#define HASTE     0.95
#define GAIN_STEP 3

/* Where the gap asked for is near, r1 is at most its present value times ratio - ENDING, with ratio that by which u
 * moves further than x in one iteration. In five photos of 12 MP r1 (ratio - 1) is .32, .26, .23 for an r1 of .2, .4,
 * 1: about the same wherever it is looked at from, and the r1 that takes fewest iterations to a gap of .01. */
#define ENDING 1

/* Where more of the gap than this is slack, r1 is raised by the root of slack over the rest. Large smooth photos, whose
 * duals have little way to go at first, come to .76 to .92, and the last tenth of their gap takes up to five times as
 * many iterations if r1 stays; small ones do not reach it (doc/notes/fast-engine.md). */
#define SLACK_MOST .7

/* Late, only the rounding error of x is left, which enters u times r1/lambda: the gain is halved whenever the number of
 * iterations has doubled. */
#define LATE_STEP 2

/* A step size changes by no more than this factor at once: early distances are unreliable. */
#define LARGEST_CHANGE 4

/* r2 is left alone while the distances that z and x move in one iteration differ by less than this factor; otherwise it
 * changes by the square root of that factor, which brings them half way together. Where
 * the data press layers against their bounds, as noise beyond the box does, z has far to go. */
#define TOLERATED 16

static int stride_of(const struct level *level)
{
    return (level->height - 1) / SAMPLED_ROWS + 1;
}

/* x, p, q and z come first in a record. */
static size_t sampled_floats(const struct level *level)
{
    return (size_t)LEVEL_E_VERTICAL * (size_t)level->layers * (size_t)level->pitch;
}

static int sampled_rows(const struct level *level)
{
    return (level->height - 1) / stride_of(level) + 1;
}

void esra_balance_lay_out(struct balance *balance, struct arena *arena, const struct level *largest)
{
    int rows = largest->height < SAMPLED_ROWS ? largest->height : SAMPLED_ROWS;
    balance->start = esra_arena_take(arena, sampled_floats(largest) * (size_t)rows, sizeof(float));
    balance->before = esra_arena_take(arena, sampled_floats(largest) * (size_t)rows, sizeof(float));
}

static void remember(float *to, const struct level *level)
{
    for (int n = 0; n < sampled_rows(level); n++)
        memcpy(to + (size_t)n * sampled_floats(level), level->data + n * stride_of(level) * level->record,
               sampled_floats(level) * sizeof(float));
}

struct steps esra_balance_start(const struct balance *balance, const struct level *level, struct steps now)
{
    remember(balance->start, level);
    return (struct steps){now.r1, now.box, FIRST_GAIN};
}

void esra_balance_before(const struct balance *balance, const struct level *level)
{
    remember(balance->before, level);
}

/* Squared ways: |dx|^2, |dx|^2 in the metric B that r1 weighs, |du|^2, |dz|^2. */
struct way {
    double x, metric, u, z;
};

/* The part of dx along c at column c, times |c|^2. */
static double along(const struct level *level, const float *null, const float *before, const float *now, int column)
{
    double sum = 0;
    for (int l = 0; l < level->layers; l++)
        sum -= (double)null[l] * (now[l * level->pitch + column] - before[l * level->pitch + column]);
    return sum;
}

/* null = -c/|c|^2. Along c the metric is D'D, across it the number 8. */
static void add_row(struct way *way, const struct level *level, const float *null, const float *before,
                    const float *now)
{
    ptrdiff_t kind = level->layers * level->pitch;
    double norm = -1 / (double)null[0], part = along(level, null, before, now, 0);
    for (int c = 0; c < level->width; c++) {
        double next = c < level->width - 1 ? along(level, null, before, now, c + 1) : part, all = 0;
        for (ptrdiff_t at = c; at < kind; at += level->pitch) {
            double x = now[at] - before[at], p = now[kind + at] - before[kind + at];
            double q = now[2 * kind + at] - before[2 * kind + at], z = now[3 * kind + at] - before[3 * kind + at];
            all += x * x;
            way->u += p * p + q * q;
            way->z += z * z;
        }
        way->x += all;
        /* Down as much as across: rows below are not sampled. */
        way->metric += DIFF_NORM_SQUARED * (all - norm * part * part) + 2 * norm * (next - part) * (next - part);
        part = next;
    }
}

static double towards(double now, double wanted)
{
    return fmin(fmax(wanted, now / LARGEST_CHANGE), now * LARGEST_CHANGE);
}

static struct way way_since(const float *before, const struct level *level, const float *null)
{
    struct way way = {0};
    for (int n = 0; n < sampled_rows(level); n++)
        add_row(&way, level, null, before + (size_t)n * sampled_floats(level),
                level->data + n * stride_of(level) * level->record);
    return way;
}

struct steps esra_balance_steps(const struct balance *balance, const struct level *level, const float *null,
                                struct steps now, bool late)
{
    struct way all = way_since(balance->start, level, null), last = way_since(balance->before, level, null);
    struct steps next = now;
    double ratio = last.metric > 0 ? level->lambda * sqrt(last.u / last.metric) / now.r1 : INFINITY;
    if (ratio < HASTE)
        next.gain = now.gain / GAIN_STEP;
    if (late)
        next.gain = fmin(next.gain, now.gain / LATE_STEP);
    if (balance->given)
        next.r1 = now.r1 * next.gain / now.gain;
    else if (all.metric > 0 && all.u > 0)
        next.r1 = towards(now.r1, next.gain * level->lambda * sqrt(all.u / all.metric));
    if (balance->ending && !balance->given)
        next.r1 = fmin(next.r1, towards(now.r1, (ratio - ENDING) * now.r1));
    if (balance->slack > SLACK_MOST && !late && !balance->given)
        next.r1 = fmax(next.r1, towards(now.r1, now.r1 * sqrt(balance->slack / (1 - balance->slack))));
    double imbalance = last.x > 0 ? sqrt(last.z / last.x) / (now.box * now.r1) : 1;
    if (imbalance > TOLERATED)
        next.box = towards(now.box, now.box * sqrt(imbalance));
    return next;
}
