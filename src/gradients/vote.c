/* gradients/vote.c - the layers' gradients by voting: the weighted median of the photos' gradients is the scene's. */
#include "gradients/vote.h"

#include "base/memory.h"
#include "base/select.h"

struct voting {
    struct guide *guide;
    const struct vote *vote;
    float tie_breaker; /* 0 where the number of photos is odd */
    struct weighted
        *ballots; /* [threads][2m+2]: m+1 votes, and in the place of m+1 more one byte a photo, whether it sees */
};

/* The vote of one difference, from sample to `next` further on. */
static float count_votes(const struct voting *voting, struct weighted *ballots, size_t sample, size_t next,
                         const unsigned char *seen)
{
    const struct vote *vote = voting->vote;
    int count = 0;
    for (int i = 0; i < vote->photos; i++)
        if (seen[i] && vote->mixing[i] > 0) {
            const float *here = vote->images[i].data + sample;
            float g = here[next] - here[0];
            ballots[count++] = (struct weighted){g / (float)vote->mixing[i], (float)vote->mixing[i]};
        }
    if (count > 0 && voting->tie_breaker > 0)
        ballots[count++] = (struct weighted){0, voting->tie_breaker};
    return esra_weighted_median(ballots, count);
}

static bool both_seen(const struct vote *vote, int i, size_t here, size_t there)
{
    return !vote->masks || (vote->masks[i].data[here] > 0 && vote->masks[i].data[there] > 0);
}

/* One row of one direction in one channel of E_0. */
static void vote_row(const struct voting *voting, struct weighted *ballots, unsigned char *seen, int direction, int c,
                     int y)
{
    const struct vote *vote = voting->vote;
    int width = vote->images[0].width, height = vote->images[0].height;
    if (direction == 0 && y == height - 1)
        return;
    for (int x = 0; x < width - direction; x++) {
        size_t pixel = (size_t)y * width + x, sample = (size_t)c * width * height + pixel, next = direction ? 1 : width;
        for (int i = 0; i < vote->photos; i++)
            seen[i] = both_seen(vote, i, pixel, pixel + next);
        voting->guide->voted[2 * c + direction].data[pixel] = count_votes(voting, ballots, sample, next, seen);
    }
}

static void vote_rows(void *work, int y, int worker)
{
    const struct voting *voting = work;
    int m = voting->vote->photos;
    /* The worker's ballots, and behind them its notes of who sees. */
    struct weighted *ballots = voting->ballots + (size_t)worker * (2 * m + 2);
    unsigned char *seen = (unsigned char *)(ballots + m + 1);
    for (int c = 0; c < voting->vote->images[0].channels; c++)
        for (int direction = 0; direction < 2; direction++)
            vote_row(voting, ballots, seen, direction, c, y);
}

static void weigh(void *work, int i, int worker)
{
    const struct voting *voting = work;
    const struct vote *vote = voting->vote;
    struct image *weights = &voting->guide->weights[i];
    (void)worker;
    for (size_t n = 0; n < (size_t)weights->width * (size_t)weights->height; n++)
        weights->data[n] = !vote->masks || vote->masks[i].data[n] > 0;
}

esra_status esra_guide_from_vote(struct guide *guide, const struct vote *vote, struct context *context)
{
    const struct image *first = &vote->images[0];
    struct voting voting = {.guide = guide, .vote = vote, .tie_breaker = vote->photos % 2 ? 0 : TIE_BREAKER};
    esra_status status = ESRA_OK;
    TRY(esra_guide_create(guide, vote->photos, first->width, first->height, first->channels, context->message));
    TRY(esra_guide_expect_votes(guide, context->message));
    voting.ballots =
        esra_allocate((size_t)esra_context_threads(context) * (2 * (size_t)vote->photos + 2), sizeof *voting.ballots);
    if (!voting.ballots)
        TRY(esra_fail_memory(context->message));
    esra_context_run(context, weigh, &voting, vote->photos, NULL);
    esra_context_run(context, vote_rows, &voting, first->height, NULL);
done:
    if (status != ESRA_OK)
        esra_guide_free(guide);
    esra_release(&voting.ballots);
    return status;
}
