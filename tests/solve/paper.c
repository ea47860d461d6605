/* tests/solve/paper.c - the published method through the public interface. */
#include "random_problem.h"

static esra_settings settings_for(double lambda, double gap, int iterations)
{
    esra_settings settings;
    esra_settings_default(&settings);
    settings.engine = ESRA_ENGINE_PAPER;
    settings.lambda = lambda;
    settings.gap = gap;
    settings.max_iterations = iterations;
    settings.inner_tolerance = 1e-7;
    settings.inner_iterations = 20000;
    settings.threads = 1;
    return settings;
}

static esra_info solve(const struct random_problem *r, const esra_settings *settings)
{
    esra_solver *solver;
    esra_info info = ESRA_INFO_INIT;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    if (!CHECK(esra_solver_run(solver, &r->problem, settings, &r->result, &info) == ESRA_OK))
        printf("    %s\n", esra_solver_message(solver));
    esra_solver_free(&solver);
    return info;
}

static void every_kind_of_problem_is_solved(void)
{
    static const int sizes[][2] = {{1, 1}, {1, 9}, {11, 1}, {6, 7}, {13, 8}};
    static const double lambdas[] = {0, 0.01, 0.1, 2};
    for (int m = 1; m <= MAX_PHOTOS; m++)
        for (int k = 0; k < 5; k++) {
            struct random_problem r;
            random_problem_make(&r, m, sizes[k][0], sizes[k][1], 1 + (m + k) % 3);
            if ((m + k) % 2)
                r.problem.weights = r.weights;
            esra_settings settings = settings_for(lambdas[(m + k) % 4], 1e-4, 20000);
            esra_info info = solve(&r, &settings);
            if (!CHECK(info.outcome == ESRA_OPTIMAL && info.gap <= 1e-4))
                printf("    m %d, %d x %d, lambda %g: F %g, gap %g\n", m, r.width, r.height, settings.lambda,
                       info.objective, info.gap);
            CHECK(info.bound <= info.objective + 1e-9);
            random_problem_free(&r);
        }
}

/* Off by default; on, they change how the optimum is reached, not which. */
static void options_lead_to_the_same_optimum(void)
{
    struct random_problem r;
    random_problem_make(&r, 2, 13, 8, 1);
    esra_settings settings = settings_for(0.05, 1e-4, 20000);
    double published = solve(&r, &settings).objective;
    CHECK(!settings.inner_restart && !settings.inner_adaptive && !settings.inner_warm_start);
    for (int n = 1; n < 8; n++) {
        settings.inner_restart = n & 1;
        settings.inner_adaptive = n >> 1 & 1;
        settings.inner_warm_start = n >> 2;
        esra_info info = solve(&r, &settings);
        CHECK(info.outcome == ESRA_OPTIMAL);
        CHECK_NEAR(info.objective, published, 2e-4 * published);
    }
    random_problem_free(&r);
}

struct trace {
    double objective, bound, gap;
    int calls;
    bool monotone;
};

static int follow(void *user, const esra_info *so_far)
{
    struct trace *trace = user;
    if (trace->calls++ > 0)
        trace->monotone = trace->monotone && so_far->objective <= trace->objective && so_far->bound >= trace->bound &&
                          so_far->gap <= trace->gap;
    trace->objective = so_far->objective;
    trace->bound = so_far->bound;
    trace->gap = so_far->gap;
    return 0;
}

static void the_certificate_never_gets_worse(void)
{
    struct random_problem r;
    struct trace trace = {.monotone = true};
    esra_solver *solver;
    random_problem_make(&r, 2, 15, 12, 2);
    esra_settings settings = settings_for(0.05, 1e-5, 300);
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    esra_solver_set_progress(solver, follow, &trace);
    CHECK(esra_solver_run(solver, &r.problem, &settings, &r.result, NULL) == ESRA_OK);
    CHECK(trace.calls > 10 && trace.monotone);
    esra_solver_free(&solver);
    random_problem_free(&r);
}

static void threads_do_not_change_a_bit(void)
{
    struct random_problem one, other;
    random_problem_make(&one, 3, 37, 80, 2);
    esra_settings settings = settings_for(0.05, 0, 5);
    settings.inner_iterations = 50;
    esra_info first = solve(&one, &settings);
    size_t count = 37 * 80 * (2 * (3 + 5 * 4) + 3);
    for (int threads = 2; threads <= 8; threads++) {
        check_state = check_seed();
        random_problem_make(&other, 3, 37, 80, 2);
        settings.threads = threads;
        esra_info info = solve(&other, &settings);
        CHECK(info.threads == threads);
        CHECK(info.objective == first.objective && info.bound == first.bound);
        CHECK(memcmp(one.samples, other.samples, count * sizeof(float)) == 0);
        random_problem_free(&other);
    }
    random_problem_free(&one);
}

/* Two pieces, a layer each, and eight threads: no thread may look for scratch of its own. */
static void threads_may_outnumber_the_layers(void)
{
    struct random_problem r;
    random_problem_make(&r, 1, 20, 15, 1);
    esra_settings settings = settings_for(0.05, 1e-3, 1000);
    settings.threads = 8;
    CHECK(solve(&r, &settings).outcome == ESRA_OPTIMAL);
    random_problem_free(&r);
}

static int stop_at_third(void *user, const esra_info *so_far)
{
    (void)so_far;
    return ++*(int *)user == 3;
}

/* Stopped by the caller: status OK, outcome stopped, and layers whose objective is the one told. */
static void a_stopped_run_returns_its_best(void)
{
    struct random_problem r, again;
    esra_solver *solver;
    esra_info info = ESRA_INFO_INIT;
    int calls = 0;
    random_problem_make(&r, 2, 10, 10, 1);
    esra_settings settings = settings_for(0.05, 1e-9, 100000);
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    esra_solver_set_progress(solver, stop_at_third, &calls);
    CHECK(esra_solver_run(solver, &r.problem, &settings, &r.result, &info) == ESRA_OK);
    CHECK(info.outcome == ESRA_STOPPED && calls == 3 && info.iterations < 100000);
    esra_solver_free(&solver);

    check_state = check_seed();
    random_problem_make(&again, 2, 10, 10, 1);
    settings.max_iterations = info.iterations;
    esra_info full = solve(&again, &settings);
    CHECK(full.objective == info.objective);
    CHECK(memcmp(r.layers[0].data, again.layers[0].data, 100 * sizeof(float)) == 0);
    random_problem_free(&r);
    random_problem_free(&again);
}

static void a_time_limit_is_kept(void)
{
    struct random_problem r;
    random_problem_make(&r, 3, 64, 64, 1);
    esra_settings settings = settings_for(0.05, 0, 1000000000);
    settings.time_limit_s = 0.3;
    esra_info info = solve(&r, &settings);
    CHECK(info.outcome == ESRA_STOPPED && info.seconds >= 0.3);
    random_problem_free(&r);
}

/* Layers that fit both terms exactly: the least F is 0, and the run knows that it is there. */
static void an_objective_of_zero_is_recognised(void)
{
    struct random_problem r;
    random_problem_make(&r, 2, 8, 8, 1);
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 64; k++)
            r.mixtures[i].data[k] = 0.25f;
    for (int n = 0; n < 6; n++)
        memset(r.gradients[n].data, 0, 64 * sizeof(float));
    esra_settings settings = settings_for(0.05, 1e-3, 10000);
    esra_info info = solve(&r, &settings);
    CHECK(info.outcome == ESRA_OPTIMAL && info.gap <= 1e-3 && info.objective >= 0 && info.objective < 1e-12);
    random_problem_free(&r);
}

/* A pixel no photo sees takes its layers from the gradients alone, and must not make anything infinite. */
static void unseen_pixels_do_no_harm(void)
{
    struct random_problem r;
    random_problem_make(&r, 2, 9, 9, 1);
    r.problem.weights = r.weights;
    for (int i = 0; i < 2; i++)
        memset(r.weights[i].data, 0, 81 * sizeof(float));
    esra_settings settings = settings_for(0.1, 1e-3, 20000);
    esra_info info = solve(&r, &settings);
    CHECK(info.outcome == ESRA_OPTIMAL);
    for (int k = 0; k < 81; k++)
        CHECK(r.layers[0].data[k] >= 0 && r.layers[0].data[k] <= 1);
    random_problem_free(&r);
}

int main(void)
{
    RUN(every_kind_of_problem_is_solved);
    RUN(options_lead_to_the_same_optimum);
    RUN(the_certificate_never_gets_worse);
    RUN(threads_do_not_change_a_bit);
    RUN(threads_may_outnumber_the_layers);
    RUN(a_stopped_run_returns_its_best);
    RUN(a_time_limit_is_kept);
    RUN(an_objective_of_zero_is_recognised);
    RUN(unseen_pixels_do_no_harm);
    return check_report();
}
