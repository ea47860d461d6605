/* pipeline/gains.c - mixing coefficients measured, given, or taken from smaller photos. */
#include "pipeline/gains.h"

#include <math.h>

#include "base/memory.h"
#include "gradients/mixing.h"

/* The caller's a_i, relative to the reference's. */
static double given_gain(const struct model *model, const double *mixing, int i)
{
    double light = mixing[i] / mixing[model->reference];
    return model->light == LIGHT_ROOT ? sqrt(light) : light;
}

esra_status esra_gains_measure(struct model *model, struct run *run)
{
    esra_status status = ESRA_OK;
    const double *given = run->input->mixing;
    struct mixing *mixing = esra_allocate((size_t)model->photos, sizeof *mixing);
    if (!mixing)
        return esra_fail_memory(run->context->message);
    TRY(esra_mixing_estimate(run->context, model->aligned, model->masks, model->photos, model->reference, mixing));
    for (int i = 0; i < model->photos; i++)
        model->mixing[i] = model->reflection_gain[i] = given ? given_gain(model, given, i) : mixing[i].coefficient;
done:
    esra_release(&mixing);
    return status;
}

/* By depth, large photos fit to a pixel or two: edges laid beside each other look fainter than they are, and on
 * photographs of one exposure the mode of their ratios came out at .87. */
void esra_gains_take(struct model *model, const struct model *from)
{
    for (int i = 0; i < model->photos; i++) {
        double a = esra_model_gain_of_light(from, from->mixing[i]);
        double b = esra_model_gain_of_light(from, from->reflection_gain[i]);
        model->mixing[i] = model->light == LIGHT_ROOT ? sqrt(a) : a;
        model->reflection_gain[i] = model->light == LIGHT_ROOT ? sqrt(b) : b;
    }
}
