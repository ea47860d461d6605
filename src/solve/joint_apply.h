/* solve/joint_apply.h - rows of the frozen quadratic's operator, shared by the residual and the product A p. */
#ifndef ESRA_SOLVE_JOINT_APPLY_H
#define ESRA_SOLVE_JOINT_APPLY_H

#include "solve/joint_system.h"

/* Runs a task for every block of `layers` layers, the first layer's first. A single block is too little work to wake
 * threads for. */
void esra_joint_run(struct joint_system *system, pool_task *run, void *work, int layers);

/* Runs a task for every block of the frame, wave after wave, which begins by asking for its part. */
void esra_joint_run_frame(struct joint_system *system, pool_task *run, void *work);

/* out = lambda D' eta D v + nu delta v + RIDGE v in row y of layer k. */
void esra_joint_smooth_row(const struct joint_system *system, int k, const colours *v, int y, colours *out);

/* What a task of the frame works on, and where its S_i'u goes: to a strip, which is made zero, or in waves to the
 * canvas vector itself. */
struct joint_part {
    int block, begin, end; /* rows of the frame */
    int worker;
    colours *strip; /* from sample `offset` of the canvas on; NULL where there is no R */
    ptrdiff_t offset;
};

struct joint_part esra_joint_part(struct joint_system *system, int task, int worker, colours *canvas);

/* Adds the strips, where there are any, to row y of the canvas. */
void esra_joint_gather_row(const struct joint_system *system, int y, colours *sum);

/* image = A direction; the shares of <direction, image> in partial[][0]. */
void esra_joint_apply(struct joint_system *system);

/* Adds the shares number `which` of the blocks of one layer, and of both. */
double esra_joint_layer_total(const struct joint_system *system, int k, int which);
double esra_joint_total(const struct joint_system *system, int which);

#endif
