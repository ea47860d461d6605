/* tests/solve/golden.c - problems whose optimum an interior-point solver found: the fast engine comes within 1e-5 of
 * it, and its bound is one. */
#include "instance.h"

/* What the golden optima themselves are good to. */
#define OPTIMUM_ERROR 2e-6

static char text[4096];

static bool read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    text[size] = '\0';
    if (file)
        fclose(file);
    return size > 0;
}

/* Numbers of the list, or the number, after "name": in a small JSON file. */
static int read_numbers(const char *name, double *numbers, int most)
{
    const char *at = strstr(text, name);
    int count = 0;
    at = at ? strchr(at, ':') : NULL;
    bool list = at && strspn(at + 1, " \n[") > 1 && strchr(at, '[') && strchr(at, '[') < at + 4;
    const char *end = at ? strchr(at, list ? ']' : '\n') : NULL;
    while (at && count < most && (at = strpbrk(at, "-0123456789")) && at < end)
        numbers[count++] = strtod(at, (char **)&at);
    return count;
}

/* The samples of a float64 or float32 array in C order, one after the other. */
static void read_samples(const char *path, float *out, size_t count)
{
    FILE *file = fopen(path, "rb");
    unsigned char head[10];
    if (!CHECK(file && fread(head, 1, 10, file) == 10) || !CHECK(head[6] == 1))
        return;
    static char header[65537];
    size_t length = (size_t)head[8] + 256 * (size_t)head[9];
    CHECK(fread(header, 1, length, file) == length);
    header[length] = '\0';
    bool wide = strstr(header, "f8");
    for (size_t n = 0; n < count; n++) {
        double value = 0;
        float narrow = 0;
        CHECK(fread(wide ? (void *)&value : (void *)&narrow, wide ? 8 : 4, 1, file) == 1);
        out[n] = wide ? (float)value : narrow;
    }
    fclose(file);
}

static void solve_golden(const char *name)
{
    char path[512];
    double mixing[MOST_PHOTOS], shape[4], lambda = 0, optimum = 0;
    snprintf(path, sizeof path, "%s/golden/%s/problem.json", ESRA_SHARED, name);
    if (!read_text(path))
        SKIP("%s is not here", path);
    int photos = read_numbers("mixing", mixing, MOST_PHOTOS), dimensions = read_numbers("mixtures_shape", shape, 4);
    CHECK(read_numbers("lambda", &lambda, 1) == 1 && read_numbers("optimum", &optimum, 1) == 1 && dimensions >= 3);
    struct instance it = instance_make(photos, (int)shape[2], (int)shape[1], dimensions > 3 ? (int)shape[3] : 1);
    size_t size = (size_t)(it.width * it.height * it.channels);
    memcpy(it.mixing, mixing, sizeof mixing);
    it.lambda = lambda;
    snprintf(path, sizeof path, "%s/golden/%s/mixtures.npy", ESRA_SHARED, name);
    read_samples(path, it.mixtures[0].data, size * (size_t)photos);
    snprintf(path, sizeof path, "%s/golden/%s/gradients.npy", ESRA_SHARED, name);
    read_samples(path, it.gradients[0].data, size * (size_t)(2 * photos + 2));

    esra_solver *solver;
    esra_settings settings;
    esra_info info;
    esra_settings_default(&settings);
    settings.gap = 1e-5;
    settings.max_iterations = 20000;
    CHECK(esra_solver_create(&solver) == ESRA_OK && instance_solve(&it, solver, &settings, &info) == ESRA_OK);
    instance_verify(&it, &info);
    CHECK(info.objective <= optimum * (1 + 1e-5 + OPTIMUM_ERROR));
    CHECK(info.objective >= optimum * (1 - OPTIMUM_ERROR) && info.bound <= optimum * (1 + OPTIMUM_ERROR));
    if (!CHECK(info.outcome == ESRA_OPTIMAL))
        printf("    gap %g\n", info.gap);
    printf("  %s: F/optimum - 1 = %.2g, gap %.2g, %d iterations\n", name, info.objective / optimum - 1, info.gap,
           info.iterations);
    esra_solver_free(&solver);
    instance_free(&it);
}

static void grey_m3(void)
{
    solve_golden("grey-m3");
}

static void colour_m2(void)
{
    solve_golden("colour-m2");
}

static void denoise_m1(void)
{
    solve_golden("denoise-m1");
}

static void box_binds_m2(void)
{
    solve_golden("box-binds-m2");
}

int main(void)
{
    RUN(grey_m3);
    RUN(colour_m2);
    RUN(denoise_m1);
    RUN(box_binds_m2);
    return check_report();
}
