/* bench/joint_scene.c - scenes made by bench/joint_scenes.py. */
#include "joint_scene.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"

/* Photo number `first` on from an array (n, c, h, w) or (c, h, w). */
static esra_status read_images(struct image *images, int count, const char *folder, const char *name,
                               struct message *message)
{
    char path[1024];
    struct npy_array array = {0};
    esra_status status = ESRA_OK;
    snprintf(path, sizeof path, "%s/%s.npy", folder, name);
    TRY(esra_npy_read(&array, path, NULL, NULL, message));
    int last = array.dimensions - 1;
    int c = (int)array.shape[last - 2], h = (int)array.shape[last - 1], w = (int)array.shape[last];
    for (int i = 0; i < count; i++) {
        TRY(esra_image_create(&images[i], w, h, c, message));
        size_t samples = (size_t)c * h * w;
        memcpy(images[i].data, array.data + i * samples, samples * sizeof(float));
    }
done:
    esra_npy_free(&array);
    return status;
}

static esra_status read_model(struct scene *scene, const char *folder, struct message *message)
{
    char path[1024];
    int width, height, good;
    snprintf(path, sizeof path, "%s/model.txt", folder);
    FILE *file = fopen(path, "r");
    if (!file)
        return esra_fail(message, ESRA_NO_INPUT, "%s cannot be read: make it with bench/joint_scenes.py", path);
    good = fscanf(file, "%d %d", &width, &height) == 2;
    for (int i = 0; i < SCENE_PHOTOS; i++) {
        for (int k = 0; k < 9; k++)
            good = good && fscanf(file, "%lf", &scene->ht[i][k]) == 1;
        for (int k = 0; k < 9; k++)
            good = good && fscanf(file, "%lf", &scene->hr[i][k]) == 1;
        good = good && fscanf(file, "%lf %lf", &scene->a[i], &scene->b[i]) == 2;
    }
    fclose(file);
    return good ? ESRA_OK : esra_fail(message, ESRA_BAD_DATA, "%s is not a model", path);
}

esra_status bench_scene_read(struct scene *scene, const char *folder, struct message *message)
{
    esra_status status = ESRA_OK;
    *scene = (struct scene){0};
    TRY(read_images(scene->photos, SCENE_PHOTOS, folder, "photos", message));
    TRY(read_images(&scene->transmitted, 1, folder, "transmitted", message));
    TRY(read_images(&scene->reflected, 1, folder, "reflected", message));
    TRY(read_model(scene, folder, message));
done:
    return status;
}

void bench_scene_free(struct scene *scene)
{
    for (int i = 0; i < SCENE_PHOTOS; i++)
        esra_image_free(&scene->photos[i]);
    esra_image_free(&scene->transmitted);
    esra_image_free(&scene->reflected);
}

void bench_matrix_multiply(const double a[9], const double b[9], double out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
}

void bench_matrix_invert(const double a[9], double out[9])
{
    double det = 0;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            out[3 * c + r] = a[3 * r1 + c1] * a[3 * r2 + c2] - a[3 * r1 + c2] * a[3 * r2 + c1];
        }
    for (int k = 0; k < 3; k++)
        det += a[k] * out[3 * k];
    for (int k = 0; k < 9; k++)
        out[k] /= det;
}

static double lanczos(double t)
{
    const double pi = 3.14159265358979323846;
    if (fabs(t) < 1e-9)
        return 1;
    return fabs(t) >= 3 ? 0 : 3 * sin(pi * t) * sin(pi * t / 3) / (pi * pi * t * t);
}

static void taps(double at, int *first, double weight[6])
{
    double sum = 0;
    *first = (int)floor(at) - 2;
    for (int k = 0; k < 6; k++)
        sum += weight[k] = lanczos(at - (*first + k));
    for (int k = 0; k < 6; k++)
        weight[k] /= sum;
}

static int clamp(int v, int length)
{
    return v < 0 ? 0 : v >= length ? length - 1 : v;
}

static float resample(struct plane plane, int x0, const double wx[6], int y0, const double wy[6])
{
    double sum = 0;
    for (int r = 0; r < 6; r++) {
        const float *row = plane_row(plane, clamp(y0 + r, plane.height));
        for (int c = 0; c < 6; c++)
            sum += wy[r] * wx[c] * row[clamp(x0 + c, plane.width)];
    }
    return (float)fmin(fmax(sum, 0), 1);
}

void bench_align(const struct image *photo, const double h[9], struct image *out, struct image *mask)
{
    for (int y = 0; y < out->height; y++)
        for (int x = 0; x < out->width; x++) {
            double w = h[6] * x + h[7] * y + h[8];
            double u = (h[0] * x + h[1] * y + h[2]) / w, v = (h[3] * x + h[4] * y + h[5]) / w;
            bool inside = u >= 0 && v >= 0 && u <= photo->width - 1 && v <= photo->height - 1;
            mask->data[(size_t)y * out->width + x] = inside;
            double wx[6], wy[6];
            int x0, y0;
            taps(u, &x0, wx);
            taps(v, &y0, wy);
            for (int c = 0; c < out->channels; c++)
                plane_row(image_plane(out, c), y)[x] = resample(image_plane(photo, c), x0, wx, y0, wy);
        }
}

static double to_srgb(double v)
{
    v = fmin(fmax(v, 0), 1);
    return v <= .0031308 ? v * 12.92 : 1.055 * pow(v, 1 / 2.4) - .055;
}

double bench_psnr(const struct image *a, const struct image *b, int border)
{
    double sum = 0, count = 0;
    for (int c = 0; c < a->channels; c++)
        for (int y = border; y < a->height - border; y++)
            for (int x = border; x < a->width - border; x++) {
                double d = to_srgb(plane_row(image_plane(a, c), y)[x]) - to_srgb(plane_row(image_plane(b, c), y)[x]);
                sum += d * d;
                count++;
            }
    return -10 * log10(fmax(sum / count, 1e-10));
}

/* Gaussian window of standard deviation 1.5, 11 wide, edges reflected (Wang et al. 2004). */
static void blur(const double *in, double *out, double *scratch, int width, int height)
{
    double g[11], total = 0;
    for (int k = 0; k < 11; k++)
        total += g[k] = exp(-(k - 5) * (k - 5) / 4.5);
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double sum = 0;
            for (int k = 0; k < 11; k++) {
                int u = x + k - 5;
                u = u < 0 ? -u - 1 : u >= width ? 2 * width - 1 - u : u;
                sum += g[k] / total * in[(size_t)y * width + clamp(u, width)];
            }
            scratch[(size_t)y * width + x] = sum;
        }
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            double sum = 0;
            for (int k = 0; k < 11; k++) {
                int v = y + k - 5;
                v = v < 0 ? -v - 1 : v >= height ? 2 * height - 1 - v : v;
                sum += g[k] / total * scratch[(size_t)clamp(v, height) * width + x];
            }
            out[(size_t)y * width + x] = sum;
        }
}

double bench_ssim(const struct image *a, const struct image *b)
{
    size_t pixels = (size_t)a->width * a->height;
    double *v[6], sum = 0;
    for (int k = 0; k < 6; k++)
        v[k] = malloc(pixels * sizeof(double));
    for (int c = 0; c < a->channels; c++) {
        for (size_t n = 0; n < pixels; n++) {
            double p = to_srgb(a->data[c * pixels + n]), q = to_srgb(b->data[c * pixels + n]);
            v[0][n] = p, v[1][n] = q, v[2][n] = p * p, v[3][n] = q * q, v[4][n] = p * q;
        }
        for (int k = 0; k < 5; k++)
            blur(v[k], v[k], v[5], a->width, a->height);
        for (size_t n = 0; n < pixels; n++) {
            double p = v[0][n], q = v[1][n], pp = v[2][n] - p * p, qq = v[3][n] - q * q, pq = v[4][n] - p * q;
            sum += (2 * p * q + 1e-4) * (2 * pq + 9e-4) / ((p * p + q * q + 1e-4) * (pp + qq + 9e-4));
        }
    }
    for (int k = 0; k < 6; k++)
        free(v[k]);
    return sum / (double)(pixels * a->channels);
}
