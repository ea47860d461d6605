/* ops/fft.c - the radix-2 transform of Cooley & Tukey (1965), rows first, then columns. */
#include "ops/fft.h"

#include <math.h>

#include "base/maths.h"

static void swap(float *a, float *b)
{
    float keep[2] = {a[0], a[1]};
    a[0] = b[0];
    a[1] = b[1];
    b[0] = keep[0];
    b[1] = keep[1];
}

/* Moves element k to the place whose number has k's bits in reverse. */
static void reverse_bits(float *data, int n)
{
    for (int k = 1, reversed = 0; k < n; k++) {
        int bit = n >> 1;
        for (; reversed & bit; bit >>= 1)
            reversed ^= bit;
        reversed |= bit;
        if (k < reversed)
            swap(data + 2 * k, data + 2 * reversed);
    }
}

static void butterfly(float *a, float *b, double c, double s)
{
    float real = (float)(b[0] * c - b[1] * s), imaginary = (float)(b[0] * s + b[1] * c);
    b[0] = a[0] - real;
    b[1] = a[1] - imaginary;
    a[0] += real;
    a[1] += imaginary;
}

static void transform_line(float *data, int n, int sign)
{
    reverse_bits(data, n);
    for (int half = 1; half < n; half *= 2)
        for (int k = 0; k < half; k++) {
            double angle = sign * 3.14159265358979323846 * k / half, c = esra_cos(angle), s = esra_sin(angle);
            for (int start = k; start < n; start += 2 * half)
                butterfly(data + 2 * start, data + 2 * (start + half), c, s);
        }
}

struct lines {
    float *data, *scratch;
    int width, height, sign;
};

static void transform_row(void *work, int task, int worker)
{
    const struct lines *l = work;
    (void)worker;
    transform_line(l->data + 2 * (size_t)task * (size_t)l->width, l->width, l->sign);
}

static void transform_column(void *work, int task, int worker)
{
    const struct lines *l = work;
    float *line = l->scratch + 2 * (size_t)worker * (size_t)l->height;
    for (int y = 0; y < l->height; y++) {
        const float *from = l->data + 2 * ((size_t)y * (size_t)l->width + (size_t)task);
        line[2 * y] = from[0];
        line[2 * y + 1] = from[1];
    }
    transform_line(line, l->height, l->sign);
    for (int y = 0; y < l->height; y++) {
        float *to = l->data + 2 * ((size_t)y * (size_t)l->width + (size_t)task);
        to[0] = line[2 * y];
        to[1] = line[2 * y + 1];
    }
}

void esra_fft_image(struct context *context, float *data, int width, int height, int sign, float *scratch)
{
    struct lines lines = {data, scratch, width, height, sign};
    esra_context_run(context, transform_row, &lines, height, NULL);
    esra_context_run(context, transform_column, &lines, width, NULL);
}
