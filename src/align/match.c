/* align/match.c - matches between two photos' features: each one's nearest in descriptor space, kept where the second
 * nearest is clearly farther (Lowe 2004). */
#include <math.h>

#include "align/features.h"
#include "base/memory.h"
#include "base/rows.h"

/* Distance to the nearest over that to the second nearest. Wider than Lowe's .8: the fainter layer
 * has few features to lose, and robust fitting copes with outliers. */
#define RATIO_MOST .85

struct matching {
    const struct features *reference, *photo;
    double reach_px;
    int *nearest; /* [reference->count], -1 where there is none */
};

static float similarity(const float *a, const float *b)
{
    float lanes[8] = {0}, sum = 0;
    for (int k = 0; k < DESCRIPTOR_SIZE; k += 8)
        for (int i = 0; i < 8; i++)
            lanes[i] += a[k + i] * b[k + i];
    for (int i = 0; i < 8; i++)
        sum += lanes[i];
    return sum;
}

/* |a - b|^2 = 2 - 2 <a,b> for unit vectors. */
static int find_nearest(const struct matching *m, const struct feature *feature)
{
    float best = -1, second = -1;
    int nearest = -1;
    for (int n = 0; n < m->photo->count; n++) {
        const struct feature *other = &m->photo->data[n];
        if (other->level != feature->level || fabs(other->x - feature->x) > m->reach_px ||
            fabs(other->y - feature->y) > m->reach_px)
            continue;
        float alike = similarity(feature->descriptor, other->descriptor);
        if (alike > best) {
            second = best;
            best = alike;
            nearest = n;
        } else if (alike > second) {
            second = alike;
        }
    }
    return 1 - best < RATIO_MOST * RATIO_MOST * (1 - second) ? nearest : -1;
}

static void match_block(void *work, int task, int worker)
{
    const struct matching *m = work;
    (void)worker;
    for (int n = rows_begin(task); n < rows_end(task, m->reference->count); n++)
        m->nearest[n] = find_nearest(m, &m->reference->data[n]);
}

esra_status esra_features_match(struct matches *matches, struct pool *pool, const struct features *reference,
                                const struct features *photo, double reach_px, struct message *message)
{
    int *nearest = esra_allocate((size_t)reference->count + 1, sizeof *nearest);
    *matches = (struct matches){esra_allocate((size_t)reference->count + 1, sizeof *matches->data), 0};
    if (!nearest || !matches->data) {
        esra_release(&nearest);
        esra_matches_free(matches);
        return esra_fail_memory(message);
    }
    struct matching m = {reference, photo, reach_px, nearest};
    esra_pool_run(pool, match_block, &m, rows_blocks(reference->count), NULL);
    for (int n = 0; n < reference->count; n++) {
        if (nearest[n] < 0)
            continue;
        const struct feature *from = &reference->data[n], *to = &photo->data[nearest[n]];
        matches->data[matches->count++] = (struct match){from->x, from->y, to->x, to->y, pow(2, .5 * from->level)};
    }
    esra_release(&nearest);
    return ESRA_OK;
}

void esra_matches_free(struct matches *matches)
{
    esra_release(&matches->data);
    matches->count = 0;
}
