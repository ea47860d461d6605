/* camera/adjust.c - bundle adjustment (Triggs et al. 2000): Levenberg & Marquardt's steps on reweighted least squares
 * with Cauchy's weights, each track's inverse depth eliminated first (Schur's complement).
 *
 * With r = x(p, w) - seen, p the poses and the lens, J and j their derivatives, and weights 1/(1 + |r|^2/s^2):
 *
 *     A = sum J'J,  b = sum J'r,   and of each track  E = sum J'j,  D = sum j'j,  g = sum j'r
 *     (A - sum E E'/D) dp = -(b - sum E g/D),      dw = -(g + E'dp)/D. */
#include "camera/adjust.h"

#include <math.h>
#include <string.h>

#include "base/linear.h"
#include "base/maths.h"
#include "base/memory.h"
#include "camera/model.h"
#include "camera/thresholds.h"

#define RETRIES 8

/* The weight of a lens parameter's prior, in px^2 like the rest. */
static double prior_weight(int parameter)
{
    const struct camera_thresholds *t = &camera_thresholds;
    switch (parameter) {
    case FOCAL: return t->focal_weight;
    case BEND: return t->bend_weight;
    default: return t->centre_weight;
    }
}

static double side_of(const struct tracks *tracks)
{
    return fmax(tracks->width, tracks->height);
}

static void use_lens(struct guess *guess, const struct tracks *tracks)
{
    double side = side_of(tracks);
    guess->camera.focal_px = camera_thresholds.focal_middle * side * esra_exp(guess->lens[FOCAL]);
    guess->camera.k1 = guess->lens[BEND];
    guess->camera.cx = .5 * (tracks->width - 1) + side * guess->lens[CENTRE_X];
    guess->camera.cy = .5 * (tracks->height - 1) + side * guess->lens[CENTRE_Y];
}

esra_status esra_guess_create(struct guess *guess, const struct tracks *tracks, struct message *message)
{
    *guess = (struct guess){.camera = {.photos = tracks->photos,
                                       .reference = tracks->reference,
                                       .width = tracks->width,
                                       .height = tracks->height}};
    guess->camera.pose = esra_allocate((size_t)tracks->photos, sizeof *guess->camera.pose);
    guess->w = esra_allocate((size_t)tracks->count + 1, sizeof *guess->w);
    if (!guess->camera.pose || !guess->w) {
        esra_guess_free(guess);
        return esra_fail_memory(message);
    }
    for (int n = 0; n < tracks->photos; n++)
        guess->camera.pose[n] = (struct pose){.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int n = 0; n < tracks->count; n++)
        guess->w[n] = 1;
    use_lens(guess, tracks);
    return ESRA_OK;
}

void esra_guess_free(struct guess *guess)
{
    esra_camera_free(&guess->camera);
    esra_release(&guess->w);
}

void esra_guess_copy(struct guess *to, const struct guess *from, const struct tracks *tracks)
{
    memcpy(to->camera.pose, from->camera.pose, (size_t)tracks->photos * sizeof *from->camera.pose);
    memcpy(to->w, from->w, (size_t)tracks->count * sizeof *from->w);
    memcpy(to->lens, from->lens, sizeof from->lens);
    use_lens(to, tracks);
}

esra_status esra_adjusting_create(struct adjusting *adjusting, struct context *context, const struct tracks *tracks)
{
    size_t parameters = (size_t)(tracks->photos - 1) * POSE_PARAMETERS + LENS_PARAMETERS,
           count = (size_t)tracks->count + 1;
    *adjusting = (struct adjusting){.tracks = tracks, .context = context, .parameters = (int)parameters};
    esra_status status = esra_guess_create(&adjusting->trial, tracks, context->message);
    if (status != ESRA_OK)
        return status;
    adjusting->use = esra_allocate(count * (size_t)tracks->photos, sizeof *adjusting->use);
    adjusting->a = esra_allocate(parameters * parameters, sizeof *adjusting->a);
    adjusting->schur = esra_allocate(parameters * parameters, sizeof *adjusting->schur);
    adjusting->b = esra_allocate(parameters, sizeof *adjusting->b);
    adjusting->step = esra_allocate(parameters, sizeof *adjusting->step);
    adjusting->d = esra_allocate(count, sizeof *adjusting->d);
    adjusting->g = esra_allocate(count, sizeof *adjusting->g);
    adjusting->e = esra_allocate(count * parameters, sizeof *adjusting->e);
    if (!adjusting->use || !adjusting->a || !adjusting->schur || !adjusting->b || !adjusting->step || !adjusting->d ||
        !adjusting->g || !adjusting->e) {
        esra_adjusting_free(adjusting);
        return esra_fail_memory(context->message);
    }
    for (int n = 0; n < tracks->count * tracks->photos; n++)
        adjusting->use[n] = n % tracks->photos != tracks->reference && tracks->at[n].seen;
    return ESRA_OK;
}

void esra_adjusting_free(struct adjusting *adjusting)
{
    double **arrays[] = {&adjusting->a, &adjusting->b,     &adjusting->d,   &adjusting->g,
                         &adjusting->e, &adjusting->schur, &adjusting->step};
    for (size_t n = 0; n < sizeof arrays / sizeof *arrays; n++)
        esra_release(arrays[n]);
    esra_release(&adjusting->use);
    esra_guess_free(&adjusting->trial);
}

/* Number of the first parameter of photo n. */
static int slot_of(const struct adjusting *s, int photo)
{
    return POSE_PARAMETERS * (photo - (photo > s->tracks->reference));
}

/* A point's projection into a photo, step by step (camera.h: q~, R (q~, 1), Y_3, p), and its residual r. */
struct passage {
    double qx, qy, turned[3], depth, px, py, rx, ry;
    bool before; /* the point lies before the camera; else Y_3 was raised to MODEL_BEHIND */
};

static void pass(const struct guess *guess, const struct tracks *tracks, int track, int photo, struct passage *p)
{
    const struct camera *camera = &guess->camera;
    const struct pose *pose = &camera->pose[photo];
    const struct sighting *from = track_at(tracks, track, tracks->reference), *seen = track_at(tracks, track, photo);
    double w = guess->w[track], x, y;
    model_look(camera, from->x, from->y, &p->qx, &p->qy);
    model_turn(pose, p->qx, p->qy, p->turned);
    p->depth = p->turned[2] + w * pose->t[2];
    p->before = p->depth > MODEL_BEHIND;
    if (!p->before)
        p->depth = MODEL_BEHIND;
    p->px = (p->turned[0] + w * pose->t[0]) / p->depth;
    p->py = (p->turned[1] + w * pose->t[1]) / p->depth;
    model_show(camera, p->px, p->py, &x, &y);
    p->rx = x - seen->x;
    p->ry = y - seen->y;
}

double esra_adjust_error(const struct adjusting *adjusting, const struct guess *guess, int track, int photo)
{
    struct passage p;
    pass(guess, adjusting->tracks, track, photo, &p);
    return esra_hypot(p.rx, p.ry);
}

static double cost_of(const struct adjusting *s, const struct guess *guess, double scale_px)
{
    double cost = 0, scale2 = scale_px * scale_px;
    struct passage p;
    for (int n = 0; n < s->tracks->count; n++) {
        cost += camera_thresholds.depth_weight * (guess->w[n] - 1) * (guess->w[n] - 1);
        for (int photo = 0; photo < s->tracks->photos; photo++)
            if (s->use[n * s->tracks->photos + photo]) {
                pass(guess, s->tracks, n, photo, &p);
                cost += scale2 * esra_log1p((p.rx * p.rx + p.ry * p.ry) / scale2);
            }
    }
    for (int k = 0; k < LENS_PARAMETERS; k++)
        cost += prior_weight(k) * guess->lens[k] * guess->lens[k];
    return cost;
}

/* The Jacobian d(x, y)/dY = f D (I, -p)/Y_3, D being that of the distortion p (1 + k1 |p|^2). */
static void differentiate_projection(const struct camera *camera, const struct passage *p, double jacobian[2][3])
{
    double k1 = camera->k1, wide = 1 + k1 * (p->px * p->px + p->py * p->py), f = camera->focal_px / p->depth;
    double xx = f * (wide + 2 * k1 * p->px * p->px), xy = f * 2 * k1 * p->px * p->py;
    double yy = f * (wide + 2 * k1 * p->py * p->py);
    double cut = p->before ? 1 : 0;
    memcpy(jacobian[0], (double[3]){xx, xy, -cut * (xx * p->px + xy * p->py)}, sizeof jacobian[0]);
    memcpy(jacobian[1], (double[3]){xy, yy, -cut * (xy * p->px + yy * p->py)}, sizeof jacobian[1]);
}

/* Derivatives of one residual, x or y: by the pose (a small rotation after R, then t), by the lens, and by w. */
struct derivatives {
    double pose[POSE_PARAMETERS], lens[LENS_PARAMETERS], w;
};

/* out = dq~, q~ = q (1 - k1 |q|^2), for the changes (ax, ay) of q and dk1 of k1. Seven parameters: the formula's own
 * letters, which a struct would hide. */
static void differentiate_look(double k1, double qx, double qy, double ax, double ay, double dk1, double out[2])
{
    double q2 = qx * qx + qy * qy, along = qx * ax + qy * ay;
    out[0] = (1 - k1 * q2) * ax - (2 * k1 * along + dk1 * q2) * qx;
    out[1] = (1 - k1 * q2) * ay - (2 * k1 * along + dk1 * q2) * qy;
}

static void differentiate(const struct guess *guess, const struct tracks *tracks, int track, int photo,
                          const struct passage *p, struct derivatives to[2])
{
    const struct camera *c = &guess->camera;
    const struct pose *pose = &c->pose[photo];
    const struct sighting *from = track_at(tracks, track, tracks->reference);
    double side = side_of(tracks), w = guess->w[track];
    double jacobian[2][3], change[LENS_PARAMETERS][2], f = c->focal_px, p2 = p->px * p->px + p->py * p->py;
    double qx = (from->x - c->cx) / f, qy = (from->y - c->cy) / f;
    /* The lens acts twice: `change` is dq~, where the reference's pixel is looked up, `out` is the derivative of
     * x_i = c + f p (1 + k1 |p|^2) with p held. */
    double out[LENS_PARAMETERS][2] = {{f * p->px * (1 + c->k1 * p2), f * p->py * (1 + c->k1 * p2)},
                                      {f * p->px * p2, f * p->py * p2},
                                      {side, 0},
                                      {0, side}};
    differentiate_projection(c, p, jacobian);
    differentiate_look(c->k1, qx, qy, -qx, -qy, 0, change[FOCAL]);
    differentiate_look(c->k1, qx, qy, 0, 0, 1, change[BEND]);
    differentiate_look(c->k1, qx, qy, -side / f, 0, 0, change[CENTRE_X]);
    differentiate_look(c->k1, qx, qy, 0, -side / f, 0, change[CENTRE_Y]);
    for (int axis = 0; axis < 2; axis++) {
        const double *j = jacobian[axis], *v = p->turned, *r = pose->r, *t = pose->t;
        double back[2] = {j[0] * r[0] + j[1] * r[3] + j[2] * r[6], j[0] * r[1] + j[1] * r[4] + j[2] * r[7]};
        double *d = to[axis].pose;
        /* d (exp(a) v) = a x v at a = 0 */
        d[0] = j[2] * v[1] - j[1] * v[2];
        d[1] = j[0] * v[2] - j[2] * v[0];
        d[2] = j[1] * v[0] - j[0] * v[1];
        for (int k = 0; k < 3; k++)
            d[3 + k] = w * j[k];
        to[axis].w = j[0] * t[0] + j[1] * t[1] + j[2] * t[2];
        for (int k = 0; k < LENS_PARAMETERS; k++)
            to[axis].lens[k] = back[0] * change[k][0] + back[1] * change[k][1] + out[k][axis];
    }
}

/* Adds one residual and its derivatives to the equations; only the lower half of A is kept. */
static void add_residual(struct adjusting *s, int track, int slot, const struct derivatives *d, double residual,
                         double weight)
{
    int k = s->parameters, lens = k - LENS_PARAMETERS;
    double *e = s->e + (size_t)track * k;
    for (int i = 0; i < POSE_PARAMETERS; i++) {
        double scaled = weight * d->pose[i];
        for (int j = 0; j <= i; j++)
            s->a[(slot + i) * k + slot + j] += scaled * d->pose[j];
        for (int j = 0; j < LENS_PARAMETERS; j++)
            s->a[(lens + j) * k + slot + i] += scaled * d->lens[j];
        s->b[slot + i] += scaled * residual;
        e[slot + i] += scaled * d->w;
    }
    for (int i = 0; i < LENS_PARAMETERS; i++) {
        double scaled = weight * d->lens[i];
        for (int j = 0; j <= i; j++)
            s->a[(lens + i) * k + lens + j] += scaled * d->lens[j];
        s->b[lens + i] += scaled * residual;
        e[lens + i] += scaled * d->w;
    }
    s->d[track] += weight * d->w * d->w;
    s->g[track] += weight * d->w * residual;
}

static void add_track(struct adjusting *s, const struct guess *guess, int n, double scale_px, bool bend)
{
    const struct tracks *tracks = s->tracks;
    s->d[n] = camera_thresholds.depth_weight;
    s->g[n] = camera_thresholds.depth_weight * (guess->w[n] - 1);
    for (int photo = 0; photo < tracks->photos; photo++) {
        struct passage p;
        struct derivatives d[2];
        if (!s->use[n * tracks->photos + photo])
            continue;
        pass(guess, tracks, n, photo, &p);
        differentiate(guess, tracks, n, photo, &p, d);
        double weight = 1 / (1 + (p.rx * p.rx + p.ry * p.ry) / (scale_px * scale_px));
        for (int axis = 0; axis < 2; axis++) {
            for (int k = BEND; k < LENS_PARAMETERS && !bend; k++)
                d[axis].lens[k] = 0;
            add_residual(s, n, slot_of(s, photo), &d[axis], axis ? p.ry : p.rx, weight);
        }
    }
}

static void build(struct adjusting *s, const struct guess *guess, double scale_px, bool bend)
{
    int k = s->parameters, lens = k - LENS_PARAMETERS;
    memset(s->a, 0, (size_t)k * k * sizeof *s->a);
    memset(s->b, 0, (size_t)k * sizeof *s->b);
    memset(s->e, 0, (size_t)s->tracks->count * k * sizeof *s->e);
    for (int n = 0; n < s->tracks->count; n++)
        add_track(s, guess, n, scale_px, bend);
    for (int i = 0; i < LENS_PARAMETERS; i++) {
        s->a[(lens + i) * (k + 1)] += prior_weight(i);
        s->b[lens + i] += prior_weight(i) * guess->lens[i];
    }
}

/* step <- dp by the reduced camera system, the Schur complement A - sum E E'/D, with Marquardt's damping of every
 * diagonal; false where it has no solution. */
static bool solve(struct adjusting *s, double damping)
{
    int k = s->parameters;
    memcpy(s->schur, s->a, (size_t)k * k * sizeof *s->a);
    for (int i = 0; i < k; i++) {
        s->schur[i * (k + 1)] += damping * s->a[i * (k + 1)] + 1e-9;
        s->step[i] = -s->b[i];
    }
    for (int n = 0; n < s->tracks->count; n++) {
        const double *e = s->e + (size_t)n * k;
        double over = 1 / (s->d[n] * (1 + damping));
        for (int i = 0; i < k; i++) {
            double scaled = e[i] * over;
            if (scaled == 0)
                continue;
            for (int j = 0; j <= i; j++)
                s->schur[i * k + j] -= scaled * e[j];
            s->step[i] += scaled * s->g[n];
        }
    }
    return esra_linear_solve(s->schur, s->step, k);
}

void esra_pose_turn(double r[9], const double a[3])
{
    double angle = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    double s = angle > 1e-12 ? esra_sin(angle) / angle : 1,
           c = angle > 1e-6 ? (1 - esra_cos(angle)) / (angle * angle) : .5;
    double k[9] = {0, -a[2], a[1], a[2], 0, -a[0], -a[1], a[0], 0}, e[9], out[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double square = a[i] * a[j] - (i == j ? angle * angle : 0);
            e[3 * i + j] = (i == j) + s * k[3 * i + j] + c * square;
        }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            out[3 * i + j] = e[3 * i] * r[j] + e[3 * i + 1] * r[3 + j] + e[3 * i + 2] * r[6 + j];
    memcpy(r, out, sizeof out);
}

/* trial <- guess + step, with dw by back substitution. */
static void apply(struct adjusting *s, const struct guess *guess, double damping)
{
    int k = s->parameters;
    struct guess *trial = &s->trial;
    esra_guess_copy(trial, guess, s->tracks);
    for (int photo = 0; photo < s->tracks->photos; photo++) {
        const double *step = s->step + slot_of(s, photo);
        if (photo == s->tracks->reference)
            continue;
        esra_pose_turn(trial->camera.pose[photo].r, step);
        for (int i = 0; i < 3; i++)
            trial->camera.pose[photo].t[i] += step[3 + i];
    }
    for (int i = 0; i < LENS_PARAMETERS; i++)
        trial->lens[i] += s->step[k - LENS_PARAMETERS + i];
    for (int n = 0; n < s->tracks->count; n++) {
        double sum = s->g[n];
        for (int i = 0; i < k; i++)
            sum += s->e[(size_t)n * k + i] * s->step[i];
        trial->w[n] += -sum / (s->d[n] * (1 + damping));
    }
    use_lens(trial, s->tracks);
}

/* A step that lowers the cost is accepted and the damping divided by 5, else it is tried again with 4 times as much;
 * the end is RETRIES steps refused, or after a few steps a gain of the cost below 1e-5 of it. */
double esra_adjust(struct adjusting *s, struct guess *guess, double scale_px, int steps, bool bend)
{
    double cost = cost_of(s, guess, scale_px), damping = 1e-2, lower = cost;
    for (int step = 0; step < steps && !esra_context_stopping(s->context); step++) {
        bool better = false;
        build(s, guess, scale_px, bend);
        for (int retry = 0; retry < RETRIES && !better; retry++) {
            if (solve(s, damping)) {
                apply(s, guess, damping);
                lower = cost_of(s, &s->trial, scale_px);
                better = lower < cost;
            }
            damping = better ? fmax(damping / 5, 1e-7) : damping * 4;
        }
        if (!better)
            break;
        double gain = (cost - lower) / cost;
        esra_guess_copy(guess, &s->trial, s->tracks);
        cost = lower;
        if (step > 8 && gain < 1e-5)
            break;
    }
    return cost;
}
