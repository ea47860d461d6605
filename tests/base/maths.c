/* tests/base/maths.c - own versions of <math.h>'s functions: within their bounds of its long doubles, and the same bits
 * wherever this runs. */
#include "base/maths.h"

#include <float.h>

#include "check.h"

#define ARGUMENTS 20000

/* Where long double is double, the reference itself is up to 1 ulp off. */
#define SLACK (LDBL_MANT_DIG > DBL_MANT_DIG ? 0 : 1)

/* |a - b| in units of the last place of a number of `digits` bits. */
static double ulps(long double a, long double b, int digits, int least_exponent)
{
    int exponent;
    if (a == b)
        return 0;
    frexpl(b, &exponent);
    return (double)(fabsl(a - b) / ldexpl(1, (exponent > least_exponent ? exponent : least_exponent) - digits));
}

static double of_doubles(double a, long double b)
{
    return ulps(a, b, DBL_MANT_DIG, DBL_MIN_EXP) - SLACK;
}

static double of_floats(float a, long double b)
{
    return ulps(a, b, FLT_MANT_DIG, FLT_MIN_EXP) - SLACK;
}

static long double exponential(long double x)
{
    return expl(x);
}

/* Arguments spread evenly, or by their size from 2^lowest to 2^highest. */
static const struct function {
    const char *name;
    double (*own)(double);
    long double (*reference)(long double);
    bool by_size;
    double lowest, highest, bound;
} functions[] = {
    {"sin", esra_sin, sinl, false, -10, 10, .9},
    {"sin, small", esra_sin, sinl, true, -40, 0, .9},
    {"sin, far", esra_sin, sinl, true, 3, 20, 1},
    {"cos", esra_cos, cosl, false, -10, 10, .9},
    {"cos, small", esra_cos, cosl, true, -40, 0, .9},
    {"cos, far", esra_cos, cosl, true, 3, 20, 1},
    {"exp", esra_exp, exponential, false, -30, 30, 1},
    {"exp, far", esra_exp, exponential, false, -744, 709.7, 1},
    {"exp, small", esra_exp, exponential, true, -60, 0, 1},
    {"log", esra_log, logl, false, 0, 4, 1},
    {"log near 1", esra_log, logl, false, .9, 1.1, 1},
    {"log, far", esra_log, logl, true, -1070, 1023, 1},
    {"log1p", esra_log1p, log1pl, false, -.99, 3, 1},
    {"log1p, small", esra_log1p, log1pl, true, -60, 0, 1},
    {"log1p, far", esra_log1p, log1pl, true, 0, 1000, 1},
    {"log10", esra_log10, log10l, true, -60, 60, 2.5},
};

static double argument(const struct function *f)
{
    double x = check_random(f->lowest, f->highest);
    return f->by_size ? exp2(x) : x;
}

static void doubles_lie_within_their_bounds(void)
{
    for (size_t n = 0; n < sizeof functions / sizeof functions[0]; n++) {
        const struct function *f = &functions[n];
        double most = 0, at = 0;
        for (int k = 0; k < ARGUMENTS; k++) {
            double x = argument(f), off = of_doubles(f->own(x), f->reference(x));
            if (off > most) {
                most = off;
                at = x;
            }
        }
        printf("  %s: %.3f ulp at %.17g\n", f->name, most, at);
        CHECK(most <= f->bound);
    }
}

static void powers_lie_within_theirs(void)
{
    double near = 0, far = 0;
    for (int k = 0; k < ARGUMENTS; k++) {
        double x = exp2(check_random(-20, 20)), y = check_random(-2, 2), z = y * 25;
        near = fmax(near, of_doubles(esra_pow(x, y), powl(x, y)));
        far = fmax(far, of_doubles(esra_pow(x, z), powl(x, z)));
    }
    printf("  pow: %.3f ulp, far %.3f\n", near, far);
    CHECK(near <= 1 && far <= 16);
}

static void hypotenuses_lie_within_theirs(void)
{
    double most = 0, floats = 0;
    for (int k = 0; k < ARGUMENTS; k++) {
        double size = exp2(k % 3 == 0 ? check_random(-1000, 1000) : 3), x = size * check_random(-1, 1),
               y = size * check_random(-1, 1);
        float p = (float)check_random(-1, 1), q = (float)check_random(-1, 1);
        most = fmax(most, of_doubles(esra_hypot(x, y), hypotl(x, y)));
        floats = fmax(floats, of_floats(esra_hypotf(p, q), hypotl(p, q)));
    }
    printf("  hypot: %.3f ulp, of floats %.3f\n", most, floats);
    CHECK(most <= 1.5 && floats <= .51);
}

static void floats_lie_within_theirs(void)
{
    double exponentials = 0, angles = 0;
    for (int k = 0; k < ARGUMENTS; k++) {
        float x = (float)check_random(k % 2 ? -5 : -103, k % 2 ? 5 : 88.7);
        float p = (float)check_random(-1, 1), q = (float)(k % 3 ? check_random(-1, 1) : p * check_random(-1e-3, 1e-3));
        exponentials = fmax(exponentials, of_floats(esra_expf(x), expl(x)));
        angles = fmax(angles, of_floats(esra_atan2f(p, q), atan2l(p, q)));
    }
    printf("  expf: %.3f ulp, atan2f: %.3f\n", exponentials, angles);
    CHECK(exponentials <= 1 && angles <= 1);
}

static void ends_are_as_they_should_be(void)
{
    CHECK(esra_exp(-1e9) == 0 && isinf(esra_exp(1e9)) && esra_exp(0) == 1 && isnan(esra_exp(NAN)));
    CHECK(esra_expf(-1e9f) == 0 && isinf(esra_expf(1e9f)) && esra_expf(0) == 1 && isnan(esra_expf(NAN)));
    CHECK(esra_log(0) == -INFINITY && isnan(esra_log(-1)) && esra_log(INFINITY) == INFINITY && esra_log(1) == 0);
    CHECK(esra_log1p(-1) == -INFINITY && isnan(esra_log1p(-2)) && esra_log1p(0) == 0 && isnan(esra_log1p(NAN)));
    CHECK(esra_pow(0, 2.4) == 0 && esra_pow(2, 0) == 1 && esra_pow(1, 1e9) == 1 && isnan(esra_pow(-1, .5)));
    CHECK(isinf(esra_pow(2, 1e9)) && esra_pow(2, -1e9) == 0 && isinf(esra_pow(0, -1)) && esra_pow(INFINITY, -1) == 0);
    CHECK(esra_hypot(0, 0) == 0 && esra_hypot(0x3p700, 0x4p700) == 0x5p700 && isinf(esra_hypot(-INFINITY, 1)) &&
          isnan(esra_hypot(NAN, 1)));
    CHECK(esra_sin(0) == 0 && esra_cos(0) == 1 && isnan(esra_sin(INFINITY)) && isnan(esra_cos(NAN)));
    CHECK(esra_atan2f(0, 1) == 0 && esra_atan2f(0, 0) == 0 && esra_atan2f(1, 0) == (float)acos(0));
    CHECK(esra_atan2f(0, -1) == (float)acos(-1) && esra_atan2f(-0.f, -1) == (float)-acos(-1) &&
          esra_atan2f(-1, 0) < -1);
}

/* FNV-1a over the bits of values, of arguments that every machine computes alike. */
static uint64_t hash(uint64_t so_far, double value)
{
    unsigned char bytes[sizeof value];
    memcpy(bytes, &value, sizeof value);
    for (size_t n = 0; n < sizeof bytes; n++)
        so_far = (so_far ^ bytes[n]) * 0x100000001b3u;
    return so_far;
}

/* The constant was found on x86-64 with gcc 12 and glibc, and is the same with every other compiler, C library and
 * processor: that is what the functions are for. */
static void bits_are_the_same_everywhere(void)
{
    uint64_t all = 0xcbf29ce484222325u;
    for (int k = 1; k <= 4000; k++) {
        double x = k / 256., near = k / 4096.;
        all = hash(hash(all, esra_sin(x)), esra_cos(x));
        all = hash(hash(all, esra_exp(-x)), esra_log(x));
        all = hash(hash(all, esra_log1p(near)), esra_log10(x));
        all = hash(hash(all, esra_pow(near, 2.4)), esra_hypot(x, near + 1 / x));
        all = hash(hash(all, esra_expf((float)-x)), esra_atan2f((float)(near - .5), (float)(1 / x - .5)));
        all = hash(all, esra_hypotf((float)x, (float)near));
    }
    if (!CHECK(all == 0x7dde2b24c80bb294u))
        printf("  %016llx\n", (unsigned long long)all);
}

int main(void)
{
    RUN(doubles_lie_within_their_bounds);
    RUN(powers_lie_within_theirs);
    RUN(hypotenuses_lie_within_theirs);
    RUN(floats_lie_within_theirs);
    RUN(ends_are_as_they_should_be);
    RUN(bits_are_the_same_everywhere);
    return check_report();
}
