/* camera/bundle.c - structure from the small motion of a hand (Yu & Gallup 2014): bundle adjustment that starts with
 * all poses the identity and random inverse depths about 1, the scale of its robust loss narrowing from round to round.
 */
#include "camera/bundle.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/select.h"
#include "camera/adjust.h"
#include "camera/parallax.h"
#include "camera/thresholds.h"

#define STARTS 3
/* Width of the uniform distribution of inverse depths to start from: a deviation of .2. Half and twice as much
 * change nothing (sweep D of thresholds.def: .01 dB). */
#define SCATTER .6928

static void scatter(struct guess *guess, int count, uint64_t seed)
{
    for (int n = 0; n < count; n++)
        guess->w[n] = 1 + SCATTER * ((double)(random_bits(&seed) >> 11) * 0x1p-53 - .5);
}

static double median_of(const double *w, int count, float *scratch)
{
    for (int n = 0; n < count; n++)
        scratch[n] = (float)w[n];
    return count ? esra_select_rank(scratch, (size_t)count, (size_t)count / 2) : 0;
}

/* Reverses depth about the median m: with w' = 2m - w and t' = -t, R x + w t = (R x + 2m t) + w' t'. To first order in
 * the field of view 2m t is a rotation, by the vector 2m (-t_2, t_1, 0), and R takes it up. */
static void reverse_depth(struct guess *guess, const struct tracks *tracks, float *scratch)
{
    double median = median_of(guess->w, tracks->count, scratch);
    for (int n = 0; n < tracks->count; n++)
        guess->w[n] = 2 * median - guess->w[n];
    for (int photo = 0; photo < tracks->photos; photo++) {
        struct pose *pose = &guess->camera.pose[photo];
        esra_pose_turn(pose->r, (double[3]){-2 * median * pose->t[1], 2 * median * pose->t[0], 0});
        for (int k = 0; k < 3; k++)
            pose->t[k] = -pose->t[k];
    }
}

/* Drops outliers: sightings whose reprojection error is too large, and tracks then seen in fewer than two photos (where
 * there are two). */
static void drop_outliers(struct adjusting *s, const struct guess *guess)
{
    int photos = s->tracks->photos, least = photos > 2 ? 2 : 1;
    for (int n = 0; n < s->tracks->count; n++) {
        bool *use = s->use + n * photos;
        int left = 0;
        for (int photo = 0; photo < photos; photo++) {
            use[photo] = use[photo] && esra_adjust_error(s, guess, n, photo) < camera_thresholds.outlier_px;
            left += use[photo];
        }
        if (left < least)
            memset(use, 0, (size_t)photos * sizeof *use);
    }
}

static bool is_used(const struct adjusting *s, int n)
{
    for (int photo = 0; photo < s->tracks->photos; photo++)
        if (s->use[n * s->tracks->photos + photo])
            return true;
    return false;
}

/* Iterations of adjustment, with observations further off than that counting less. */
struct pass {
    double outlier_px;
    int iterations;
};

/* Guesses that are adjusted side by side, each in two passes, and what each comes to. */
struct attempts {
    const struct tracks *tracks;
    struct guess guess[STARTS];
    struct pass pass[STARTS][2];
    double cost[STARTS];
};

static esra_status create_attempts(struct attempts *attempts, int count, const struct tracks *tracks,
                                   struct message *message)
{
    esra_status status = ESRA_OK;
    *attempts = (struct attempts){.tracks = tracks};
    for (int n = 0; n < count; n++)
        TRY(esra_guess_create(&attempts->guess[n], tracks, message));
done:
    return status;
}

static void free_attempts(struct attempts *attempts)
{
    for (int n = 0; n < STARTS; n++)
        esra_guess_free(&attempts->guess[n]);
}

/* A job of esra_context_side_by_side(). */
static esra_status attempt(void *work, int number, struct context *context)
{
    struct attempts *attempts = work;
    struct adjusting own;
    esra_status status = esra_adjusting_create(&own, context, attempts->tracks);
    if (status != ESRA_OK)
        return status;
    for (int k = 0; k < 2; k++) {
        struct pass pass = attempts->pass[number][k];
        if (pass.iterations > 0)
            attempts->cost[number] =
                esra_adjust(&own, &attempts->guess[number], pass.outlier_px, pass.iterations, false);
    }
    esra_adjusting_free(&own);
    return ESRA_OK;
}

/* The best of several random starts. */
static esra_status search(struct adjusting *s, struct guess *best)
{
    const double outlier_px = camera_thresholds.outlier_px;
    struct attempts attempts;
    double least = INFINITY;
    esra_status status;
    TRY(create_attempts(&attempts, STARTS, s->tracks, s->context->message));
    for (int start = 0; start < STARTS; start++) {
        scatter(&attempts.guess[start], s->tracks->count, (uint64_t)start + 1);
        attempts.pass[start][0] = (struct pass){4 * outlier_px, 15};
        attempts.pass[start][1] = (struct pass){outlier_px, 25};
    }
    TRY(esra_context_side_by_side(s->context, attempt, &attempts, STARTS));
    for (int start = 0; start < STARTS; start++)
        if (attempts.cost[start] < least) {
            least = attempts.cost[start];
            esra_guess_copy(best, &attempts.guess[start], s->tracks);
        }
done:
    free_attempts(&attempts);
    return status;
}

/* The ambiguity of depth reversal: over a small motion a scene with near and far exchanged looks nearly the same. Tries
 * that too, brought near first, and keeps the one that fits better. */
static esra_status choose_order(struct adjusting *s, struct guess *best, float *scratch)
{
    struct attempts attempts;
    esra_status status;
    TRY(create_attempts(&attempts, 2, s->tracks, s->context->message));
    for (int n = 0; n < 2; n++) {
        esra_guess_copy(&attempts.guess[n], best, s->tracks);
        attempts.pass[n][1] = (struct pass){camera_thresholds.bundle_narrow_px, 30};
    }
    reverse_depth(&attempts.guess[1], s->tracks, scratch);
    attempts.pass[1][0] = (struct pass){camera_thresholds.outlier_px, 25};
    TRY(esra_context_side_by_side(s->context, attempt, &attempts, 2));
    esra_guess_copy(best, &attempts.guess[attempts.cost[1] < attempts.cost[0]], s->tracks);
done:
    free_attempts(&attempts);
    return status;
}

static void report_errors(const struct adjusting *s, const struct guess *guess, struct camera *camera, float *scratch)
{
    const struct tracks *tracks = s->tracks;
    size_t count = 0;
    for (int n = 0; n < tracks->count; n++)
        for (int photo = 0; photo < tracks->photos; photo++)
            if (s->use[n * tracks->photos + photo]) {
                scratch[count++] = (float)esra_adjust_error(s, guess, n, photo);
                camera->pose[photo].tracks++;
            }
    camera->error_px = count ? esra_select_rank(scratch, count, count / 2) : 0;
}

static void report_depths(const struct adjusting *s, const struct guess *guess, struct camera *camera, double *inverse,
                          float *scratch)
{
    size_t count = 0;
    for (int n = 0; n < s->tracks->count; n++) {
        bool used = is_used(s, n);
        if (used)
            scratch[count++] = (float)guess->w[n];
        if (inverse)
            inverse[n] = used ? guess->w[n] : NAN;
    }
    camera->tracks = (int)count;
    camera->found = camera->tracks >= camera_thresholds.tracks_least;
    if (count) {
        size_t tail = count / DEPTH_TAIL;
        camera->far = esra_select_rank(scratch, count, tail);
        camera->near = esra_select_rank(scratch, count, count - 1 - tail);
    }
}

/* The camera before anything is known of it: a guess without tracks. */
static esra_status start_camera(struct camera *camera, const struct tracks *tracks, struct message *message)
{
    struct tracks none = *tracks;
    struct guess guess;
    none.count = 0;
    esra_status status = esra_guess_create(&guess, &none, message);
    *camera = guess.camera;
    esra_release(&guess.w);
    camera->near = camera->far = 1;
    return status;
}

static void take_camera(struct camera *camera, const struct guess *guess)
{
    camera->focal_px = guess->camera.focal_px;
    camera->k1 = guess->camera.k1;
    camera->cx = guess->camera.cx;
    camera->cy = guess->camera.cy;
    memcpy(camera->pose, guess->camera.pose, (size_t)camera->photos * sizeof *camera->pose);
}

esra_status esra_bundle(struct camera *camera, struct context *context, const struct tracks *tracks, double *inverse)
{
    struct adjusting s = {0};
    struct guess best = {0};
    float *scratch = esra_allocate((size_t)tracks->count * (size_t)tracks->photos + 1, sizeof *scratch);
    esra_status status;
    for (int n = 0; inverse && n < tracks->count; n++)
        inverse[n] = NAN;
    TRY(start_camera(camera, tracks, context->message));
    TRY(scratch ? ESRA_OK : esra_fail_memory(context->message));
    if (tracks->count < camera_thresholds.tracks_least)
        goto done;
    TRY(esra_adjusting_create(&s, context, tracks));
    TRY(esra_guess_create(&best, tracks, context->message));
    TRY(search(&s, &best));
    TRY(choose_order(&s, &best, scratch));
    drop_outliers(&s, &best);
    esra_adjust(&s, &best, camera_thresholds.bundle_narrow_px, 25, true);
    take_camera(camera, &best);
    report_errors(&s, &best, camera, scratch);
    report_depths(&s, &best, camera, inverse, scratch);
    TRY(esra_parallax_measure(camera, tracks, s.use, context->message));
done:
    esra_adjusting_free(&s);
    esra_guess_free(&best);
    esra_release(&scratch);
    if (status != ESRA_OK)
        esra_camera_free(camera);
    return status;
}
