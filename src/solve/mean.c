/* solve/mean.c - the mean of T is moved to what is expected, as far as the gap allows. */
#include "solve/mean.h"

/* F is convex in k: what is allowed ends once, and is looked for by halves. */
#define HALVINGS 5

/* The mean of the expected T less that of T. */
static double missing(const struct problem *problem, const struct candidate *candidate)
{
    double sum = 0;
    for (int y = 0; y < problem->height; y++) {
        const float *wanted = plane_row(candidate->held->expected[0], y), *row = plane_row(candidate->x[0], y);
        for (int c = 0; c < problem->width; c++)
            sum += (double)candidate_layer(wanted[c]) - candidate_layer(row[c]);
    }
    return sum / (double)problem->pixels;
}

/* The share of the way that a sample of rows allows: there F grows as it does in the whole. */
static double share_allowed(struct monitor *monitor, int channel, struct candidate candidate, double way)
{
    double before = esra_monitor_sample(monitor, channel, &candidate), least = monitor->best[channel].objective;
    double most = least > 0 ? before * esra_monitor_leeway(monitor, channel) / least : before;
    double allowed = 0, refused = 2;
    for (int n = 0; n <= HALVINGS && allowed < 1; n++) {
        double next = (allowed + refused) / 2;
        candidate.moved = next * way;
        if (esra_monitor_sample(monitor, channel, &candidate) <= most)
            allowed = next;
        else
            refused = next;
    }
    return allowed;
}

/* What the sample allows is kept if the whole does; if not, less and less of it. */
void esra_mean_settle(struct monitor *monitor, int channel, struct candidate candidate)
{
    const struct problem *problem = monitor->problem;
    if (!candidate.held || esra_monitor_stopping(monitor))
        return;
    candidate.p = candidate.q = NULL;
    double way = missing(problem, &candidate), share = share_allowed(monitor, channel, candidate, way);
    for (double back = 1.0 / (1 << HALVINGS); share > 0 && !esra_monitor_stopping(monitor); share -= back, back *= 2) {
        candidate.moved = share * way;
        if (esra_monitor_prefer(monitor, channel, &candidate))
            return;
        esra_monitor_poll(monitor);
    }
}
