/* solve/joint_coarse.h - the part of the joint system's preconditioner that is for what is smooth. */
#ifndef ESRA_SOLVE_JOINT_COARSE_H
#define ESRA_SOLVE_JOINT_COARSE_H

#include "solve/joint_level.h"

/* Cells of 2, 4, ..., 32 pixels. */
#define COARSE_LEVELS 5

struct joint_system;

/* Cells of one size, on the grid of R's canvas: sum_{n in cell} r_n and, in its place afterwards, z of the cell. */
struct coarse_level {
    int width, height;
    colours *cell[JOINT_LAYERS];
    float *own[JOINT_LAYERS], *shared; /* the 2x2 matrix of a cell, then its inverse */
};

struct joint_coarse {
    bool wanted;   /* by the descent at hand */
    int left, top; /* pixel (0,0) of the frame in the canvas */
    int bands;     /* of 2^COARSE_LEVELS rows: a task each */
    struct coarse_level level[COARSE_LEVELS];
    double *norm; /* [bands]: shares of <r, z> */
};

/* Room for the cells of that level and of coarser ones. */
void esra_joint_coarse_layout(struct joint_coarse *coarse, const struct joint_level *largest, struct arena *arena);

/* Before the first descent at a level: the frame begins at (left, top) of its canvas. */
void esra_joint_coarse_enter(struct joint_coarse *coarse, const struct joint_level *level, int left, int top);

/* The matrices of the cells, of weights that are frozen. Needs the diagonals (joint_descend.c). */
void esra_joint_coarse_prepare(struct joint_system *system);

/* z of the cells from the residual; returns their share of <r, z>. */
double esra_joint_coarse_apply(struct joint_system *system);

/* Adds the cells' z to row y of layer k. */
static inline void joint_coarse_add(const struct joint_coarse *coarse, int k, int y, int width, colours *z)
{
    const struct coarse_level *finest = &coarse->level[0];
    int left = k == TRANSMITTED ? coarse->left : 0, top = k == TRANSMITTED ? coarse->top : 0;
    const colours *row = finest->cell[k] + (size_t)((y + top) / 2) * (size_t)finest->width;
    for (int x = 0; x < width; x++)
        z[x] += row[(x + left) / 2];
}

#endif
