/* gradients/vote.c - the layers' gradients by voting. */
#include "gradients/vote.h"

#include <math.h>

#include "base/memory.h"
#include "base/select.h"
#include "gradients/thresholds.h"
#include "ops/poisson.h"

/* Share of a photo's pixels that may be darker than a_i L_0, when L_0 is made as bright as the photos allow: fewer
 * follow noise and misalignment. */
#define DARK_SHARE 0.005

struct ballot {
    float value, weight;
};

struct voting {
    struct guide *guide;
    const struct vote *vote;
    double zero_vote;
    struct ballot *ballots; /* [threads][m+1] */
    float *scratch;         /* [channels] x stride: Poisson, then samples to select from */
    size_t scratch_floats;
};

static void sort_ballots(struct ballot *ballots, int count)
{
    for (int k = 1; k < count; k++) {
        struct ballot ballot = ballots[k];
        int j = k;
        for (; j > 0 && ballots[j - 1].value > ballot.value; j--)
            ballots[j] = ballots[j - 1];
        ballots[j] = ballot;
    }
}

/* The value with half of the weight on either side; between two such values, their mean. */
static float weighted_median(struct ballot *ballots, int count)
{
    float total = 0, sum = 0;
    sort_ballots(ballots, count);
    for (int k = 0; k < count; k++)
        total += ballots[k].weight;
    for (int k = 0; k < count; k++) {
        sum += ballots[k].weight;
        if (fabsf(sum - 0.5f * total) <= 1e-6f * total && k + 1 < count)
            return 0.5f * (ballots[k].value + ballots[k + 1].value);
        if (sum > 0.5f * total)
            return ballots[k].value;
    }
    return 0;
}

/* The vote of one difference: its value in every photo stands in the gradients of layers 1..m, zero where not seen. */
static float count_votes(const struct voting *voting, struct ballot *ballots, int direction, size_t sample,
                         const unsigned char *seen)
{
    const struct vote *vote = voting->vote;
    int count = 0;
    for (int i = 0; i < vote->photos; i++)
        if (seen[i] && vote->mixing[i] > 0) {
            float g = voting->guide->gradients[2 * (i + 1) + direction].data[sample];
            ballots[count++] = (struct ballot){g / (float)vote->mixing[i], (float)vote->mixing[i]};
        }
    if (count > 0 && voting->zero_vote > 0)
        ballots[count++] = (struct ballot){0, (float)voting->zero_vote};
    return weighted_median(ballots, count);
}

static bool both_seen(const struct vote *vote, int i, size_t here, size_t there)
{
    return !vote->masks || (vote->masks[i].data[here] > 0 && vote->masks[i].data[there] > 0);
}

/* One row of one direction in one channel: E_0, then E_i. */
static void vote_row(const struct voting *voting, struct ballot *ballots, unsigned char *seen, int direction, int c,
                     int y)
{
    const struct vote *vote = voting->vote;
    int width = vote->images[0].width, height = vote->images[0].height;
    if (direction == 0 && y == height - 1)
        return;
    for (int x = 0; x < width - direction; x++) {
        size_t pixel = (size_t)y * width + x, sample = (size_t)c * width * height + pixel;
        for (int i = 0; i < vote->photos; i++)
            seen[i] = both_seen(vote, i, pixel, pixel + (direction ? 1 : width));
        float winner = count_votes(voting, ballots, direction, sample, seen);
        voting->guide->gradients[direction].data[sample] = winner;
        for (int i = 0; i < vote->photos; i++)
            if (seen[i])
                voting->guide->gradients[2 * (i + 1) + direction].data[sample] -= (float)vote->mixing[i] * winner;
    }
}

static void vote_rows(void *work, int y, int worker)
{
    const struct voting *voting = work;
    int m = voting->vote->photos;
    /* The worker's ballots, and behind them its notes of who sees. */
    struct ballot *ballots = voting->ballots + (size_t)worker * (2 * m + 2);
    unsigned char *seen = (unsigned char *)(ballots + m + 1);
    for (int c = 0; c < voting->vote->images[0].channels; c++)
        for (int direction = 0; direction < 2; direction++)
            vote_row(voting, ballots, seen, direction, c, y);
}

static void photo_gradients(void *work, int i, int worker)
{
    const struct voting *voting = work;
    const struct vote *vote = voting->vote;
    struct image *weights = &voting->guide->weights[i];
    (void)worker;
    esra_guide_set_layer(voting->guide, i + 1, &vote->images[i], vote->masks ? &vote->masks[i] : NULL);
    for (size_t n = 0; n < (size_t)weights->width * (size_t)weights->height; n++)
        weights->data[n] = !vote->masks || vote->masks[i].data[n] > 0;
}

/* What can be added to P, the integral of E_0, until photo i has DARK_SHARE of its pixels darker than a_i L_0. */
static float headroom(const struct voting *voting, int i, const float *p, const float *photo, float *values,
                      size_t pixels)
{
    const struct vote *vote = voting->vote;
    float a = (float)vote->mixing[i];
    size_t count = 0;
    for (size_t n = 0; n < pixels; n++)
        if (voting->guide->weights[i].data[n] > 0)
            values[count++] = photo[n] / a - p[n];
    return count ? esra_select_rank(values, count, (size_t)(DARK_SHARE * (double)(count - 1))) : 0;
}

/* The median over the photos of what each allows: one misaligned photo does not darken the rest. */
static float brightest(const struct voting *voting, int c, const float *p, float *values, float *rooms, size_t pixels)
{
    const struct vote *vote = voting->vote;
    int count = 0;
    for (int i = 0; i < vote->photos; i++)
        if (vote->mixing[i] > 0)
            rooms[count++] = headroom(voting, i, p, vote->images[i].data + c * pixels, values, pixels);
    return count ? esra_select_rank(rooms, (size_t)count, (size_t)(count - 1) / 2) : 0;
}

static float clip(float v)
{
    return v < 0 ? 0 : v > 1 ? 1 : v;
}

static void start_channel(void *work, int c, int worker)
{
    const struct voting *voting = work;
    const struct vote *vote = voting->vote;
    struct guide *guide = voting->guide;
    size_t pixels = (size_t)vote->images[0].width * (size_t)vote->images[0].height;
    float *scratch = voting->scratch + (size_t)c * voting->scratch_floats, *l0 = guide->start[0].data + c * pixels;
    (void)worker;
    esra_poisson_solve(image_plane(&guide->gradients[0], c), image_plane(&guide->gradients[1], c),
                       image_plane(&guide->start[0], c), scratch);
    float constant = brightest(voting, c, l0, scratch, scratch + pixels, pixels);
    for (size_t n = 0; n < pixels; n++)
        l0[n] = clip(l0[n] + constant);
    for (int i = 0; i < vote->photos; i++)
        for (size_t n = 0; n < pixels; n++)
            guide->start[i + 1].data[c * pixels + n] =
                clip(vote->images[i].data[c * pixels + n] - (float)vote->mixing[i] * l0[n]);
}

static esra_status make_room(struct voting *voting, struct context *context)
{
    const struct image *first = &voting->vote->images[0];
    size_t m = (size_t)voting->vote->photos, pixels = (size_t)first->width * (size_t)first->height, floats;
    voting->scratch_floats = esra_poisson_scratch(first->width, first->height);
    if (voting->scratch_floats < pixels + m)
        voting->scratch_floats = pixels + m;
    if (!esra_size_multiply(voting->scratch_floats, (size_t)first->channels, &floats))
        return esra_fail_memory(context->message);
    voting->scratch = esra_allocate(floats, sizeof(float));
    voting->ballots = esra_allocate((size_t)esra_context_threads(context) * (2 * m + 2), sizeof *voting->ballots);
    return voting->scratch && voting->ballots ? ESRA_OK : esra_fail_memory(context->message);
}

esra_status esra_guide_from_vote(struct guide *guide, const struct vote *vote, struct context *context)
{
    const struct image *first = &vote->images[0];
    struct voting voting = {.guide = guide, .vote = vote, .zero_vote = vote->zero_vote};
    esra_status status = ESRA_OK;
    if (voting.zero_vote < 0)
        voting.zero_vote = vote->photos % 2 ? 0 : gradients_thresholds.vote_zero;
    TRY(esra_guide_create(guide, vote->photos, first->width, first->height, first->channels, context->message));
    TRY(make_room(&voting, context));
    esra_context_run(context, photo_gradients, &voting, vote->photos, NULL);
    esra_context_run(context, vote_rows, &voting, first->height, NULL);
    esra_context_run(context, start_channel, &voting, first->channels, NULL);
done:
    if (status != ESRA_OK)
        esra_guide_free(guide);
    esra_release(&voting.scratch);
    esra_release(&voting.ballots);
    return status;
}
