/* solve/joint_object.h - what a joint solve keeps between calls. */
#ifndef ESRA_SOLVE_JOINT_OBJECT_H
#define ESRA_SOLVE_JOINT_OBJECT_H

#include "base/memory.h"
#include "solve/joint.h"
#include "solve/joint_canvas.h"
#include "solve/joint_system.h"

#define NO_LEVEL (-1)

struct joint {
    struct context *context;
    int photos, levels;
    int wanted;          /* the finest level of the solve at hand */
    int smooth;          /* the finest level that has cells (joint_coarse.h), or NO_LEVEL */
    size_t lean_pixels;  /* JOINT_LEAN_PIXELS, or what a test tries */
    int finest;          /* that of the last solution, -1 where there is none */
    struct joint *start; /* whose layers the next solve begins with, at that level; NULL: from nothing */
    int start_level;
    const struct joint *first; /* whose photos are borrowed; NULL: its own */
    const struct image *aimed; /* the maps that its warps were filled from; NULL: none */
    bool halved;               /* the coarser levels hold the photos loaded */
    struct joint_level level[JOINT_MAX_LEVELS];
    struct joint_canvas canvas;
    struct joint_system system;
    double *mixing, *reflection_gain, *confidence;
    double *motion; /* [9 photos] scratch: of the level at hand */
    struct arena tables, pyramid, expected, coarse, layers, vectors;
};

/* Lays a part of the object out in its arena; false where memory is short. */
bool esra_joint_place(struct joint *joint, struct arena *arena, void (*layout)(struct joint *, struct arena *));

/* The layers of joint->start at joint->start_level. */
void esra_joint_take_start(struct joint *joint);

/* E at all levels, or none at any. */
esra_status esra_joint_expect(struct joint *joint, const struct joint_model *model);

#endif
