/* solve/mean.c - the mean of T is moved to what is expected, as far as the gap allows. */
#include "solve/mean.h"

/* F is convex in k: what is allowed ends once, and is looked for by halves. */
#define HALVINGS 5

struct moving {
    const struct problem *problem;
    const struct plane *x;
    double by;
};

static void clip_row(void *work, int y, int worker)
{
    const struct moving *moving = work;
    (void)worker;
    for (int l = 0; l < moving->problem->layers; l++) {
        float *row = plane_row(moving->x[l], y);
        for (int c = 0; c < moving->problem->width; c++)
            row[c] = candidate_layer(row[c]);
    }
}

static void move_row(void *work, int y, int worker)
{
    const struct moving *moving = work;
    (void)worker;
    for (int l = 0; l < moving->problem->layers; l++) {
        float *row = plane_row(moving->x[l], y);
        float by = (float)(l == 0 ? moving->by : -moving->problem->mixing[l - 1] * moving->by);
        for (int c = 0; c < moving->problem->width; c++)
            row[c] += by;
    }
}

/* The mean of the expected T less that of T. */
static double missing(const struct problem *problem, int channel, const struct plane *x)
{
    struct plane expected = image_plane(&problem->expected.layers[channel * problem->layers], 0);
    double sum = 0;
    for (int y = 0; y < problem->height; y++) {
        const float *wanted = plane_row(expected, y), *row = plane_row(x[0], y);
        for (int c = 0; c < problem->width; c++)
            sum += (double)candidate_layer(wanted[c]) - row[c];
    }
    return sum / (double)problem->pixels;
}

void esra_mean_settle(struct monitor *monitor, int channel, const struct plane *x)
{
    struct moving moving = {.problem = monitor->problem, .x = x};
    struct candidate candidate = {.x = x};
    if (!moving.problem->expected.layers || esra_monitor_stopping(monitor))
        return;
    esra_context_run(monitor->context, clip_row, &moving, moving.problem->height, NULL);
    double whole = missing(moving.problem, channel, x), most = 1, at = 0, taken = 0;
    for (int n = 0; n <= HALVINGS && taken < 1 && !esra_monitor_stopping(monitor); n++) {
        double next = n == 0 ? 1 : (taken + most) / 2;
        moving.by = whole * (next - at);
        at = next;
        esra_context_run(monitor->context, move_row, &moving, moving.problem->height, NULL);
        if (esra_monitor_prefer(monitor, channel, &candidate))
            taken = next;
        else
            most = next;
        esra_monitor_poll(monitor);
    }
}
