/* solve/fast_level.h - one resolution of a channel, as the fast engine holds it: state and data of a pixel row lie
 * together, plane after plane, so that a sweep walks through memory once.
 *
 * While a coarse level is worked on, the state of the next finer one is not there yet: the coarse level lives in its
 * place. Row j of height h' stands in row h - h' + LEVEL_SPARE + j of the finer one of height h. Refining from the top
 * down then overwrites row y - (h - h') - LEVEL_SPARE when rows from y/2 - 1 on are still to be read, which are further
 * down. */
#ifndef ESRA_SOLVE_FAST_LEVEL_H
#define ESRA_SOLVE_FAST_LEVEL_H

#include <stdbool.h>

#include "base/memory.h"
#include "base/plane.h"
#include "kernels/kernels.h"
#include "solve/problem.h"

/* The planes of a level in a row's record; those with a count stand for one of each layer or photo. */
enum level_plane {
    LEVEL_X,
    LEVEL_P,
    LEVEL_Q,
    LEVEL_Z,
    LEVEL_E_VERTICAL,
    LEVEL_E_HORIZONTAL,
    LEVEL_EXPECTED = LEVEL_E_VERTICAL, /* in place of both, where the problem has it, on the finest level */
    LEVEL_MIXTURE = LEVEL_E_HORIZONTAL + 1,
    LEVEL_WEIGHT,
    LEVEL_G
};

/* Rows past its last that a finer level needs for the coarser one in its place. The finest has them twice: a third
 * level stands in the second alike. */
#define LEVEL_SPARE  4
#define LEVEL_SPARES (2 * LEVEL_SPARE)

struct level {
    int width, height;
    bool nested; /* stands in the next finer level */
    int spare;   /* rows past its last */
    int photos, layers;
    bool weighted, expected;
    double lambda;
    ptrdiff_t pitch, record; /* floats from plane to plane of a row, and from row to row */
    float *data;             /* first float of the first plane, KERNEL_PAD floats into the block */
};

/* finer: the next finer level, which lends its place where that is large enough; NULL for the finest. */
void esra_level_lay_out(struct level *level, struct arena *arena, const struct problem *problem, int width, int height,
                        const struct level *finer);

/* The number'th plane of a kind. */
struct plane esra_level_plane(const struct level *level, enum level_plane kind, int number);

/* Row y of everything, for the kernels; bar, bar_below and correction are the caller's. */
struct sweep_row esra_level_row(const struct level *level, const float *zeros, int y);

/* Row y of a channel from the caller's arrays, the state zero; and of photo i's weights, which are those of all
 * channels.
 */
void esra_level_load_row(const struct level *level, const struct problem *problem, int channel, int y);
void esra_level_weigh_row(const struct level *level, const struct problem *problem, int i, int y);

/* Row y of the data of half the resolution. */
void esra_level_coarsen_row(const struct level *fine, const struct level *coarse, int y);

/* The first guess of row y of x, pixel by pixel: L_0 = the least of the photos, L_i = photo i - a_i L_0. */
void esra_level_guess_row(const struct level *level, const float *a, int y);

/* Row y of x as the expected layers have it; a reflection that is not known as photo i - a_i L_0. */
void esra_level_expect_row(const struct level *level, const float *a, int y);

/* Row y of x and u from the caller's start. */
void esra_level_resume_row(const struct level *level, const struct problem *problem, int channel, int y);

/* Row y of z, the box's dual that goes with x and u, whose rows y-1 and y are known. */
void esra_level_settle_row(const struct level *level, const float *a, int y);

/* Row y of the state, from half the resolution; rows in order where the coarse level is nested in the fine one. */
void esra_level_prolong_row(const struct level *coarse, const struct level *fine, int y);

#endif
