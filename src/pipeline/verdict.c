/* pipeline/verdict.c - which model, in which light, whether to show its layers, and what the photographer should know.
 */
#include "pipeline/verdict.h"

#include <math.h>

#include "base/maths.h"
#include "ops/pyramid.h"

struct wishes esra_wishes_of(const esra_photos *input, bool motions_only)
{
    return (struct wishes){.motion = (esra_motion)input->motion,
                           .swap = input->swap != 0,
                           .transforms = input->transmitted != NULL,
                           .gradients = input->gradients != NULL,
                           .light = (esra_light)input->light,
                           .motions_only = motions_only,
                           .best = input->effort == ESRA_EFFORT_BEST};
}

/* ---- Which layer is which ---- */

/* Who takes a photo of a scene sees it: it has the stronger gradients. The motion found first mostly is the scene's,
 * but where the reflection has finer detail it may not be. Who gives motions has named the layers. */
bool esra_verdict_exchanges(const struct way_evidence *layers, const struct wishes *wishes)
{
    bool reflection_stronger = !wishes->transforms && layers->energy > 1;
    return reflection_stronger != wishes->swap;
}

/* A logistic function of the logarithm of R's energy over T's, which turns into its negative when names change: so that
 * both answers add up to one. */
static double exchanged_probability(const struct way_evidence *layers, const struct pipeline_thresholds *t)
{
    return 1 / (1 + esra_exp(-t->exchanged_slope * esra_log(layers->energy)));
}

/* ---- The way ---- */

bool esra_verdict_tries_flat(const struct wishes *wishes)
{
    return wishes->motion != ESRA_MOTION_DEPTH || wishes->transforms;
}

bool esra_verdict_noise_alone(const struct way_evidence *way, const struct pipeline_thresholds *t)
{
    return way->structure > 0 && way->structure < t->noise_structure;
}

/* By depth, too, the light is the one asked for. Gradients are given in light. */
static bool light_is_settled(const struct wishes *wishes)
{
    return wishes->light != ESRA_LIGHT_AUTO || wishes->gradients;
}

bool esra_verdict_flat_predicts(const struct way_evidence *flat, const struct pipeline_thresholds *t)
{
    return flat->prediction_error < t->flat_predicts * flat->prediction_base;
}

bool esra_verdict_tries_depth(const struct evidence *evidence, const struct wishes *wishes,
                              const struct pipeline_thresholds *t)
{
    if (wishes->motions_only || wishes->transforms || wishes->gradients || evidence->photos < 3 ||
        evidence->photos > AGREEMENT_PHOTOS_MOST)
        return false;
    if (!esra_verdict_tries_flat(wishes))
        return true;
    return wishes->motion == ESRA_MOTION_AUTO && !wishes->swap && !esra_verdict_noise_alone(&evidence->flat, t) &&
           (wishes->best || !esra_verdict_flat_predicts(&evidence->flat, t));
}

/* Depth, which can explain more, has to predict clearly better. */
static bool depth_predicts(const struct way_evidence *depth, const struct way_evidence *flat,
                           const struct pipeline_thresholds *t)
{
    if (isnan(depth->prediction_error) || isnan(flat->prediction_error))
        return !isnan(depth->prediction_error);
    return depth->prediction_error < t->depth_clearly_better * flat->prediction_error;
}

/* Layers predict a photo that had no part in them better than T does without R. Then R's motion is right, and what
 * moves with it is R; else R can be anything that only looks like it. Where that was not measured nothing speaks
 * against R. */
static bool is_told_below(const struct way_evidence *way, double most)
{
    return !(way->prediction_error >= most * way->prediction_alone);
}

static bool is_determined(const struct way_evidence *depth, const struct pipeline_thresholds *t)
{
    return is_told_below(depth, t->determined);
}

/* The photos tell R, or fit one another so well that little is left to tell. */
static bool is_credible(const struct way_evidence *way, double most, const struct pipeline_thresholds *t)
{
    return is_told_below(way, most) || way->trusted >= t->open_trusted_least;
}

bool esra_verdict_asks_trust(const struct way_evidence *depth, const struct pipeline_thresholds *t)
{
    return !is_determined(depth, t);
}

/* How much of T alone's leave-one-out error is left with R. */
static double told(const struct way_evidence *way)
{
    return way->prediction_error / way->prediction_alone;
}

bool esra_verdict_tries_pair(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    return evidence->photos >= t->pair_photos && depth_predicts(&evidence->depth, &evidence->flat, t) &&
           told(&evidence->depth) >= t->linear_predicts;
}

/* Surfaces seen through each other have no names. Where either is the scene in turn and R is much weaker one way than
 * the other, that is the right way; ... */
enum surface esra_verdict_named(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    double farther = evidence->farther.energy, nearer = evidence->nearer.energy;
    return farther > t->named_clearly * nearer   ? SURFACE_NEARER
           : nearer > t->named_clearly * farther ? SURFACE_FARTHER
                                                 : SURFACE_ONE;
}

/* ... and R must be told well by it, as in the photos' own size where that was tried. */
enum surface esra_verdict_surface(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    enum surface named = esra_verdict_named(evidence, t);
    const struct way_evidence *way = named == SURFACE_NEARER ? &evidence->nearer : &evidence->farther;
    bool well = told(way) < t->linear_predicts && !(evidence->prediction_pair >= t->linear_predicts);
    return well ? named : SURFACE_ONE;
}

const struct way_evidence *esra_verdict_depth(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    switch (esra_verdict_surface(evidence, t)) {
    case SURFACE_FARTHER: return &evidence->farther;
    case SURFACE_NEARER: return &evidence->nearer;
    case SURFACE_ONE: break;
    }
    return &evidence->depth;
}

/* Layers add up in the light in which the photos tell R better; in linear light only if R leaves less of them than the
 * photo most alike does, T alone being no match where its depth is wrong, unless the root of light tells nothing of R.
 * Where that was not tried (NaN), they do in linear light if R is told well in it. */
static bool adds_up(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    const struct way_evidence *depth = esra_verdict_depth(evidence, t);
    double root = evidence->prediction_root;
    bool better = isnan(root) ? told(depth) < t->linear_predicts : is_determined(depth, t) && root >= told(depth);
    return better && (root >= t->determined || depth->prediction_error < t->determined * depth->prediction_base);
}

static enum light light_of(const struct evidence *evidence, const struct wishes *wishes, enum model_kind kind,
                           const struct pipeline_thresholds *t)
{
    if (wishes->light == ESRA_LIGHT_STORED)
        return LIGHT_STORED;
    return kind == MODEL_FLAT || light_is_settled(wishes) || adds_up(evidence, t) ? LIGHT_LINEAR : LIGHT_ROOT;
}

/* The scene by depth predicts better without any reflection than homographies do with one. */
static bool scene_predicts(const struct evidence *evidence, double share)
{
    return evidence->depth.prediction_alone < share * evidence->flat.prediction_error;
}

/* Homographies tell R well, and depth does not. */
static bool flat_tells(const struct evidence *evidence, const struct way_evidence *deep,
                       const struct pipeline_thresholds *t)
{
    return told(&evidence->flat) < t->linear_predicts && told(deep) >= t->linear_predicts;
}

/* Depth is the way where the scene alone predicts better by it, and, unless homographies tell R so much better, where
 * it predicts clearly better, or better at all, and tells R where homographies do not. */
static bool depth_is_way(const struct evidence *evidence, const struct way_evidence *deep,
                         const struct pipeline_thresholds *t)
{
    const struct way_evidence *flat = &evidence->flat;
    bool better = depth_predicts(&evidence->depth, flat, t) ||
                  (deep->prediction_error < flat->prediction_error && is_determined(deep, t) &&
                   !is_credible(flat, t->determined_flat, t));
    return scene_predicts(evidence, 1) || (better && !flat_tells(evidence, deep, t));
}

/* Before motions by homographies are exact, and whether they tell R is known: depth that tells R, or whose scene alone
 * is as much better. */
bool esra_verdict_depth_settles(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    return evidence->depth.prediction_error < t->depth_settles * evidence->flat.prediction_error &&
           (told(esra_verdict_depth(evidence, t)) < t->linear_predicts || scene_predicts(evidence, t->depth_settles));
}

/* The layers cancel each other's edges; where a left-out photo was predicted, more of that is accepted. */
static bool layers_cancel(const struct way_evidence *layers, const struct pipeline_thresholds *t)
{
    return layers->opposed >= (isnan(layers->prediction_error) ? t->opposed_most : t->opposed_most_predicted);
}

/* Layers by homographies that were judged are of use: two layers explain the photos, no photo left out is predicted
 * clearly worse than by the photo most alike, and the layers do not cancel each other's edges. */
static bool flat_fits(const struct way_evidence *layers, const struct pipeline_thresholds *t)
{
    bool worse = layers->prediction_error >= t->worse_than_alike * layers->prediction_base;
    return layers->trusted >= t->trusted_least && is_credible(layers, t->determined_flat, t) && !worse &&
           !layers_cancel(layers, t);
}

/* Where they are not, but, cancelling each other's edges or explaining little, predict a left-out photo better than
 * another photo does, than T alone does, and than layers by depth do, the photos are aligned, and may vote. */
static bool flat_votes(const struct evidence *evidence, const struct way_evidence *layers,
                       const struct pipeline_thresholds *t)
{
    bool predicts = !(layers->prediction_error >= layers->prediction_base) && is_told_below(layers, 1) &&
                    !(evidence->depth.prediction_error < layers->prediction_error);
    return evidence->photos > 2 && predicts && (layers_cancel(layers, t) || is_credible(layers, t->determined_flat, t));
}

/* Homographies were judged, and have nothing to show. */
static bool flat_fails(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    const struct way_evidence *flat = &evidence->flat;
    return !isnan(flat->trusted) && !flat_fits(flat, t) && !flat_votes(evidence, flat, t);
}

/* Layers by depth that the photos do not tell rest on voted gradients: medians over the n other photos. What they call
 * R is R and an error whose variance falls as 1/n, and Wiener's estimate of R is n/(n + k) of it. Where the photos fit
 * one another well it is R, unless n = 2: that median is a mean, with half of what each of the two reflects. */
static double retained(const struct evidence *evidence, const struct way_evidence *deep,
                       const struct pipeline_thresholds *t)
{
    int others = evidence->photos - 1;
    bool fit = deep->trusted >= t->open_trusted_least && others > 2;
    return is_determined(deep, t) || fit ? 0 : t->votes_doubted / (others + t->votes_doubted);
}

struct way esra_verdict_way(const struct evidence *evidence, const struct wishes *wishes,
                            const struct pipeline_thresholds *t)
{
    const struct way_evidence *deep = esra_verdict_depth(evidence, t);
    bool tried = !isnan(evidence->depth.prediction_error);
    bool depth =
        !esra_verdict_tries_flat(wishes) || depth_is_way(evidence, deep, t) || (tried && flat_fails(evidence, t));
    enum model_kind kind = depth ? MODEL_DEPTH : MODEL_FLAT;
    return (struct way){.kind = kind,
                        .light = light_of(evidence, wishes, kind, t),
                        .determined = !depth || is_determined(deep, t),
                        .retained = depth ? retained(evidence, deep, t) : 0};
}

bool esra_verdict_tries_roots(const struct evidence *evidence, const struct wishes *wishes,
                              const struct pipeline_thresholds *t)
{
    struct way way = esra_verdict_way(evidence, wishes, t);
    return way.kind == MODEL_DEPTH && way.light == LIGHT_LINEAR && !light_is_settled(wishes);
}

bool esra_verdict_follows(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    return told(&evidence->depth) >= t->linear_predicts;
}

bool esra_verdict_looks_again(const struct evidence *evidence, const struct wishes *wishes, bool followed,
                              const struct pipeline_thresholds *t)
{
    struct way way = esra_verdict_way(evidence, wishes, t);
    bool better = way.determined ? way.light == LIGHT_LINEAR && told(&evidence->depth) >= t->motion_exact
                                 : followed && told(&evidence->depth) < 1;
    return way.kind == MODEL_DEPTH && better;
}

/* Larger photos tell more. In another light than the trial's the errors cannot be compared. */
bool esra_verdict_camera_holds(const struct evidence *evidence, const struct way *way,
                               const struct pipeline_thresholds *t)
{
    return way->light != LIGHT_LINEAR || !way->determined ||
           !(told(&evidence->delivered) > t->camera_holds * told(&evidence->depth));
}

/* ---- What to show ---- */

static bool layers_fit(const struct evidence *evidence, const struct way *way, const struct pipeline_thresholds *t)
{
    const struct way_evidence *layers = &evidence->delivered;
    return way->kind == MODEL_DEPTH ? layers->trusted >= t->trusted_least : flat_fits(layers, t);
}

static bool is_same_photo(const struct photo_evidence *photo, const struct pipeline_thresholds *t)
{
    return photo->residual < t->same_residual;
}

/* Photos beside the reference that tell something it does not. */
static int useful_photos(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    int useful = 0;
    for (int i = 0; i < evidence->photos; i++)
        useful += i != evidence->reference && evidence->photo[i].aligned > 0 && !is_same_photo(&evidence->photo[i], t);
    return useful;
}

static esra_method method_of(const struct evidence *evidence, const struct wishes *wishes, const struct way *way,
                             const struct pipeline_thresholds *t)
{
    int useful = useful_photos(evidence, t);
    bool one_layer = esra_verdict_noise_alone(&evidence->delivered, t) || esra_verdict_noise_alone(&evidence->depth, t);
    bool votes = useful >= 2 && way->kind == MODEL_FLAT && flat_votes(evidence, &evidence->delivered, t);
    return useful == 0                    ? ESRA_METHOD_NONE
           : wishes->gradients            ? ESRA_METHOD_GIVEN
           : one_layer                    ? ESRA_METHOD_NONE
           : layers_fit(evidence, way, t) ? ESRA_METHOD_JOINT
           : votes                        ? ESRA_METHOD_VOTING
                                          : ESRA_METHOD_NONE;
}

/* ---- What to say ---- */

static bool is_blank(const struct evidence *evidence, int i, const struct pipeline_thresholds *t)
{
    return evidence->shortest_side_px < PYRAMID_SIDE_LEAST || evidence->photo[i].deviation < t->blank_deviation;
}

/* |log(a/b)|: how many times a is b, or b is a. */
static bool differs(double a, double b, double ratio)
{
    return fabs(esra_log(a / b)) > esra_log(ratio);
}

static unsigned photo_warnings(const struct evidence *evidence, int i, const struct wishes *wishes,
                               const struct pipeline_thresholds *t)
{
    const struct photo_evidence *photo = &evidence->photo[i], *reference = &evidence->photo[evidence->reference];
    bool blank = is_blank(evidence, i, t) || is_blank(evidence, evidence->reference, t);
    if (!(photo->aligned > 0))
        return ESRA_WARN_NOT_ALIGNED | (blank ? ESRA_WARN_BLANK : 0);
    return (is_same_photo(photo, t) ? ESRA_WARN_SAME_PHOTO : 0) |
           (photo->overlap < t->overlap_least ? ESRA_WARN_LITTLE_OVERLAP : 0) |
           (differs(photo->gain, 1, t->exposure_ratio) ? ESRA_WARN_EXPOSURE : 0) |
           (differs(photo->scale, 1, t->zoom_ratio) ? ESRA_WARN_ZOOM : 0) |
           (!wishes->transforms && differs(photo->sharpness, reference->sharpness, t->focus_ratio) ? ESRA_WARN_FOCUS
                                                                                                   : 0);
}

/* A person who moves is lost in one piece, where all else is explained; elsewhere unexplained patches are strewn. */
static bool something_moves(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    bool moves = false;
    for (int i = 0; i < evidence->photos; i++) {
        double patch = evidence->photo[i].largest_patch;
        moves = moves || (patch > t->moving_share && patch < t->moving_most &&
                          patch > t->moving_of_all * evidence->photo[i].patches);
    }
    return moves && evidence->delivered.trusted > t->moving_trusted;
}

/* A fence or dirt is mostly darker than what it hides, and than layers, which only add up, can explain. Good scenes
 * have about as much that is brighter. */
static bool something_hides(const struct evidence *evidence, const struct pipeline_thresholds *t)
{
    int hidden = 0;
    for (int i = 0; i < evidence->photos; i++) {
        const struct photo_evidence *photo = &evidence->photo[i];
        hidden += photo->darker > t->hidden_share && photo->darker > t->hidden_over_brighter * photo->brighter;
    }
    return 2 * hidden >= evidence->photos;
}

/* How far the layers moved apart in the photo in which they did most; NaN where one motion was found. */
static double most_apart_px(const struct evidence *evidence)
{
    double most = NAN;
    for (int i = 0; i < evidence->photos; i++)
        if (i != evidence->reference)
            most = fmax(most, evidence->photo[i].apart_px);
    return most;
}

static unsigned layer_warnings(const struct evidence *evidence, const struct way *way,
                               const struct pipeline_thresholds *t)
{
    double apart_px = most_apart_px(evidence);
    bool bent = fabs(evidence->depth.bend) >= t->lens_bend || fabs(evidence->delivered.bend) >= t->lens_bend;
    bool solved = !isnan(evidence->delivered.trusted), moves = something_moves(evidence, t);
    return (isnan(apart_px) && useful_photos(evidence, t) > 0 ? ESRA_WARN_ONE_MOTION : 0) |
           (apart_px < t->registration_px ? ESRA_WARN_LITTLE_MOTION : 0) |
           (solved && !layers_fit(evidence, way, t) ? ESRA_WARN_POOR_FIT : 0) |
           (solved && way->retained > 0 && layers_fit(evidence, way, t) ? ESRA_WARN_PARTLY : 0) |
           (moves                          ? ESRA_WARN_MOVING
            : something_hides(evidence, t) ? ESRA_WARN_OPAQUE
                                           : 0) |
           (bent ? ESRA_WARN_LENS : 0);
}

struct verdict esra_verdict(const struct evidence *evidence, const struct wishes *wishes,
                            const struct pipeline_thresholds *t)
{
    struct verdict verdict = {.way = esra_verdict_way(evidence, wishes, t)};
    verdict.method = method_of(evidence, wishes, &verdict.way, t);
    verdict.exchanged = exchanged_probability(&evidence->delivered, t);
    /* By homographies the search has seen to it, and solved again. */
    verdict.exchanges = verdict.way.kind == MODEL_DEPTH && verdict.method == ESRA_METHOD_JOINT &&
                        esra_verdict_exchanges(&evidence->delivered, wishes);
    if (verdict.exchanges)
        verdict.exchanged = 1 - verdict.exchanged;
    bool unsure = !wishes->swap && verdict.exchanged > t->exchanged_unsure;
    verdict.warnings = layer_warnings(evidence, &verdict.way, t) |
                       (evidence->clipped > t->clipped_share ? ESRA_WARN_CLIPPED : 0) |
                       (evidence->photos == 2 ? ESRA_WARN_TWO_PHOTOS : 0) | (unsure ? ESRA_WARN_EXCHANGED : 0);
    for (int i = 0; i < evidence->photos; i++)
        if (i != evidence->reference)
            verdict.warnings |= photo_warnings(evidence, i, wishes, t);
    return verdict;
}
