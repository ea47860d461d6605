/* kernels/pixel.h - the arithmetic of one pixel. kernels/vector.h restates it for vectors, operation by operation. */
#ifndef ESRA_KERNELS_PIXEL_H
#define ESRA_KERNELS_PIXEL_H

static inline float pixel_clip(float t, float lowest, float highest)
{
    t = t < lowest ? lowest : t;
    return t > highest ? highest : t;
}

/* w = lambda D'u + z of one layer. */
static inline float pixel_force(float lambda, float p_above, float p, float q_left, float q, float z)
{
    return lambda * ((p_above - p) + (q_left - q)) + z;
}

/* One step of a component of u, |u| <= 1, towards the difference `step` from the extracted one. */
static inline float pixel_dual(float u, float step, float extracted, float sigma, float rho)
{
    float t = pixel_clip(u + sigma * (step - extracted), -1, 1);
    return u + rho * (t - u);
}

/* E of an expected layer: none beside a sample that is not known, which is NaN. */
static inline float pixel_expected(float here, float there)
{
    float difference = there - here;
    return difference == difference ? difference : 0;
}

/* One step of z, the dual of 0 <= x <= 1: z + r2 x less its projection on [0, r2]. */
static inline float pixel_box(float z, float bar, float r2, float rho)
{
    float t = z + r2 * bar;
    return z + rho * ((t - pixel_clip(t, 0, r2)) - z);
}

/* PACTV: the extrapolated dual z~, and its step towards a layer's difference. */
static inline float pixel_extrapolate(float z, float before, float momentum)
{
    return z + momentum * (z - before);
}

static inline float pixel_project(float zt, float difference, float extracted, float step)
{
    return pixel_clip(zt + step * (difference - extracted), -1, 1);
}

#endif
