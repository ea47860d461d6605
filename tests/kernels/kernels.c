/* tests/kernels/kernels.c - every instruction set gives the bits of the C reference, at every width, and touches
 * nothing outside the room a row has: each buffer ends where an unreadable page begins, and what lies around the row is
 * checked. */
#define _DEFAULT_SOURCE
#include "kernels/kernels.h"

#include <sys/mman.h>
#include <unistd.h>

#include "base/cpu.h"
#include "check.h"

#define WIDEST      67
#define MOST_PHOTOS 5

/* A buffer of floats that ends at a guard page. */
struct guarded {
    char *map;
    size_t size;
    float *data;
    size_t count;
};

static struct guarded guard(size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = (count * sizeof(float) + page - 1) / page * page;
    struct guarded g = {.size = bytes + page, .count = count};
    g.map = mmap(NULL, g.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.map == MAP_FAILED || mprotect(g.map + bytes, page, PROT_NONE))
        abort();
    g.data = (float *)(g.map + bytes) - count;
    return g;
}

static void unguard(struct guarded *g)
{
    munmap(g->map, g->size);
}

/* Everything a sweep's kernels read and write: planes of one row with their paddings, in one buffer. */
struct rows {
    struct guarded block;
    struct sweep_row row;
};

/* x, p, q, z, p_above, e_vertical, e_horizontal, bar, bar_below for each layer, mixture and weight for each photo, and
 * g, G and the V-cycle's jacobi. */
static struct rows make_rows(int columns, int photos, const float *content)
{
    ptrdiff_t pitch = columns + KERNEL_PAD, group = (photos + 1) * pitch;
    struct rows rows = {.block = guard((size_t)(11 * group + 3 * pitch + KERNEL_PAD))};
    memcpy(rows.block.data, content, rows.block.count * sizeof(float));
    float *at = rows.block.data + KERNEL_PAD;
    rows.row = (struct sweep_row){.pitch = pitch,
                                  .x = at,
                                  .p = at + group,
                                  .q = at + 2 * group,
                                  .z = at + 3 * group,
                                  .p_above = at + 4 * group,
                                  .e_vertical = at + 5 * group,
                                  .e_horizontal = at + 6 * group,
                                  .expected = at + 5 * group,
                                  .expected_below = at + 6 * group,
                                  .mixture = at + 7 * group,
                                  .weight = at + 8 * group,
                                  .bar = at + 9 * group,
                                  .bar_below = at + 10 * group,
                                  .bar_pitch = pitch,
                                  .g = at + 11 * group,
                                  .correction = at + 11 * group + pitch,
                                  .jacobi = at + 11 * group + 2 * pitch};
    return rows;
}

static float coefficients[MOST_PHOTOS + 1];

static struct sweep make_sweep(int photos)
{
    check_fill(coefficients, MOST_PHOTOS + 1, 0, 1);
    return (struct sweep){.photos = photos,
                          .a = coefficients,
                          .null = coefficients,
                          .lambda = 0.02f,
                          .rho = 1.85f,
                          .sigma = 100,
                          .r2 = 0.1f,
                          .r2_rise = 0.3f,
                          .jacobi = 2,
                          .s = 16.1f,
                          .s_inverse = 1 / 16.1f,
                          .photo_inverse = 1 / 17.1f,
                          .arrow_inverse = 1 / 18.0f};
}

/* Samples that are not known. */
static void forget(const struct sweep_row *row)
{
    float *here = (float *)(size_t)row->expected, *below = (float *)(size_t)row->expected_below;
    here[0] = below[1] = NAN;
}

typedef void sweep_kernel(const struct sweep *, const struct sweep_row *, int, int);

static void compare_sweep(sweep_kernel *reference, sweep_kernel *kernel, const char *name, unsigned features)
{
    static float content[11 * (MOST_PHOTOS + 1) * (WIDEST + 29 + KERNEL_PAD) + 4 * (WIDEST + 29 + KERNEL_PAD)];
    for (int photos = 1; photos <= MOST_PHOTOS; photos++)
        for (int width = 1; width <= WIDEST; width++) {
            check_fill(content, sizeof content / sizeof content[0], -1, 2);
            struct sweep sweep = make_sweep(photos);
            int columns = kernel_columns(width);
            struct rows a = make_rows(columns, photos, content), b = make_rows(columns, photos, content);
            float *weights = (float *)(size_t)b.row.weight, *same = (float *)(size_t)a.row.weight;
            weights[0] = same[0] = 0;
            if (reference == esra_dual_expected_c)
                forget(&a.row), forget(&b.row);
            reference(&sweep, &a.row, 0, columns);
            kernel(&sweep, &b.row, 0, columns);
            if (!CHECK(memcmp(a.block.data, b.block.data, a.block.count * sizeof(float)) == 0))
                printf("    %s, features %u, width %d, %d photos\n", name, features, width, photos);
            unguard(&a.block);
            unguard(&b.block);
        }
}

/* The features to try: one at a time, and all. */
static const unsigned masks[] = {CPU_SSE2, CPU_AVX2, CPU_AVX512, CPU_NEON, CPU_SIMD128, ~0u};

static void sweep_kernels_equal_the_reference(void)
{
    for (size_t n = 0; n < sizeof masks / sizeof masks[0]; n++) {
        struct kernels kernels;
        unsigned features = masks[n] & esra_cpu_features();
        esra_kernels_fill(&kernels, features);
        compare_sweep(esra_primal_c, kernels.primal, "primal", features);
        compare_sweep(esra_primal_weighted_c, kernels.primal_weighted, "primal_weighted", features);
        compare_sweep(esra_dual_c, kernels.dual, "dual", features);
        compare_sweep(esra_dual_expected_c, kernels.dual_expected, "dual_expected", features);
        compare_sweep(esra_null_c, kernels.null, "null", features);
    }
}

/* Rows of a grid one after the other, at the end of their page. */
static void compare_grids(const struct kernels *reference, const struct kernels *kernels, int width)
{
    int columns = kernel_columns(width), half = kernel_columns((width + 1) / 2), room = 2 * half;
    size_t pitch = (size_t)room + 2 * KERNEL_PAD;
    static float content[9 * (2 * (WIDEST + 45) + 2 * KERNEL_PAD)];
    check_fill(content, sizeof content / sizeof content[0], -1, 1);
    struct guarded blocks[2] = {guard(9 * pitch), guard(9 * pitch)};
    for (int n = 0; n < 2; n++) {
        const struct kernels *k = n ? kernels : reference;
        float *r[9];
        memcpy(blocks[n].data, content, blocks[n].count * sizeof(float));
        for (size_t i = 0; i < 9; i++)
            r[i] = blocks[n].data + i * pitch + KERNEL_PAD;
        k->scale(r[6], r[0], r[7], columns);
        k->residual((struct stencil){0.2f, 0.1f}, r[0], r[1], r[7], r[3], r[8], columns);
        k->relax((struct stencil){0.2f, 0.1f}, r[6], r[8], r[1], r[2], r[3], r[4], columns);
        k->restrict_(r[0], r[1], r[2], r[4], r[3], r[5], half);
        k->prolong(r[6], r[0], r[1], r[2], r[3], r[5], (width + 1) / 2, columns);
    }
    if (!CHECK(memcmp(blocks[0].data, blocks[1].data, blocks[0].count * sizeof(float)) == 0))
        printf("    width %d\n", width);
    unguard(&blocks[0]);
    unguard(&blocks[1]);
}

static void grid_kernels_equal_the_reference(void)
{
    struct kernels reference, kernels;
    esra_kernels_fill(&reference, 0);
    for (size_t n = 0; n < sizeof masks / sizeof masks[0]; n++) {
        esra_kernels_fill(&kernels, masks[n] & esra_cpu_features());
        for (int width = 1; width <= WIDEST; width++)
            compare_grids(&reference, &kernels, width);
    }
}

/* d, E, the extrapolated p of the row above, both duals extrapolated and not, and two rows of the layer. */
static void compare_pactv(const struct kernels *reference, const struct kernels *kernels, int width, bool last_row)
{
    int columns = kernel_columns(width);
    size_t pitch = (size_t)columns + KERNEL_PAD;
    static float content[10 * (WIDEST + 29 + 2 * KERNEL_PAD) + KERNEL_PAD];
    struct guarded blocks[2] = {guard(10 * pitch + KERNEL_PAD), guard(10 * pitch + KERNEL_PAD)};
    struct pactv_row rows[2];
    check_fill(content, sizeof content / sizeof content[0], -1, 1);
    for (int n = 0; n < 2; n++) {
        const struct kernels *k = n ? kernels : reference;
        float *r[10];
        memcpy(blocks[n].data, content, blocks[n].count * sizeof(float));
        for (size_t i = 0; i < 10; i++)
            r[i] = blocks[n].data + i * pitch + KERNEL_PAD;
        rows[n] = (struct pactv_row){.d = r[0],
                                     .e_vertical = r[1],
                                     .e_horizontal = r[2],
                                     .p_tilde_above = r[3],
                                     .p_tilde = r[4],
                                     .q_tilde = r[5],
                                     .p = r[6],
                                     .q = r[7],
                                     .layer = r[8],
                                     .layer_below = last_row ? NULL : r[9],
                                     .beta = 0.3f,
                                     .step = 0.4f,
                                     .momentum = 0.7f};
        k->pactv_layer(&rows[n], columns);
        k->pactv_dual(&rows[n], columns);
    }
    bool same = memcmp(blocks[0].data, blocks[1].data, blocks[0].count * sizeof(float)) == 0 &&
                memcmp(rows[0].moved, rows[1].moved, sizeof rows[0].moved) == 0 &&
                memcmp(rows[0].norm, rows[1].norm, sizeof rows[0].norm) == 0;
    if (!CHECK(same))
        printf("    width %d\n", width);
    unguard(&blocks[0]);
    unguard(&blocks[1]);
}

static void pactv_kernels_equal_the_reference(void)
{
    struct kernels reference, kernels;
    esra_kernels_fill(&reference, 0);
    for (size_t n = 0; n < sizeof masks / sizeof masks[0]; n++) {
        esra_kernels_fill(&kernels, masks[n] & esra_cpu_features());
        for (int width = 1; width <= WIDEST; width++)
            compare_pactv(&reference, &kernels, width, width % 2);
    }
}

/* A row that falls on a small canvas, mostly pixel beside pixel, with jumps, gaps and pixels that lie nowhere; weights,
 * p, q and both canvases end at a guard page. */
#define CANVAS_WIDTH  90
#define CANVAS_HEIGHT 3

static void make_points(struct warp_point *points, float *weight, int width, int canvas_width, int canvas_height)
{
    int rows = canvas_height > 1 ? canvas_height - 1 : 1, columns = canvas_width > 1 ? canvas_width - 1 : 1, at = 0;
    for (int x = 0; x < width; x++) {
        float jump, fx, fy, seen;
        check_fill(&jump, 1, 0, 1);
        check_fill(&fx, 1, 0, 32768);
        check_fill(&fy, 1, 0, 32768);
        check_fill(&seen, 1, 0, 1);
        at = jump < .1f ? (int)(jump * 10 * (float)columns) : at + 1 < columns ? at + 1 : 0;
        points[x] = (struct warp_point){(x / 20 % rows) * canvas_width + at, (uint32_t)fx | (uint32_t)fy << 16};
        weight[x] = seen < .1f ? 0 : seen;
        if (seen < .05f)
            points[x].index = -1;
    }
}

static void compare_photo(const struct kernels *kernels, unsigned features, int width, int canvas_width,
                          int canvas_height)
{
    static float content[COLOURS * (2 * CANVAS_WIDTH * CANVAS_HEIGHT + 2 * WIDEST)];
    size_t samples = (size_t)COLOURS * (size_t)canvas_width * (size_t)canvas_height,
           row = (size_t)COLOURS * (size_t)width;
    struct guarded weight = guard((size_t)width), points = guard(2 * (size_t)width), p = guard(row),
                   canvas = guard(samples);
    struct guarded q[2] = {guard(row), guard(row)}, strip[2] = {guard(samples), guard(samples)};
    check_fill(content, sizeof content / sizeof content[0], -1, 1);
    make_points((struct warp_point *)(void *)points.data, weight.data, width, canvas_width, canvas_height);
    memcpy(p.data, content, row * sizeof(float));
    memcpy(canvas.data, content + row, samples * sizeof(float));
    for (int n = 0; n < 2; n++) {
        memcpy(q[n].data, content + row + samples, row * sizeof(float));
        memcpy(strip[n].data, content + 2 * row + samples, samples * sizeof(float));
        (n ? kernels->photo
           : esra_photo_c)(&(struct photo_row){.width = width,
                                               .a = .9f,
                                               .b = 1.1f,
                                               .weight = weight.data,
                                               .points = (const struct warp_point *)(const void *)points.data,
                                               .right = canvas_width > 1,
                                               .down = canvas_height > 1 ? canvas_width : 0,
                                               .p = p.data,
                                               .q = q[n].data,
                                               .canvas = canvas.data,
                                               .strip = strip[n].data});
    }
    if (!CHECK(memcmp(q[0].data, q[1].data, row * sizeof(float)) == 0 &&
               memcmp(strip[0].data, strip[1].data, samples * sizeof(float)) == 0))
        printf("    photo, features %u, width %d, canvas %d x %d\n", features, width, canvas_width, canvas_height);
    struct guarded *all[] = {&weight, &points, &p, &canvas, &q[0], &q[1], &strip[0], &strip[1]};
    for (size_t n = 0; n < sizeof all / sizeof all[0]; n++)
        unguard(all[n]);
}

static void photo_kernel_equals_the_reference(void)
{
    for (size_t n = 0; n < sizeof masks / sizeof masks[0]; n++) {
        struct kernels kernels;
        unsigned features = masks[n] & esra_cpu_features();
        esra_kernels_fill(&kernels, features);
        for (int width = 1; width <= WIDEST; width++) {
            compare_photo(&kernels, features, width, CANVAS_WIDTH, CANVAS_HEIGHT);
            compare_photo(&kernels, features, width, 3, 2);
            compare_photo(&kernels, features, width, 1, CANVAS_HEIGHT);
            compare_photo(&kernels, features, width, CANVAS_WIDTH, 1);
        }
    }
}

int main(void)
{
    RUN(sweep_kernels_equal_the_reference);
    RUN(grid_kernels_equal_the_reference);
    RUN(pactv_kernels_equal_the_reference);
    RUN(photo_kernel_equals_the_reference);
    return check_report();
}
