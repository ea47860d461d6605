/* base/maths.h - the functions of <math.h> that C libraries round each in their own way, and one library by the
 * processor it runs on. Here they are additions, multiplications, divisions and square roots of IEEE 754, which have
 * one answer: results have the same bits with every C library (doc/NUMERICS.md). tests/base/maths.c holds them to the
 * bounds given here, in units in the last place (ulp). */
#ifndef ESRA_BASE_MATHS_H
#define ESRA_BASE_MATHS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* Within 1 ulp for |x| up to 2^20, the farthest that the reduction by multiples of pi/2 is exact enough. */
double esra_sin(double x);
double esra_cos(double x);

/* Within 1 ulp; 0 and infinity past the range of doubles. */
double esra_exp(double x);

/* Within 1 ulp (log10: 2.5); -infinity of 0, NaN below. */
double esra_log(double x);
double esra_log1p(double x);
double esra_log10(double x);

/* x^y of x >= 0 and a finite y: within 1 ulp while |y log x| < 32, and 16 ulp everywhere. */
double esra_pow(double x, double y);

/* Within 1 ulp of a float, of finite numbers. */
float esra_atan2f(float y, float x);

/* sqrt(x^2 + y^2) within 1.5 ulp, without overflow on the way. */
static inline double esra_hypot(double x, double y)
{
    double a = fabs(x), b = fabs(y), most = a > b ? a : b;
    if (most > 0x1p-500 && most < 0x1p500)
        return sqrt(x * x + y * y);
    double scale = most < 1 ? 0x1p600 : 0x1p-600;
    return sqrt(x * scale * (x * scale) + y * scale * (y * scale)) / scale;
}

/* Rounded once, but for doubles that lie between two floats to their last bit. */
static inline float esra_hypotf(float x, float y)
{
    return (float)sqrt((double)x * x + (double)y * y);
}

/* 2^n for n = -75..75. */
static inline float float_power(int32_t n)
{
    uint32_t bits = (uint32_t)(n + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

/* Within 1 ulp, 0 and infinity past the range of floats. Without a branch, so that loops over it become vectors:
 * e^x = 2^n e^r, where n is rounded by adding 1.5 2^23, whose last bits are then n, and ln 2 is the sum of two parts,
 * the first so short that n times it is exact; e^r by its series, |r| <= ln 2/2. 2^n in two steps, that its ends are
 * reached. */
static inline float esra_expf(float x)
{
    const float shift = 0x1.8p23f, ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;
    float within = x < -104.f ? -104.f : x > 89.f ? 89.f : x;
    float shifted = within * 0x1.715476p0f + shift, n = shifted - shift;
    float r = (within - n * ln2_high) - n * ln2_low;
    float tail = r * (1.f / 6 + r * (1.f / 24 + r * (1.f / 120 + r * (1.f / 720 + r * (1.f / 5040)))));
    float power = 1 + (r + r * r * (.5f + tail));
    int32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    int32_t whole = (bits & 0xffff) - (bits & 0x8000) * 2, half = whole / 2;
    return power * float_power(half) * float_power(whole - half);
}

#endif
