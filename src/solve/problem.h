/* solve/problem.h - a problem whose every sample has been checked, so that engines and certificate may rely on it. */
#ifndef ESRA_SOLVE_PROBLEM_H
#define ESRA_SOLVE_PROBLEM_H

#include <stdbool.h>

#include "base/codes.h"
#include "base/context.h"
#include "base/image.h"

/* Samples and mixing coefficients beyond these are mis-scaled. */
#define PROBLEM_LARGEST        1e6f
#define PROBLEM_LARGEST_MIXING 1e3

/* What E follows from, where it is not given as gradients. Planes of one channel each, so that those of a channel can
 * go when an engine holds them or has solved it. */
struct expectation {
    struct codes *layers;  /* [channels][layers]: E_l = D of it, 0 on either side of a sample that is NaN; or NULL */
    struct image *voted;   /* [channels][2]: E_0 down and right; E_i = D I_i - a_i E_0, 0 where a weight is; or NULL */
    struct codes *weights; /* [photos], in place of the problem's; they go when an engine holds them. Or NULL */
};

struct problem {
    int photos, layers; /* m, m+1 */
    int width, height, channels;
    size_t pixels; /* of one plane */
    double lambda;
    const double *mixing;                             /* a_i */
    const esra_image *mixtures, *gradients, *weights; /* the caller's views; weights NULL: all 1, or in 16 bits */
    struct expectation expected;                      /* where gradients is NULL */
    const esra_image *start_layers, *start_duals;     /* both or neither NULL */

    /* sum a_i^2 + 1 = |A|^2, since A A' = a a' + 1; weights in [0,1] cannot enlarge it. */
    double data_norm_squared;

    /* An F below this is as good as 0 (doc/NUMERICS.md). */
    double tiny;
};

/* Checks the caller's problem and result, down to every sample, and fills *out, which borrows from them. */
esra_status esra_problem_check(struct problem *out, const esra_problem *problem, const struct expectation *expected,
                               const esra_result *result, double lambda, struct message *message);

/* Of E's n'th image, 2l down and 2l+1 right, in one channel: columns x.. of row y. Zero where there is no difference.
 */
void esra_problem_gradients(const struct problem *problem, int n, int channel, int x, int y, int columns, float *out);

static inline bool problem_is_weighted(const struct problem *problem)
{
    return problem->weights || problem->expected.weights;
}

/* Weights of photo i in columns x.. of row y, where there are weights. */
void esra_problem_weights(const struct problem *problem, int i, int x, int y, int columns, float *out);

/* Nobody asks for E of the channel again, or for the weights of photo i: frees what it follows from, and these. */
void esra_problem_release(const struct problem *problem, int channel);
void esra_problem_release_weight(const struct problem *problem, int i);

#endif
