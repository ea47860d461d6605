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

/* c and s of e^(i angle), for every angle of a transform of `n` values in the order of its use: n - 1 of them. */
static void fill_turns(double (*turns)[2], int n, int sign)
{
    for (int half = 1; half < n; half *= 2)
        for (int k = 0; k < half; k++, turns++) {
            double angle = sign * 3.14159265358979323846 * k / half;
            (*turns)[0] = esra_cos(angle);
            (*turns)[1] = esra_sin(angle);
        }
}

static void transform_line(float *data, int n, double (*turns)[2])
{
    reverse_bits(data, n);
    for (int half = 1; half < n; half *= 2)
        for (int k = 0; k < half; k++, turns++)
            for (int start = k; start < n; start += 2 * half)
                butterfly(data + 2 * start, data + 2 * (start + half), (*turns)[0], (*turns)[1]);
}

struct lines {
    float *data, *scratch;
    int width, height;
    double (*turns)[2]; /* [the longer side] */
};

static void transform_row(void *work, int task, int worker)
{
    const struct lines *l = work;
    (void)worker;
    transform_line(l->data + 2 * (size_t)task * (size_t)l->width, l->width, l->turns);
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
    transform_line(line, l->height, l->turns);
    for (int y = 0; y < l->height; y++) {
        float *to = l->data + 2 * ((size_t)y * (size_t)l->width + (size_t)task);
        to[0] = line[2 * y];
        to[1] = line[2 * y + 1];
    }
}

size_t esra_fft_scratch(const struct context *context, int width, int height)
{
    size_t turns = (size_t)(width > height ? width : height) * 2 * sizeof(double) / sizeof(float);
    return turns + 2 * (size_t)height * (size_t)esra_context_threads(context);
}

/* Shorter lines use the beginning of the longer ones' turns. */
void esra_fft_image(struct context *context, float *data, int width, int height, int sign, float *scratch)
{
    int longer = width > height ? width : height;
    struct lines lines = {data, scratch + 4 * (size_t)longer, width, height, (double(*)[2])(void *)scratch};
    fill_turns(lines.turns, longer, sign);
    esra_context_run(context, transform_row, &lines, height, NULL);
    esra_context_run(context, transform_column, &lines, width, NULL);
}
