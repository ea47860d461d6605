/* tests/solve/vcycle.c - the V-cycle B of the null mode is what the fast engine's metric rests on: symmetric, positive,
 * and never more than the inverse of A = r1 D'D + r2 that it stands for, wherever r2 is large and wherever it is small.
 */
#include "solve/vcycle.h"

#include "context.h"

#define MOST 40

static float store[2][(MOST + 2 * KERNEL_PAD) * MOST + KERNEL_PAD];
static double r2[MOST * MOST], answer[2][MOST * MOST];

struct trial {
    struct vcycle v;
    struct arena arena;
    struct kernels kernels;
    struct plane g;
    double r1;
};

static void begin(struct trial *trial, struct context *context, int width, int height, double bound, double spare)
{
    *trial = (struct trial){.r1 = 0.3};
    memset(store, 0, sizeof store);
    trial->g = (struct plane){store[0] + KERNEL_PAD, width, height, kernel_columns(width) + KERNEL_PAD};
    esra_kernels_fill(&trial->kernels, 0);
    trial->v.kernels = &trial->kernels;
    trial->v.context = context;
    esra_arena_count(&trial->arena);
    esra_vcycle_lay_out(&trial->v, &trial->arena, width, height, 1);
    CHECK(esra_arena_place(&trial->arena));
    esra_vcycle_lay_out(&trial->v, &trial->arena, width, height, 1);
    esra_vcycle_clear(&trial->v);
    esra_vcycle_set(&trial->v, trial->g, 0, trial->r1, spare);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            float *here = plane_row(trial->v.level[0].jacobi, y) + x;
            *here = (float)(check_random(0, 1) < 0.1 ? bound : spare);
            r2[y * width + x] = (double)*here;
        }
    esra_vcycle_take(&trial->v);
}

static void fill(struct plane g)
{
    double offset = check_random(-1, 1); /* smooth parts, which the coarse grids see, and rough ones */
    for (int y = 0; y < g.height; y++)
        for (int x = 0; x < g.width; x++)
            plane_row(g, y)[x] = (float)(offset + check_random(-1, 1));
}

static void cycle(struct trial *trial, double *out)
{
    float row[MOST + 2 * KERNEL_PAD];
    struct vring ring;
    esra_vcycle_run(&trial->v);
    esra_vring_begin(&ring, &trial->v, 0, 0, 0);
    for (int y = 0; y < trial->g.height; y++) {
        esra_vring_next(&ring, y, row);
        for (int x = 0; x < trial->g.width; x++)
            out[y * trial->g.width + x] = (double)row[x];
    }
}

static double product(struct plane f, const double *e)
{
    double sum = 0;
    for (int y = 0; y < f.height; y++)
        for (int x = 0; x < f.width; x++)
            sum += (double)plane_row(f, y)[x] * e[y * f.width + x];
    return sum;
}

/* e'A e. */
static double energy(const struct trial *trial, const double *e)
{
    int w = trial->g.width, h = trial->g.height;
    double sum = 0;
    for (int n = 0; n < w * h; n++) {
        double across = n % w < w - 1 ? e[n + 1] - e[n] : 0, down = n < w * (h - 1) ? e[n + w] - e[n] : 0;
        sum += trial->r1 * (across * across + down * down) + r2[n] * e[n] * e[n];
    }
    return sum;
}

static void check_cycle(struct trial *trial)
{
    struct plane first = trial->g, second = first;
    second.data = store[1] + KERNEL_PAD;
    fill(first);
    cycle(trial, answer[0]);
    double positive = product(first, answer[0]);
    CHECK(positive > 0);
    if (!CHECK(energy(trial, answer[0]) <= positive * (1 + 1e-5))) /* B A B <= B */
        printf("    %d x %d: %g > %g\n", first.width, first.height, energy(trial, answer[0]), positive);
    memcpy(store[1], store[0], sizeof store[0]);
    fill(first);
    cycle(trial, answer[1]);
    double one = product(second, answer[1]), other = product(first, answer[0]);
    CHECK(fabs(one - other) <= 1e-4 * sqrt(positive * product(first, answer[1])));
}

static void the_cycle_stays_below_the_inverse(void)
{
    static const double bounds[] = {0.3, 30, 3e-4};
    struct context *context = make_context(1);
    for (int n = 0; n < 300; n++) {
        struct trial trial;
        int width = 1 + (int)check_random(0, MOST - 1), height = 1 + (int)check_random(0, MOST - 1);
        begin(&trial, context, n % 10 == 0 ? 1 : width, n % 10 == 1 ? 1 : height, bounds[n % 3], 3e-4);
        check_cycle(&trial);
        esra_arena_free(&trial.arena);
    }
    esra_context_free(&context);
}

int main(void)
{
    RUN(the_cycle_stays_below_the_inverse);
    return check_report();
}
