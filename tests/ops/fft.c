/* tests/ops/fft.c - the Fourier transform agrees with its definition. */
#include "ops/fft.h"

#include "context.h"

static void the_transform_is_fouriers(void)
{
    enum { WIDTH = 8, HEIGHT = 4 };
    struct context *context = make_context(2);
    float data[2 * WIDTH * HEIGHT], direct[2 * WIDTH * HEIGHT], scratch[4 * WIDTH + 2 * 2 * HEIGHT];
    CHECK(esra_fft_scratch(context, WIDTH, HEIGHT) == sizeof scratch / sizeof *scratch);
    check_fill(data, 2 * WIDTH * HEIGHT, -1, 1);
    for (int k = 0; k < WIDTH * HEIGHT; k++) {
        double real = 0, imaginary = 0;
        for (int n = 0; n < WIDTH * HEIGHT; n++) {
            double angle = -2 * 3.14159265358979 *
                           ((double)(k % WIDTH) * (n % WIDTH) / WIDTH + (double)(k / WIDTH) * (n / WIDTH) / HEIGHT);
            real += data[2 * n] * cos(angle) - data[2 * n + 1] * sin(angle);
            imaginary += data[2 * n] * sin(angle) + data[2 * n + 1] * cos(angle);
        }
        direct[2 * k] = (float)real;
        direct[2 * k + 1] = (float)imaginary;
    }
    esra_fft_image(context, data, WIDTH, HEIGHT, -1, scratch);
    for (int n = 0; n < 2 * WIDTH * HEIGHT; n++)
        CHECK_NEAR(data[n], direct[n], 1e-5);
    esra_context_free(&context);
}

/* Of one bright point: e^(-2 pi i k n/N) everywhere, however high the image. */
static void tall_images_are_transformed(void)
{
    enum { WIDTH = 2, HEIGHT = 16384, AT = 3 };
    static float data[2 * WIDTH * HEIGHT], scratch[4 * HEIGHT + 2 * 2 * HEIGHT];
    struct context *context = make_context(2);
    data[2 * AT * WIDTH] = 1;
    esra_fft_image(context, data, WIDTH, HEIGHT, -1, scratch);
    for (int k = 0; k < HEIGHT; k++) {
        double angle = -2 * 3.14159265358979 * AT * k / HEIGHT;
        CHECK_NEAR(data[2 * k * WIDTH], cos(angle), 1e-5);
        CHECK_NEAR(data[2 * k * WIDTH + 1], sin(angle), 1e-5);
    }
    esra_context_free(&context);
}

int main(void)
{
    RUN(the_transform_is_fouriers);
    RUN(tall_images_are_transformed);
    return check_report();
}
