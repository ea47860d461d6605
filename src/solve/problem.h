/* solve/problem.h - a problem whose every sample has been checked, so that engines and certificate may rely on it. */
#ifndef ESRA_SOLVE_PROBLEM_H
#define ESRA_SOLVE_PROBLEM_H

#include "base/context.h"
#include "base/status.h"

/* Samples and mixing coefficients beyond these are mis-scaled. */
#define PROBLEM_LARGEST        1e6f
#define PROBLEM_LARGEST_MIXING 1e3

struct problem {
    int photos, layers; /* m, m+1 */
    int width, height, channels;
    size_t pixels; /* of one plane */
    double lambda;
    const double *mixing;                             /* a_i */
    const esra_image *mixtures, *gradients, *weights; /* the caller's views; weights NULL: all 1 */
    const esra_image *start_layers, *start_duals;     /* both or neither NULL */

    /* sum a_i^2 + 1 = |A|^2, since A A' = a a' + 1; weights in [0,1] cannot enlarge it. */
    double data_norm_squared;

    /* An F below this is as good as 0 (doc/NUMERICS.md). */
    double tiny;
};

/* Checks the caller's problem and result, down to every sample, and fills *out, which borrows from them. */
esra_status esra_problem_check(struct problem *out, const esra_problem *problem, const esra_result *result,
                               double lambda, struct message *message);

#endif
