/* solve/joint_apply.h - rows of the frozen quadratic's operator, shared by the residual and the product A p. */
#ifndef ESRA_SOLVE_JOINT_APPLY_H
#define ESRA_SOLVE_JOINT_APPLY_H

#include "solve/joint_system.h"

/* Runs a task for every block of `layers` layers, the first layer's first. A single block is too little work to wake
 * threads for. */
void esra_joint_run(struct joint_system *system, pool_task *run, void *work, int layers);

/* out = lambda D' eta D v + nu delta v + RIDGE v in row y of layer k. */
void esra_joint_smooth_row(const struct joint_system *system, int k, const colours *v, int y, colours *out);

/* Sums the strips over row y of the canvas. */
void esra_joint_gather_row(const struct joint_system *system, int y, colours *sum);

/* Makes the strip of a block zero. */
void esra_joint_clear_strip(struct joint_system *system, int block);

/* image = A direction; the shares of <direction, image> in partial[][0]. */
void esra_joint_apply(struct joint_system *system);

/* Adds the shares number `which` of the blocks of one layer, and of both. */
double esra_joint_layer_total(const struct joint_system *system, int k, int which);
double esra_joint_total(const struct joint_system *system, int which);

#endif
