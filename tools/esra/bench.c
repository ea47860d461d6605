/* tools/esra/bench.c - esra bench kernels: what each inner loop costs with each instruction set of this processor,
 * beside what copying its bytes would.
 *
 * The machine may be busy with other things: all paths of a kernel are run in turns, and the best of several counts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/timer.h"
#include "json.h"
#include "kernels/kernels.h"
#include "options.h"

#define NAME "bench"

#define PHOTOS       3
#define LAYERS       (PHOTOS + 1)
#define WIDTH        1024 /* of a row: all planes of one stay in the second cache */
#define REPEATS      9
#define SPELL_S      1e-3 /* one timing lasts so long */
#define COPIED_BYTES ((size_t)64 << 20)

struct bench_options {
    bool json;
};

static const struct option options[] = {
    {"json", 0, OPTION_FLAG, NULL, offsetof(struct bench_options, json), false, "print the figures as JSON"},
};

/* ---- A row of everything ---- */

#define PITCH  (WIDTH + KERNEL_PAD)
#define PLANES (9 * LAYERS + 2 * PHOTOS + 3)

struct field {
    struct kernels kernels;
    struct sweep sweep;
    struct sweep_row row;
    struct pactv_row pactv;
    struct photo_row photo;
    struct warp_point points[WIDTH];
    float a[LAYERS], null[LAYERS];
    float *plane[PLANES];
};

static void fill(struct field *field, float *samples)
{
    uint64_t state = 1;
    for (size_t n = 0; n < (size_t)PLANES * PITCH + KERNEL_PAD; n++)
        samples[n] = (float)(random_bits(&state) >> 40) * 0x1p-24f;
    for (int n = 0; n < PLANES; n++)
        field->plane[n] = samples + (ptrdiff_t)n * PITCH + KERNEL_PAD;
    for (int l = 0; l < LAYERS; l++) {
        field->a[l] = 0.8f;
        field->null[l] = 0.3f;
    }
}

static void lay_out_sweep(struct field *field)
{
    float *const *p = field->plane;
    field->sweep = (struct sweep){.photos = PHOTOS,
                                  .a = field->a,
                                  .null = field->null,
                                  .lambda = 0.02f,
                                  .rho = 1.5f,
                                  .sigma = 100,
                                  .r2 = 0.1f,
                                  .r2_rise = 0.3f,
                                  .jacobi = 1,
                                  .s = 16,
                                  .s_inverse = 1 / 16.0f,
                                  .photo_inverse = 1 / 17.0f,
                                  .arrow_inverse = 1 / 18.0f};
    field->row = (struct sweep_row){.pitch = PITCH,
                                    .x = p[0],
                                    .p = p[LAYERS],
                                    .q = p[2 * LAYERS],
                                    .z = p[3 * LAYERS],
                                    .p_above = p[4 * LAYERS],
                                    .e_vertical = p[5 * LAYERS],
                                    .e_horizontal = p[6 * LAYERS],
                                    .expected = p[5 * LAYERS],
                                    .expected_below = p[6 * LAYERS],
                                    .bar = p[7 * LAYERS],
                                    .bar_below = p[8 * LAYERS],
                                    .bar_pitch = PITCH,
                                    .mixture = p[9 * LAYERS],
                                    .weight = p[9 * LAYERS + PHOTOS],
                                    .g = p[9 * LAYERS + 2 * PHOTOS],
                                    .correction = p[9 * LAYERS + 2 * PHOTOS + 1],
                                    .jacobi = p[9 * LAYERS + 2 * PHOTOS + 2]};
}

static void lay_out_pactv(struct field *field)
{
    float *const *p = field->plane;
    field->pactv = (struct pactv_row){.d = p[0],
                                      .e_vertical = p[1],
                                      .e_horizontal = p[2],
                                      .p_tilde_above = p[3],
                                      .p_tilde = p[4],
                                      .q_tilde = p[5],
                                      .p = p[6],
                                      .q = p[7],
                                      .layer = p[8],
                                      .layer_below = p[9],
                                      .beta = 0.3f,
                                      .step = 0.4f,
                                      .momentum = 0.7f};
}

/* Pixels and samples of COLOURS floats: a row of them takes five planes, two rows of the canvas ten. */
static void lay_out_photo(struct field *field)
{
    float *const *p = field->plane;
    for (int x = 0; x < WIDTH; x++)
        field->points[x] = (struct warp_point){x, 12000 | 30000U << 16};
    field->photo = (struct photo_row){.width = WIDTH,
                                      .a = 0.9f,
                                      .b = 1.1f,
                                      .weight = p[0],
                                      .points = field->points,
                                      .right = 1,
                                      .down = WIDTH + 1,
                                      .p = p[1],
                                      .q = p[6],
                                      .canvas = p[11],
                                      .strip = p[21]};
}

/* ---- The kernels ---- */

#define SWEEP(name)                                                                                                    \
    static void run_##name(struct field *f)                                                                            \
    {                                                                                                                  \
        f->kernels.name(&f->sweep, &f->row, 0, WIDTH);                                                                 \
    }
SWEEP(primal)
SWEEP(primal_weighted)
SWEEP(dual)
SWEEP(dual_expected)
SWEEP(null)

static void run_scale(struct field *f)
{
    f->kernels.scale(f->plane[0], f->plane[1], f->plane[4], WIDTH);
}

static void run_residual(struct field *f)
{
    struct stencil stencil = {0.2f, 0.1f};
    f->kernels.residual(stencil, f->plane[0], f->plane[1], f->plane[2], f->plane[3], f->plane[4], WIDTH);
}

static void run_relax(struct field *f)
{
    struct stencil stencil = {0.2f, 0.1f};
    float *const *p = f->plane;
    f->kernels.relax(stencil, p[5], p[0], p[1], p[2], p[3], p[4], WIDTH);
}

static void run_restrict(struct field *f)
{
    f->kernels.restrict_(f->plane[0], f->plane[1], f->plane[2], f->plane[3], f->plane[4], f->plane[5], WIDTH / 2);
}

static void run_prolong(struct field *f)
{
    float *const *p = f->plane;
    f->kernels.prolong(p[3], p[0], p[1], p[2], p[4], p[5], WIDTH / 2, WIDTH);
}

static void run_pactv_layer(struct field *f)
{
    f->kernels.pactv_layer(&f->pactv, WIDTH);
}

static void run_pactv_dual(struct field *f)
{
    f->kernels.pactv_dual(&f->pactv, WIDTH);
}

static void run_photo(struct field *f)
{
    f->kernels.photo(&f->photo);
}

/* floats: read and written per pixel; rows above and below are not counted twice. */
static const struct entry {
    const char *name;
    void (*run)(struct field *field);
    double floats;
} entries[] = {
    {"primal", run_primal, 6 * LAYERS + PHOTOS + 2},
    {"primal_weighted", run_primal_weighted, 6 * LAYERS + 2 * PHOTOS + 2},
    {"dual", run_dual, 9 * LAYERS + 1},
    {"dual_expected", run_dual_expected, 8 * LAYERS + 1},
    {"null", run_null, 3 * LAYERS + 1},
    {"scale", run_scale, 3},
    {"residual", run_residual, 3},
    {"relax", run_relax, 4},
    {"restrict", run_restrict, 1.25},
    {"prolong", run_prolong, 3.25},
    {"pactv_layer", run_pactv_layer, 5},
    {"pactv_dual", run_pactv_dual, 11},
    {"photo", run_photo, 6 * COLOURS + 3},
};

#define ENTRIES (sizeof entries / sizeof entries[0])

static const struct path {
    const char *name;
    unsigned needed, allowed; /* features */
} paths[] = {
    {"c", 0, 0},
    {"sse2", CPU_SSE2, CPU_SSE2},
    {"avx2", CPU_AVX2, CPU_SSE2 | CPU_AVX2},
    {"avx512", CPU_AVX512, CPU_SSE2 | CPU_AVX2 | CPU_AVX512},
    {"neon", CPU_NEON, CPU_NEON},
    {"simd128", CPU_SIMD128, CPU_SIMD128},
};

#define PATHS (sizeof paths / sizeof paths[0])

static bool present(const struct path *path)
{
    return (path->needed & esra_cpu_features()) == path->needed;
}

/* ---- Measuring ---- */

struct job {
    struct bench_options options;
    double copy_s;             /* to copy a byte, read and write counted */
    double ns[ENTRIES][PATHS]; /* a pixel; infinite where the processor lacks the path */
};

/* Seconds of one call, over as many as fill a spell. */
static double time_s(const struct entry *entry, struct field *field)
{
    double start = esra_timer_now_s(), now;
    int calls = 0;
    do {
        for (int n = 0; n < 16; n++, calls++)
            entry->run(field);
        now = esra_timer_now_s();
    } while (now - start < SPELL_S);
    return (now - start) / calls;
}

static void measure(struct job *job, struct field *field)
{
    for (size_t e = 0; e < ENTRIES; e++)
        for (size_t p = 0; p < PATHS; p++)
            job->ns[e][p] = INFINITY;
    for (size_t e = 0; e < ENTRIES; e++)
        for (int n = 0; n < REPEATS; n++)
            for (size_t p = 0; p < PATHS; p++) {
                if (!present(&paths[p]))
                    continue;
                esra_kernels_fill(&field->kernels, paths[p].allowed);
                job->ns[e][p] = fmin(job->ns[e][p], 1e9 * time_s(&entries[e], field) / WIDTH);
            }
}

static bool measure_copying(struct job *job)
{
    char *from = esra_allocate(COPIED_BYTES, 1), *to = esra_allocate(COPIED_BYTES, 1);
    double best = INFINITY;
    for (int n = 0; from && to && n < REPEATS; n++) {
        double start = esra_timer_now_s();
        memcpy(to, from, COPIED_BYTES);
        best = fmin(best, esra_timer_now_s() - start);
        from[n] = (char)(to[n + 1] + 1);
    }
    job->copy_s = best / (2 * (double)COPIED_BYTES);
    bool done = from && to;
    esra_release(&from);
    esra_release(&to);
    return done;
}

static double copying_ns(const struct job *job, const struct entry *entry)
{
    return 1e9 * job->copy_s * sizeof(float) * entry->floats;
}

/* ---- Telling ---- */

static enum exit_code print_json(const struct job *job)
{
    json_t *list = json_array();
    for (size_t e = 0; e < ENTRIES; e++) {
        json_t *ns = json_object();
        for (size_t p = 0; p < PATHS; p++)
            if (present(&paths[p]))
                json_set(&ns, paths[p].name, json_real(job->ns[e][p]));
        json_append(&list, json_pack("{s:s, s:f, s:f, s:o}", "kernel", entries[e].name, "bytes_a_pixel",
                                     sizeof(float) * entries[e].floats, "copying_ns_a_pixel",
                                     copying_ns(job, &entries[e]), "ns_a_pixel", ns));
    }
    json_t *object = json_pack("{s:s, s:f, s:i, s:i, s:o}", "schema", "esra-bench-1", "copy_gb_s", 1e-9 / job->copy_s,
                               "photos", PHOTOS, "width", WIDTH, "kernels", list);
    return print_object(object, JSON_INDENT(2), NAME, EXIT_DONE);
}

static enum exit_code print(const struct job *job)
{
    printf("ns a pixel, rows of %d pixels in the cache, %d photos; copying memory: %.1f GB/s, reads and writes "
           "counted\n\n",
           WIDTH, PHOTOS, 1e-9 / job->copy_s);
    printf("%-16s %6s %8s", "kernel", "bytes", "copying");
    for (size_t p = 0; p < PATHS; p++)
        if (present(&paths[p]))
            printf(" %7s", paths[p].name);
    for (size_t e = 0; e < ENTRIES; e++) {
        printf("\n%-16s %6.0f %8.3f", entries[e].name, sizeof(float) * entries[e].floats, copying_ns(job, &entries[e]));
        for (size_t p = 0; p < PATHS; p++)
            if (present(&paths[p]))
                printf(" %7.3f", job->ns[e][p]);
    }
    putchar('\n');
    return finish_stdout(EXIT_DONE, NAME);
}

static enum exit_code work(void *all, const struct parsed *parsed)
{
    struct job *job = all;
    if (parsed->operand_count != 1 || strcmp(parsed->operands[0], "kernels") != 0)
        return complain(EXIT_USAGE, NAME,
                        "what is to be measured? 'kernels' is all there is; see 'esra help " NAME "'");
    struct field field;
    float *samples = esra_allocate((size_t)PLANES * PITCH + KERNEL_PAD, sizeof *samples);
    if (!samples || !measure_copying(job)) {
        esra_release(&samples);
        return complain(exit_code_of(ESRA_OUT_OF_MEMORY), NAME, "out of memory");
    }
    fill(&field, samples);
    lay_out_sweep(&field);
    lay_out_pactv(&field);
    lay_out_photo(&field);
    measure(job, &field);
    esra_release(&samples);
    return job->options.json ? print_json(job) : print(job);
}

const struct command bench_command = {
    .name = NAME,
    .summary = "measure this processor: what each inner loop costs",
    .operands = "kernels",
    .max_operands = 1,
    .description =
        "Times every kernel of the solver with plain C and with each instruction set that this processor has, on rows "
        "that "
        "lie in its caches: nanoseconds a pixel, for all layers of three photos where a kernel works on layers. "
        "'bytes' is "
        "what a pixel takes from memory and gives back where nothing is cached, 'copying' how long that takes at the "
        "bandwidth that memcpy reaches here: a kernel faster than that waits for memory.\n\n"
        "The best of several runs counts, and the paths take turns, so that a busy machine disturbs the comparison "
        "least.",
    .example = "esra bench kernels\nesra bench kernels --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .job_size = sizeof(struct job),
    .work = work,
};
