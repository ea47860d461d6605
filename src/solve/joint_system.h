/* solve/joint_system.h - the joint objective at one level, the linear system that majorises it, and conjugate
 * gradients.
 *
 *     F(T,R) = sum_x sum_i w_i d^2/2 log(1 + |r_i|^2/(c d^2))  +  sum_l lambda_l sum_x (sqrt(|D L_l|^2/c + e^2) - e)
 *              + lambda_E sum_x (sqrt(|D T - E|^2/c + e^2) - e)
 *              + nu/(2c) sum_l sum_x |min(L_l, 0)|^2 + rho/(2c) sum_x |R|^2,     r_i = I_i - a_i T - b_i S_i R,   {L_l}
 * = {T, R}
 *
 * |.|^2 sums over the c channels: the robust weights and the edges are those of the colours together. Logarithm and
 * root are concave in the squares, so that their tangents there give a quadratic majorant whose weights
 *
 *     omega_i = w_i/(1 + |r_i|^2/(c d^2)),     eta_l = 1/sqrt(|D L_l|^2/c + e^2),    delta_l = [L_l < 0]
 *
 * are frozen while its minimum is approached (iteratively reweighted least squares): no step can enlarge F. */
#ifndef ESRA_SOLVE_JOINT_SYSTEM_H
#define ESRA_SOLVE_JOINT_SYSTEM_H

#include "solve/joint_coarse.h"
#include "solve/joint_level.h"

/* Vectors of the normal equations (T part, R part), sized for the largest level; every level uses their beginnings.
 *
 * S_i' adds a pixel of the frame to four of the canvas, so that blocks of frame rows meet on the canvas. At small
 * levels each block adds into a strip of its own, just the canvas rows it touches, and the strips are then added in
 * order. At large ones strips would be two or three canvases. There blocks come in waves: those of one wave touch no
 * row in common and add to the canvas itself. Waves feed fewer threads: as many as blocks' canvas rows fit beside one
 * another. */
struct joint_system {
    struct joint_level *level;
    struct context *context;
    const double *mixing, *reflection_gain; /* a_i, b_i */
    const double *confidence;               /* of each photo: w_i is this times its mask */
    struct kernels kernels;
    double lambda[JOINT_LAYERS];
    double lambda_expected;
    double robust_scale;        /* d */
    double edge_scale;          /* e */
    double negative;            /* nu */
    double ridge[JOINT_LAYERS]; /* 0 for T, rho for R */
    size_t lean_pixels;         /* from so many on blocks come in waves */
    int layers;                 /* that are solved for: both, or T alone, R being zero */

    colours *residual[JOINT_LAYERS], *direction[JOINT_LAYERS], *image[JOINT_LAYERS]; /* r, p, q = A p */
    float *jacobi[JOINT_LAYERS];                                                     /* 1/diagonal of A */
    struct joint_coarse coarse;                                                      /* the preconditioner's rest */
    float *edge[JOINT_LAYERS][2];      /* lambda_l eta_l, for T with lambda_E eta_E added; down and right */
    uint8_t *dark[JOINT_LAYERS];       /* delta_l, one bit a channel */
    colours *strip[JOINT_BLOCKS_MOST]; /* unless blocks come in waves */
    int strip_low[JOINT_BLOCKS_MOST], strip_high[JOINT_BLOCKS_MOST]; /* the canvas rows of each block */
    bool in_waves;
    int waves, wave_end[JOINT_BLOCKS_MOST]; /* their blocks are order[wave_end of the one before] and on */
    int order[JOINT_BLOCKS_MOST], first;    /* of the blocks; `first` begins the wave at hand */
    size_t strip_pixels;                    /* room for all strips together */
    struct warp_point *row;                 /* [threads * width]: points of warps that have no table */
    double partial[JOINT_LAYERS * JOINT_BLOCKS_MOST][4];
};

/* Row y of S_i's points, for a task of that worker's, until it asks for another. */
static inline const struct warp_point *joint_points(const struct joint_system *system, int i, int y, int worker)
{
    size_t width = (size_t)system->level->width[TRANSMITTED];
    return warp_row(&system->level->warp[i], y, system->row + (size_t)worker * width);
}

static inline bool joint_alone(const struct joint_system *system)
{
    return system->layers == 1;
}

struct joint_value {
    double objective;           /* F */
    double data;                /* its first term */
    double prior[JOINT_LAYERS]; /* the terms of T alone and of R alone */
    double seen;                /* sum of w_i over the pixels where both layers are seen */
    double square;              /* sum of omega_i |r_i|^2/c */
    double trusted;             /* sum of omega_i */
};

/* Samples that the strips of this level need; sets its blocks, their canvas rows, and their waves. */
size_t esra_joint_strips(struct joint_system *system);

void esra_joint_system_layout(struct joint_system *system, const struct joint_level *largest, struct arena *arena);

/* Before the first weights of a level: hands out the strips. */
void esra_joint_system_enter(struct joint_system *system, struct joint_level *level);

/* Freezes the weights at the present layers, returns F there and leaves residual = -grad F and the preconditioner.
 * Where `cold`, the layers are zero and say nothing: all seen pixels and all edges get one weight. */
struct joint_value esra_joint_reweigh(struct joint_system *system, bool cold);

/* Conjugate gradients on the frozen system from the present layers, until |r| in the preconditioner's norm has fallen
 * by `tolerance`. Returns the iterations made, at most `iterations`. */
int esra_joint_descend(struct joint_system *system, int iterations, double tolerance);

#endif
