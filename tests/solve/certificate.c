/* tests/solve/certificate.c - the bound bounds, for every dual field and every layer, and is tight at the optimum. */
#include "solve/certificate.h"

#include "base/rows.h"
#include "context.h"
#include "random_problem.h"

#define MAX_SAMPLES 1024
#define MAX_SCRATCH 4096

/* The tests run with plain C and with all instructions that there are. */
static struct context *context;

static float x_data[MAX_PHOTOS + 1][MAX_SAMPLES], p_data[MAX_PHOTOS + 1][MAX_SAMPLES],
    q_data[MAX_PHOTOS + 1][MAX_SAMPLES];
static struct plane x_planes[MAX_PHOTOS + 1], p_planes[MAX_PHOTOS + 1], q_planes[MAX_PHOTOS + 1];

static struct candidate random_candidate(int width, int height)
{
    for (int l = 0; l <= MAX_PHOTOS; l++) {
        x_planes[l] = (struct plane){x_data[l], width, height, width};
        p_planes[l] = (struct plane){p_data[l], width, height, width};
        q_planes[l] = (struct plane){q_data[l], width, height, width};
        check_fill(x_data[l], MAX_SAMPLES, -0.2, 1.2);
        check_fill(p_data[l], MAX_SAMPLES, -1.2, 1.2);
        check_fill(q_data[l], MAX_SAMPLES, -1.2, 1.2);
    }
    return (struct candidate){.x = x_planes, .p = p_planes, .q = q_planes, .dual_scale = 1};
}

static const struct expectation given; /* E is given as gradients */

static struct certificate evaluate(const struct random_problem *r, double lambda, const struct candidate *candidate)
{
    struct problem problem;
    struct message message;
    static double scratch[MAX_SCRATCH];
    static struct certificate shares[MAX_SAMPLES];
    if (!CHECK(esra_problem_check(&problem, &r->problem, &given, &r->result, lambda, &message) == ESRA_OK))
        printf("    %s\n", message.text);
    CHECK(esra_certificate_scratch(&problem) <= MAX_SCRATCH);
    return esra_certify(context, &(struct certifying){&problem, 0, candidate, 1, BLOCK_ROWS, shares, scratch});
}

/* Weak duality: D(u) <= F(L) for any u and any L, with and without weights, at any lambda. */
static void the_bound_is_below_every_objective(void)
{
    static const double lambdas[] = {0, 1e-3, 0.05, 2};
    for (int repeat = 0; repeat < 200; repeat++) {
        struct random_problem r;
        random_problem_make(&r, 1 + repeat % MAX_PHOTOS, 1 + repeat % 7, 1 + repeat % 5, 1);
        if (repeat % 3 == 0)
            r.problem.weights = r.weights;
        for (int k = 0; k < r.width * r.height && repeat % 6 == 0; k += 2)
            r.weights[0].data[k] = 0;
        struct candidate candidate = random_candidate(r.width, r.height);
        struct certificate c = evaluate(&r, lambdas[repeat % 4], &candidate);
        CHECK(isfinite(c.objective) && isfinite(c.bound) && c.bound <= c.objective + 1e-12);
        random_problem_free(&r);
    }
}

static double phi(const struct random_problem *r, const double *tilt, double t)
{
    double sum = tilt[0] * t;
    for (int i = 0; i < r->photos; i++) {
        double best = INFINITY, w = r->problem.weights ? r->weights[i].data[0] : 1;
        for (int k = 0; k <= 400; k++) {
            double y = k / 400.0, residual = r->mixtures[i].data[0] - r->mixing[i] * t - y;
            best = fmin(best, 0.5 * w * residual * residual + tilt[i + 1] * y);
        }
        sum += best;
    }
    return sum;
}

/* On one pixel the tilts are all zero (no differences), so the bound must be the least data term: found on a grid. To
 * get tilts, a 1 x 2 image is used whose second pixel is unseen (weight 0): its minimum is min(tilt, 0) for each layer.
 */
static void a_pixels_bound_is_its_minimum(void)
{
    for (int repeat = 0; repeat < 40; repeat++) {
        struct random_problem r;
        double lambda = check_random(0, 0.5), tilt[MAX_PHOTOS + 1], least = INFINITY, rest = 0;
        random_problem_make(&r, 1 + repeat % 3, 2, 1, 1);
        r.problem.weights = r.weights;
        struct candidate candidate = random_candidate(2, 1);
        for (int i = 0; i < r.photos; i++)
            r.weights[i].data[1] = 0;
        for (int l = 0; l <= r.photos; l++) {
            double u = fmin(fmax(q_data[l][0], -1), 1);
            tilt[l] = -lambda * u;
            rest += fmin(-tilt[l], 0) - lambda * u * r.gradients[2 * l + 1].data[0];
        }
        for (int k = 0; k <= 400; k++)
            least = fmin(least, phi(&r, tilt, k / 400.0));
        struct certificate c = evaluate(&r, lambda, &candidate);
        /* The grid's error: phi is Lipschitz with at most (1 + a) (1 + a) + tilts, on a spacing of 1/400 in t and y. */
        CHECK(c.bound <= least + rest + 1e-12);
        CHECK_NEAR(c.bound, least + rest, 2e-5 * (r.photos + 1));
        random_problem_free(&r);
    }
}

/* One photo of one pixel: the least F is the distance of I from [0, a + 1], and D(0) is that. */
static void one_pixel_has_a_closed_form(void)
{
    static const double intensities[] = {-0.5, 0, 0.7, 1.8, 2.5};
    for (int k = 0; k < 5; k++) {
        struct random_problem r;
        random_problem_make(&r, 1, 1, 1, 1);
        r.mixtures[0].data[0] = (float)intensities[k];
        struct candidate candidate = random_candidate(1, 1);
        double miss = fmax(fmax(-intensities[k], intensities[k] - r.mixing[0] - 1), 0);
        CHECK_NEAR(evaluate(&r, 0.3, &candidate).bound, 0.5 * miss * miss, 1e-7);
        random_problem_free(&r);
    }
}

/* Blocks of rows have shares: the whole is their sum, and a sample adds those of its blocks. Of a block's own share,
 * which is nowhere negative, some rows have no more. */
static void shares_add_up(void)
{
    enum { WIDTH = 9, HEIGHT = 2 * BLOCK_ROWS + 5 };
    struct random_problem r;
    struct problem problem;
    struct message message;
    struct certificate shares[3], few[3];
    static double scratch[MAX_SCRATCH];
    random_problem_make(&r, 3, WIDTH, HEIGHT, 1);
    struct candidate candidate = random_candidate(WIDTH, HEIGHT);
    CHECK(esra_problem_check(&problem, &r.problem, &given, &r.result, 0.1, &message) == ESRA_OK);
    struct certifying job = {&problem, 0, &candidate, 1, BLOCK_ROWS, shares, scratch};
    struct certificate whole = esra_certify(context, &job);
    CHECK(whole.objective == shares[0].objective + shares[1].objective + shares[2].objective);
    CHECK(whole.bound == shares[0].bound + shares[1].bound + shares[2].bound);
    job.every = 2;
    struct certificate sample = esra_certify(context, &job);
    CHECK(sample.objective == shares[0].objective + shares[2].objective);
    CHECK(sample.bound == shares[0].bound + shares[2].bound);
    job = (struct certifying){&problem, 0, &candidate, 1, 3, few, scratch};
    esra_certify(context, &job);
    for (int b = 0; b < 3; b++) {
        CHECK(few[b].objective > 0 && few[b].objective < shares[b].objective);
        CHECK(few[b].objective - few[b].bound < shares[b].objective - shares[b].bound);
    }
    random_problem_free(&r);
}

int main(void)
{
    context = make_context(1);
    for (int all = 0; all < 2; all++) {
        esra_context_limit(context, all ? ~0u : 0);
        RUN(the_bound_is_below_every_objective);
        RUN(a_pixels_bound_is_its_minimum);
        RUN(one_pixel_has_a_closed_form);
        RUN(shares_add_up);
    }
    esra_context_free(&context);
    return check_report();
}
