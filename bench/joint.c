/* bench/joint.c - how well and how fast the joint solve separates scenes whose motions and gains are known, or known
 * with a given error.
 *
 *     bench_joint [-m photos] [-t threads] [-g error of a] [-b error of b] [-e motion error, px] [-s setting=value]...
 *                 SCENE...
 *
 * Without -m: m = 2, 3 and 5. Prints PSNR and SSIM of T and of the reflection in photo 1, in sRGB values, and their
 * means. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/timer.h"
#include "joint_scene.h"
#include "solve/joint.h"

struct options {
    int photos, threads;
    double mixing_error, reflection_error, motion_error;
    struct joint_settings settings;
    int levels;
};

struct score {
    double psnr_t, ssim_t, psnr_r, ssim_r, fitted_t, seconds;
};

/* Directions of the errors: the same for every run, different for every photo. */
static double sign_of(int i)
{
    return i % 2 ? 1 : -1;
}

static void shift(double h[9], double by, double angle)
{
    for (int c = 0; c < 3; c++) {
        h[c] += by * cos(angle) * h[6 + c];
        h[3 + c] += by * sin(angle) * h[6 + c];
    }
}

struct aligned {
    struct image photos[SCENE_PHOTOS], masks[SCENE_PHOTOS];
    double motion[SCENE_PHOTOS][9], a[SCENE_PHOTOS], b[SCENE_PHOTOS];
};

struct alignment {
    struct aligned *out;
    const struct scene *scene;
    const struct options *options;
};

static void align_photo(void *work, int i, int worker)
{
    const struct alignment *alignment = work;
    struct aligned *out = alignment->out;
    double ht[9], hr[9], inverse[9];
    (void)worker;
    memcpy(ht, alignment->scene->ht[i], sizeof ht);
    memcpy(hr, alignment->scene->hr[i], sizeof hr);
    if (i > 0) {
        shift(ht, alignment->options->motion_error, 1 + 2.4 * i);
        shift(hr, alignment->options->motion_error, 2 + 1.7 * i);
    }
    bench_align(&alignment->scene->photos[i], ht, &out->photos[i], &out->masks[i]);
    bench_matrix_invert(hr, inverse);
    bench_matrix_multiply(inverse, ht, out->motion[i]);
    out->a[i] = alignment->scene->a[i] * (i > 0 ? 1 + sign_of(i) * alignment->options->mixing_error : 1);
    out->b[i] = alignment->scene->b[i] * (i > 0 ? 1 - sign_of(i) * alignment->options->reflection_error : 1);
}

static esra_status align_scene(struct aligned *out, const struct scene *scene, const struct options *options,
                               struct context *context)
{
    esra_status status = ESRA_OK;
    struct alignment alignment = {out, scene, options};
    int count = options->photos ? options->photos : SCENE_PHOTOS;
    for (int i = 0; i < count; i++) {
        const struct image *photo = &scene->photos[i];
        TRY(esra_image_create(&out->photos[i], photo->width, photo->height, photo->channels, context->message));
        TRY(esra_image_create(&out->masks[i], photo->width, photo->height, 1, context->message));
    }
    esra_context_run(context, align_photo, &alignment, count, NULL);
done:
    return status;
}

static void free_aligned(struct aligned *aligned)
{
    for (int i = 0; i < SCENE_PHOTOS; i++) {
        esra_image_free(&aligned->photos[i]);
        esra_image_free(&aligned->masks[i]);
    }
}

/* PSNR after the best constant a channel: what the black point costs. */
static double fitted_psnr(struct image *image, const struct image *truth)
{
    size_t pixels = (size_t)image->width * image->height;
    for (int c = 0; c < image->channels; c++) {
        double sum = 0;
        for (size_t n = c * pixels; n < (c + 1) * pixels; n++)
            sum += truth->data[n] - image->data[n];
        for (size_t n = c * pixels; n < (c + 1) * pixels; n++)
            image->data[n] += (float)(sum / (double)pixels);
    }
    return bench_psnr(image, truth, 0);
}

static esra_status run(const struct aligned *aligned, const struct scene *scene, const struct options *options, int m,
                       struct context *context, struct score *score)
{
    struct joint *joint = NULL;
    struct joint_info info;
    struct image t = {0}, r = {0};
    esra_status status = ESRA_OK;
    double start_s = esra_timer_now_s();
    TRY(esra_joint_create(&joint, &(struct joint_photos){m, aligned->photos, aligned->masks}, options->levels,
                          context));
    TRY(esra_joint_solve(
        joint, &(struct joint_model){.mixing = aligned->a, .reflection_gain = aligned->b, .motion = aligned->motion[0]},
        &options->settings, 0, &info));
    score->seconds = esra_timer_now_s() - start_s;
    TRY(esra_joint_transmitted(joint, &t));
    TRY(esra_joint_seen(joint, 0, &r));
    score->psnr_t = bench_psnr(&t, &scene->transmitted, 0);
    score->ssim_t = bench_ssim(&t, &scene->transmitted);
    score->psnr_r = bench_psnr(&r, &scene->reflected, 0);
    score->ssim_r = bench_ssim(&r, &scene->reflected);
    score->fitted_t = fitted_psnr(&t, &scene->transmitted);
    printf("  m=%d  T %6.2f %.4f (fitted %6.2f)  R %6.2f %.4f   F %.4e data %.3e residual %.4f trusted %.3f  %d its "
           "(%.0f full)"
           " %.2f s\n",
           m, score->psnr_t, score->ssim_t, score->fitted_t, score->psnr_r, score->ssim_r, info.objective, info.data,
           info.residual, info.trusted, info.iterations, info.work, score->seconds);
done:
    esra_joint_free(&joint);
    esra_image_free(&t);
    esra_image_free(&r);
    return status;
}

static void add(struct score *sum, const struct score *score)
{
    sum->psnr_t += score->psnr_t;
    sum->ssim_t += score->ssim_t;
    sum->psnr_r += score->psnr_r;
    sum->ssim_r += score->ssim_r;
    sum->fitted_t += score->fitted_t;
    sum->seconds += score->seconds;
}

static esra_status run_scene(const char *folder, const struct options *options, struct context *context,
                             struct score *sums)
{
    static const int counts[] = {2, 3, 5};
    struct scene scene;
    struct aligned aligned = {0};
    esra_status status = ESRA_OK;
    TRY(bench_scene_read(&scene, folder, context->message));
    TRY(align_scene(&aligned, &scene, options, context));
    printf("%s  photo %.2f\n", folder, bench_psnr(&scene.photos[0], &scene.transmitted, 0));
    for (int k = 0; k < 3; k++) {
        struct score score = {0};
        if (options->photos && options->photos != counts[k])
            continue;
        TRY(run(&aligned, &scene, options, counts[k], context, &score));
        add(&sums[counts[k]], &score);
    }
done:
    free_aligned(&aligned);
    bench_scene_free(&scene);
    return status;
}

static bool set(struct options *options, const char *text)
{
    struct joint_settings *s = &options->settings;
    const struct {
        const char *name;
        double *real;
        int *count;
    } table[] = {
        {"lambda_transmitted", &s->lambda_transmitted, NULL},
        {"lambda_reflected", &s->lambda_reflected, NULL},
        {"robust_scale", &s->robust_scale, NULL},
        {"edge_scale", &s->edge_scale, NULL},
        {"negative", &s->negative, NULL},
        {"reweighings", NULL, &s->reweighings},
        {"iterations", NULL, &s->iterations},
        {"tolerance", &s->tolerance, NULL},
        {"levels", NULL, &options->levels},
        {"coarse_effort", NULL, &s->coarse_effort},
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        size_t length = strlen(table[k].name);
        if (strncmp(text, table[k].name, length) || text[length] != '=')
            continue;
        if (table[k].real)
            *table[k].real = strtod(text + length + 1, NULL);
        else
            *table[k].count = atoi(text + length + 1);
        return true;
    }
    return false;
}

static bool parse(struct options *options, int argc, char **argv)
{
    int option;
    *options = (struct options){.threads = 2, .levels = 4};
    esra_joint_settings_default(&options->settings);
    while ((option = getopt(argc, argv, "m:t:g:b:e:s:")) != -1)
        switch (option) {
        case 'm': options->photos = atoi(optarg); break;
        case 't': options->threads = atoi(optarg); break;
        case 'g': options->mixing_error = strtod(optarg, NULL); break;
        case 'b': options->reflection_error = strtod(optarg, NULL); break;
        case 'e': options->motion_error = strtod(optarg, NULL); break;
        case 's':
            if (!set(options, optarg))
                return false;
            break;
        default: return false;
        }
    return optind < argc;
}

int main(int argc, char **argv)
{
    struct options options;
    struct context *context;
    struct message message;
    struct score sums[SCENE_PHOTOS + 1] = {0};
    if (!parse(&options, argc, argv)) {
        fprintf(stderr,
                "usage: %s [-m photos] [-t threads] [-g error] [-b error] [-e px] [-s setting=value]... SCENE...\n",
                argv[0]);
        return 64;
    }
    if (esra_context_create(&context, options.threads, &message))
        return 70;
    int scenes = argc - optind, failed = 0;
    for (int k = optind; k < argc && !failed; k++)
        failed = run_scene(argv[k], &options, context, sums) != ESRA_OK;
    if (failed)
        fprintf(stderr, "%s\n", message.text);
    for (int m = 2; m <= SCENE_PHOTOS && !failed; m++)
        if (sums[m].seconds > 0)
            printf("mean of %d  m=%d  T %.2f %.4f (fitted %.2f)  R %.2f %.4f  %.2f s\n", scenes, m,
                   sums[m].psnr_t / scenes, sums[m].ssim_t / scenes, sums[m].fitted_t / scenes, sums[m].psnr_r / scenes,
                   sums[m].ssim_r / scenes, sums[m].seconds / scenes);
    esra_context_free(&context);
    return failed ? 65 : 0;
}
