/* base/maths.c - sine, exponential, logarithm and arc tangent by their series, after the argument has been brought near
 * zero (Muller, "Elementary Functions", 2016: Cody and Waite's reduction). A reduced argument is a sum of two doubles,
 * and so is each constant; the second parts are what holds the errors below one ulp. */
#include "base/maths.h"

#include <stdbool.h>

/* ---- Bits of a double ---- */

static double with_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* 2^n for n = -1022..1023. */
static double power(int n)
{
    return with_bits((uint64_t)(n + 1023) << 52);
}

/* x rounded to a whole number, |x| < 2^31: past 1.5 2^52 doubles are whole. */
static double rounded(double x, int *whole)
{
    double shifted = x + 0x1.8p52;
    *whole = (int)(uint32_t)bits_of(shifted);
    return shifted - 0x1.8p52;
}

/* ---- Sine and cosine ---- */

/* x = n pi/2 + high + low, |high| <= pi/4. The parts of pi/2 have 33 bits each, so that n of 20 bits times one is
 * exact. */
static int quarter_turns(double x, double *high, double *low)
{
    const double part_1 = 0x1.921fb544p+0, part_2 = 0x1.0b4611a6p-34, part_3 = 0x1.3198a2e037073p-69;
    int whole;
    double n = rounded(x * 0x1.45f306dc9c883p-1, &whole);
    double r = x - n * part_1, second = n * part_2, third = n * part_3;
    double sum = r - second;
    double left = (r - sum) - second; /* |r| is 0 or much above |second| */
    *high = sum + (left - third);
    *low = (sum - *high) + (left - third);
    return whole & 3;
}

/* sin(high + low) = high + (low cos(high) + high^3 (-1/3! + ...)). */
static double sine(double high, double low)
{
    double z = high * high;
    double even = 1. / 120 + z * z * (1. / 362880 + z * z * (1. / 6227020800 + z * z * (1. / 355687428096000)));
    double odd = 1. / 5040 + z * z * (1. / 39916800 + z * z * (1. / 1307674368000));
    double series = z * (even - z * odd);
    return high + (low * (1 - z / 2) + high * z * (series - 1. / 6));
}

/* 1 - z/2 is taken with what its rounding loses. */
static double cosine(double high, double low)
{
    double z = high * high, half = z / 2, most = 1 - half, lost = (1 - most) - half;
    double even = 1. / 24 + z * z * (1. / 40320 + z * z * (1. / 479001600 + z * z * (1. / 20922789888000)));
    double odd = 1. / 720 + z * z * (1. / 3628800 + z * z * (1. / 87178291200));
    return most + (lost - high * low + z * z * (even - z * odd));
}

double esra_sin(double x)
{
    double high, low;
    switch (quarter_turns(x, &high, &low)) {
    case 0: return sine(high, low);
    case 1: return cosine(high, low);
    case 2: return -sine(high, low);
    default: return -cosine(high, low);
    }
}

double esra_cos(double x)
{
    double high, low;
    switch (quarter_turns(x, &high, &low)) {
    case 0: return cosine(high, low);
    case 1: return -sine(high, low);
    case 2: return -cosine(high, low);
    default: return sine(high, low);
    }
}

/* ---- Exponential and logarithm ---- */

/* ln 2 in two parts, the first of 42 bits. */
static const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;

/* e^(x + more), more far below x. */
static double exponential(double x, double more)
{
    int whole;
    double n = rounded(x * 0x1.71547652b82fep+0, &whole);
    double high = x - n * ln2_high, low = n * ln2_low - more, r = high - low, z = r * r;
    low = (high - r) - low;
    double even = .5 + z * (1. / 24 + z * (1. / 720 + z * (1. / 40320 + z * (1. / 3628800 + z * (1. / 479001600)))));
    double odd =
        1. / 6 + z * (1. / 120 + z * (1. / 5040 + z * (1. / 362880 + z * (1. / 39916800 + z * (1. / 6227020800)))));
    double series = 1 + (r + (low + low * r + z * (even + r * odd)));
    int half = whole / 2;
    return series * power(half) * power(whole - half);
}

double esra_exp(double x)
{
    return exponential(x < -746 ? -746 : x > 710 ? 710 : x, 0);
}

/* log x = high + low for a finite x > 0: x = 2^k (1 + f), f in sqrt(1/2) - 1 .. sqrt(2) - 1, s = f/(2 + f), and
 *     log(1 + f) = f - f^2/2 + s (f^2/2 + 2 s^2/3 + 2 s^4/5 + ...). */
static double logarithm(double x, double *low)
{
    int k = 0;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    uint64_t bits = bits_of(x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
    k += (int)(bits >> 52) - 1023;
    double f = with_bits((bits & 0xfffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1;
    double s = f / (2 + f), z = s * s, half = f * f / 2;
    double odd = 2. / 3 + z * z * (2. / 7 + z * z * (2. / 11 + z * z * (2. / 15 + z * z * (2. / 19))));
    double even = 2. / 5 + z * z * (2. / 9 + z * z * (2. / 13 + z * z * (2. / 17 + z * z * (2. / 21))));
    double big = k * ln2_high, high = big + f; /* |big| is 0 or above |f| */
    double lost = (big - high) + f, rest = s * (half + z * (odd + z * even)) + k * ln2_low;
    double sum = high - half;
    *low = ((high - sum) - half) + (lost + rest);
    return sum;
}

double esra_log(double x)
{
    double low;
    if (!(x > 0 && x < INFINITY))
        return x == 0 ? -INFINITY : x > 0 ? x : NAN;
    double high = logarithm(x, &low);
    return high + low;
}

/* What 1 + x loses is small beside it, and log(u + d) = log u + d/u nearly. */
double esra_log1p(double x)
{
    double u = 1 + x, low;
    if (!(u > 0 && u < INFINITY) || u == 1)
        return u == 1 ? x : esra_log(u);
    double lost = x < 1 ? x - (u - 1) : 1 - (u - x);
    double high = logarithm(u, &low);
    return high + (low + lost / u);
}

double esra_log10(double x)
{
    return esra_log(x) / 0x1.26bb1bbb55516p+1;
}

/* a b = the product returned + *low (Dekker 1971). */
static double product(double a, double b, double *low)
{
    const uint64_t half = ~(uint64_t)0x7ffffff;
    double big_a = with_bits(bits_of(a) & half), big_b = with_bits(bits_of(b) & half);
    double small_a = a - big_a, small_b = b - big_b, p = a * b;
    *low = ((big_a * big_b - p) + big_a * small_b + small_a * big_b) + small_a * small_b;
    return p;
}

double esra_pow(double x, double y)
{
    double low, lost;
    if (!(x > 0 && x < INFINITY) || y == 0)
        return y == 0 ? 1 : x < 0 || isnan(x) ? NAN : (x == 0) == (y > 0) ? 0 : INFINITY;
    double high = logarithm(x, &low), sum = high + low;
    low = (high - sum) + low;
    double p = product(sum, y, &lost);
    if (!(p > -746 && p < 710))
        return p > 0 ? INFINITY : 0;
    return exponential(p, lost + y * low);
}

/* ---- Arc tangent ---- */

/* atan t = t - t^3/3 + ..., |t| <= tan(pi/8), in double: a float's rounding is all that is left. */
static double arc_tangent(double t)
{
    double z = t * t, sum = 1. / 25;
    for (int k = 23; k > 0; k -= 2)
        sum = 1. / k - z * sum;
    return t * sum;
}

float esra_atan2f(float y, float x)
{
    const double quarter = 0x1.921fb54442d18p-1;
    double a = fabs((double)x), b = fabs((double)y), most = a > b ? a : b, least = a > b ? b : a;
    if (most == 0)
        return signbit(x) ? copysignf((float)(4 * quarter), y) : y;
    bool far = least > 0x1.a827999fcef34p-2 * most;
    double angle = arc_tangent(far ? (least - most) / (least + most) : least / most) + (far ? quarter : 0);
    if (b > a)
        angle = 2 * quarter - angle;
    if (signbit(x))
        angle = 4 * quarter - angle;
    return copysignf((float)angle, y);
}
