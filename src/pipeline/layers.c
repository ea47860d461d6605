/* pipeline/layers.c - the paper's problem, made from what was found: gradients and weights, then the certified solve. */
#include <math.h>

#include "base/memory.h"
#include "gradients/joint_gradients.h"
#include "gradients/vote.h"
#include "ops/resample.h"
#include "pipeline/parallax.h"

/* What is in doubt of the reflection, at full size; nothing where nothing is. Pixel centres of two sizes lie as those of
 * joint_level.h. */
static esra_status enlarge_doubt(const struct pipeline *p, struct image *doubt)
{
    const struct image *small = &p->judgement.doubt;
    if (!small->data)
        return ESRA_OK;
    double factor = round((double)p->width / small->width);
    struct transform shrink = {{1 / factor, 0, (1 / factor - 1) / 2, 0, 1 / factor, (1 / factor - 1) / 2, 0, 0, 1}};
    esra_status status = esra_image_create(doubt, p->width, p->height, p->channels, p->context->message);
    if (status == ESRA_OK)
        esra_resample(p->context, small, &shrink, doubt, (struct plane){0});
    return status;
}

static void add(struct image *layer, const struct image *doubt, double factor)
{
    size_t samples = (size_t)layer->width * (size_t)layer->height * (size_t)layer->channels;
    for (size_t n = 0; doubt->data && n < samples; n++)
        layer->data[n] += (float)factor * doubt->data[n];
}

/* The joint solution's own gradients, weighed by how far it explains each photo; what is in doubt of the reflection stays in
 * the transmitted layer, as the reference photo has it. One layer at a time: all of them twice
 * would be the most that a separation ever holds. */
static esra_status guide_by_joint(struct pipeline *p)
{
    struct image layer = {0}, trust = {0}, doubt = {0};
    esra_status status;
    esra_joint_trim(p->joint);
    TRY(enlarge_doubt(p, &doubt));
    TRY(esra_guide_create(&p->guide, p->photos, p->width, p->height, p->channels, p->context->message));
    TRY(esra_joint_transmitted(p->joint, &layer));
    add(&layer, &doubt, 1);
    esra_guide_take_transmitted(&p->guide, &layer);
    for (int i = 0; i < p->photos && !esra_context_stopping(p->context); i++) {
        esra_image_free(&layer);
        TRY(esra_joint_seen(p->joint, i, &layer));
        add(&layer, &doubt, -p->mixing[i]);
        TRY(esra_joint_trust(p->joint, i, &trust));
        esra_guide_take_reflected(&p->guide, i, &layer, &trust);
        esra_image_free(&trust);
    }
done:
    esra_image_free(&layer);
    esra_image_free(&trust);
    esra_image_free(&doubt);
    return status;
}

static esra_status guide_by_vote(struct pipeline *p)
{
    struct vote vote = {p->photos, p->aligned, p->masks, p->mixing, -1};
    return esra_guide_from_vote(&p->guide, &vote, p->context);
}

/* The caller's gradients stay where they are. */
static esra_status guide_as_given(struct pipeline *p)
{
    size_t pixels = (size_t)p->width * (size_t)p->height;
    esra_status status = esra_guide_create(&p->guide, p->photos, p->width, p->height, p->channels, p->context->message);
    for (int i = 0; status == ESRA_OK && i < p->photos; i++)
        for (size_t n = 0; n < pixels; n++)
            p->guide.weights[i].data[n] = p->masks[i].data[n];
    return status;
}

static esra_status make_guide(struct pipeline *p)
{
    switch (p->output->method) {
    case ESRA_METHOD_JOINT: return guide_by_joint(p);
    case ESRA_METHOD_VOTING: return guide_by_vote(p);
    case ESRA_METHOD_GIVEN: return guide_as_given(p);
    case ESRA_METHOD_NONE: break;
    }
    return ESRA_OK;
}

/* What only led to the layers makes room for the guide, and what led to that for the solver. */
esra_status esra_pipeline_extract(struct pipeline *p)
{
    if (p->parallax)
        esra_parallax_trim(p->parallax, p->photos);
    esra_status status = make_guide(p);
    esra_joint_free(&p->joint);
    esra_images_free(&p->masks, p->photos);
    return status;
}

static void view_all(esra_image *views, const struct image *images, int count)
{
    for (int n = 0; n < count; n++)
        views[n] = esra_image_planar(images[n].data, images[n].width, images[n].height, images[n].channels);
}

esra_status esra_pipeline_solve(struct pipeline *p)
{
    int m = p->photos;
    esra_image *views = esra_allocate(2 * (size_t)m + 3 * ((size_t)m + 1), sizeof *views);
    if (!views)
        return esra_fail_memory(p->context->message);
    esra_image *weights = views + m, *layers = weights + m, *gradients = layers + m + 1;
    view_all(views, p->aligned, m);
    view_all(weights, p->guide.weights, m);
    view_all(layers, p->guide.start, m + 1);
    view_all(gradients, p->guide.gradients, 2 * (m + 1));
    esra_problem problem = ESRA_PROBLEM_INIT;
    problem.photos = m;
    problem.mixing = p->mixing;
    problem.mixtures = views;
    problem.gradients = p->input->gradients ? p->input->gradients : gradients;
    problem.weights = weights;
    esra_result result = ESRA_RESULT_INIT;
    result.layers = layers;
    p->output->info = (esra_info)ESRA_INFO_INIT;
    esra_status status = esra_solver_run(p->solver, &problem, p->settings, &result, &p->output->info);
    p->solved = status == ESRA_OK;
    esra_release(&views);
    return status;
}
