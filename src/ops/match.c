/* ops/match.c - matches between two photos' features: each one's nearest in descriptor space, kept where the second
 * nearest is clearly farther (Lowe 2004). */
#include <math.h>

#include "base/maths.h"
#include "base/memory.h"
#include "base/rows.h"
#include "base/wide.h"
#include "ops/features.h"
#include "ops/thresholds.h"

struct matching {
    const struct features *reference, *photo;
    double reach_px, ratio;
    int *nearest; /* [reference->count], -1 where there is none */
};

static float similarity(const float *a, const float *b)
{
    float parts[8] = {0}, sum = 0;
    for (int k = 0; k < DESCRIPTOR_SIZE; k += 8)
        for (int i = 0; i < 8; i++)
            parts[i] += a[k + i] * b[k + i];
    for (int i = 0; i < 8; i++)
        sum += parts[i];
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
    return 1 - best < m->ratio * m->ratio * (1 - second) ? nearest : -1;
}

static void match_block(void *work, int task, int worker)
{
    const struct matching *m = work;
    (void)worker;
    for (int n = rows_begin(task); n < rows_end(task, m->reference->count); n++)
        m->nearest[n] = find_nearest(m, &m->reference->data[n]);
}
WIDE_TASK(match_block)

/* nearest[n] of every feature of `reference`; NULL where memory is short. */
static int *find_all_nearest(struct context *context, const struct features *reference, const struct features *photo,
                             double reach_px, double ratio)
{
    int *nearest = esra_allocate((size_t)reference->count + 1, sizeof *nearest);
    struct matching m = {reference, photo, reach_px, ratio, nearest};
    if (nearest)
        esra_context_run(context, WIDE(context, match_block), &m, rows_blocks(reference->count), NULL);
    return nearest;
}

/* Lists the matches that `back`, unless it is NULL, confirms. */
static esra_status list_matches(struct matches *matches, const struct features *reference, const struct features *photo,
                                const int *nearest, const int *back, struct message *message)
{
    *matches = (struct matches){esra_allocate((size_t)reference->count + 1, sizeof *matches->data), 0};
    if (!matches->data)
        return esra_fail_memory(message);
    for (int n = 0; n < reference->count; n++) {
        if (nearest[n] < 0 || (back && back[nearest[n]] != n))
            continue;
        const struct feature *from = &reference->data[n], *to = &photo->data[nearest[n]];
        matches->data[matches->count++] =
            (struct match){from->x, from->y, to->x, to->y, esra_pow(2, .5 * from->level), n};
    }
    return ESRA_OK;
}

esra_status esra_features_match(struct matches *matches, struct context *context, const struct features *reference,
                                const struct features *photo, double reach_px)
{
    int *nearest = find_all_nearest(context, reference, photo, reach_px, ops_thresholds.match_ratio);
    *matches = (struct matches){0};
    esra_status status = nearest ? list_matches(matches, reference, photo, nearest, NULL, context->message)
                                 : esra_fail_memory(context->message);
    esra_release(&nearest);
    return status;
}

esra_status esra_features_match_mutually(struct matches *matches, struct context *context,
                                         const struct features *reference, const struct features *photo,
                                         double reach_px)
{
    int *nearest = find_all_nearest(context, reference, photo, reach_px, ops_thresholds.match_ratio);
    int *back = find_all_nearest(context, photo, reference, reach_px, 1);
    *matches = (struct matches){0};
    esra_status status = nearest && back ? list_matches(matches, reference, photo, nearest, back, context->message)
                                         : esra_fail_memory(context->message);
    esra_release(&nearest);
    esra_release(&back);
    return status;
}

void esra_matches_free(struct matches *matches)
{
    esra_release(&matches->data);
    matches->count = 0;
}
