/* solve/certificate.h - how good are these layers? The objective F of an iterate, and a proven lower bound D of the
 * least F, in double. Shares no arithmetic with the engines, and reads the problem as the caller gave it. */
#ifndef ESRA_SOLVE_CERTIFICATE_H
#define ESRA_SOLVE_CERTIFICATE_H

#include <stdint.h>
#include <string.h>

#include "base/plane.h"
#include "solve/problem.h"

/* One channel of an engine's state. The layers count as clip(clip(x, 0, 1) + moved c, 0, 1), c = (1, -a_1, ..., -a_m),
 * the dual field as clip(dual_scale * (p,q), -1, 1), rounded to float: what is judged is what is returned. */
struct candidate {
    const struct plane *x, *p, *q; /* [layers] each; p and q NULL: no field */
    float dual_scale;
    double moved;
    const struct held *held; /* NULL: all is where the caller has it */
};

/* An engine's copy of what it was given of the channel. Where E follows from layers that are expected, the library made
 * all of this, and takes it away or writes layers in its place once an engine has it: then the copy is judged by. */
struct held {
    const struct plane *mixture, *weight; /* [photos]; weight NULL: all 1 */
    const struct plane *expected;         /* [layers] */
};

struct certificate {
    double objective; /* F */
    double bound;     /* D */
    double slack;     /* lambda sum (|D L - E| - u (D L - E)), the part of F - D that is not pixels' */
};

/* The bits of a float, and back. Floats of one sign are in the order of their bits, as whole numbers: least and largest
 * of these are single instructions, where those of floats, which have to mind NaN and -0, are not. */
static inline int32_t candidate_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float candidate_float(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

#define CANDIDATE_ONE 0x3f800000 /* 1.0f */

/* clip(x, 0, 1). */
static inline float candidate_layer(float x)
{
    int32_t bits = candidate_bits(x);
    bits = bits > 0 ? bits : 0;
    return candidate_float(bits < CANDIDATE_ONE ? bits : CANDIDATE_ONE);
}

/* How far layer l is moved. */
static inline float candidate_step(const struct candidate *candidate, const struct problem *problem, int l)
{
    return (float)(l == 0 ? candidate->moved : -problem->mixing[l - 1] * candidate->moved);
}

static inline float candidate_moved(float x, float by)
{
    return candidate_layer(candidate_layer(x) + by);
}

/* clip(scale * p, -1, 1). */
static inline float candidate_dual(float p, float scale)
{
    int32_t bits = candidate_bits(p * scale), size = bits & INT32_MAX, sign = bits & INT32_MIN;
    return candidate_float((size < CANDIDATE_ONE ? size : CANDIDATE_ONE) | sign);
}

/* Doubles of scratch that a thread needs. */
size_t esra_certificate_scratch(const struct problem *problem);

/* One channel's certificate, from blocks of rows (base/rows.h). */
struct certifying {
    const struct problem *problem;
    int channel;
    const struct candidate *candidate;
    int every, rows;            /* takes every so many'th block, and its first so many rows */
    struct certificate *shares; /* [blocks] */
    double *scratch;            /* [threads] x esra_certificate_scratch() */
};

/* The sum of what these rows add to F and D: the whole with every = 1, rows = BLOCK_ROWS. */
struct certificate esra_certify(struct context *context, struct certifying *job);

#endif
