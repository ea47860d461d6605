/* align/pairing.c - where the search for R's motion between two aligned photos may start. */
#include "align/pairing.h"

#include <math.h>

#include "align/consensus.h"
#include "align/correlate.h"
#include "align/thresholds.h"
#include "align/view.h"
#include "base/maths.h"
#include "ops/thresholds.h"

#define PEAKS_MOST     3
#define CONSENSUS_MOST 2

void esra_pairing_free(struct pairing *p)
{
    for (int n = 0; n < 2; n++) {
        esra_fields_free(&p->by_sign[n]);
        esra_fields_free(&p->by_median[n]);
    }
    esra_field_free(&p->warped);
    esra_image_free(&p->planes);
}

void esra_pairing_start(struct pairing *p, struct transform t, enum quality quality)
{
    const struct field *field = &p->by_sign[0].level[0];
    if (p->count < PAIRING_STARTS &&
        esra_transform_plausible(&t, field->width, field->height, ops_thresholds.reach * field->width))
        p->starts[p->count++] = (struct start){t, quality};
}

static int small_level(const struct fields *fields)
{
    int level = 0;
    while (level < fields->levels - 1 &&
           (double)fields->level[level].width * fields->level[level].height > VIEW_WORK_PIXELS)
        level++;
    return level;
}

esra_status esra_pairing_start_peaks(struct pairing *p, const struct fields *pair, bool whiten)
{
    int level = small_level(&pair[0]), count;
    const struct field *field = &pair[0].level[level];
    struct peak peaks[PEAKS_MOST + 1];
    struct correlate_options options = {whiten, ops_thresholds.reach * field->width, PEAKS_MOST + 1};
    esra_status status = esra_correlate(p->context, field, &pair[1].level[level], &options, peaks, &count);
    for (int n = 0; status == ESRA_OK && n < count; n++)
        if (esra_hypot(peaks[n].right, peaks[n].down) > align_thresholds.same_px)
            esra_pairing_start(p, esra_transform_shift(ldexp(peaks[n].right, level), ldexp(peaks[n].down, level)),
                               ROUGH);
    return status;
}

esra_status esra_pairing_start_matches(struct pairing *p, const struct pyramid *parts)
{
    int width = parts[0].level[0].width, height = parts[0].level[0].height;
    struct features features[2] = {{0}, {0}};
    struct matches matches = {0};
    struct transform found[CONSENSUS_MOST];
    esra_status status;
    TRY(esra_features_find(&features[0], p->context, &parts[0]));
    TRY(esra_features_find(&features[1], p->context, &parts[1]));
    double reach = ops_thresholds.reach * width;
    TRY(esra_features_match(&matches, p->context, &features[0], &features[1], reach));
    struct consensus_options options = {p->motion, width, height, reach, CONSENSUS_MOST};
    int count = esra_consensus(&matches, &options, found);
    for (int n = 0; n < count; n++)
        esra_pairing_start(p, found[n], GOOD);
done:
    esra_features_free(&features[0]);
    esra_features_free(&features[1]);
    esra_matches_free(&matches);
    return status;
}
