/* solve/certificate.h - how good are these layers? The objective F of an iterate, and a proven lower bound D of the
 * least F, in double. Shares no arithmetic with the engines, and reads the problem as the caller gave it. */
#ifndef ESRA_SOLVE_CERTIFICATE_H
#define ESRA_SOLVE_CERTIFICATE_H

#include "base/plane.h"
#include "solve/problem.h"

/* One channel of an engine's state. The layers count as clip(x, 0, 1), the dual field as clip(dual_scale * (p,q), -1, 1),
 * rounded to float: what is judged is what is returned. */
struct candidate {
    const struct plane *x, *p, *q; /* [layers] each */
    float dual_scale;
};

struct certificate {
    double objective; /* F */
    double bound;     /* D */
};

static inline float candidate_layer(float x)
{
    x = x < 0 ? 0 : x;
    return x > 1 ? 1 : x;
}

static inline float candidate_dual(float p, float scale)
{
    float u = p * scale;
    u = u < -1 ? -1 : u;
    return u > 1 ? 1 : u;
}

/* Doubles of scratch that one call needs. */
size_t esra_certificate_scratch(const struct problem *problem);

/* The share of F and D of rows first..end-1 of one channel. Shares add up to the whole. */
typedef struct certificate certify_function(const struct problem *problem, int channel, const struct candidate *candidate,
                                            int first, int end, double *scratch);

/* The fastest for a set of enum cpu_feature; all give the same bits. */
certify_function *esra_certificate_find(unsigned features);

#endif
