/* ops/lanczos.c - the weights of Lanczos-3. */
#include "ops/lanczos.h"

#include "base/maths.h"

static double lanczos(double s)
{
    const double pi = 3.14159265358979323846;
    if (fabs(s) < 1e-9)
        return 1;
    if (fabs(s) >= 3)
        return 0;
    return 3 * esra_sin(pi * s) * esra_sin(pi * s / 3) / (pi * pi * s * s);
}

static void fill_weights(lanczos_weights *weights)
{
    for (int phase = 0; phase <= LANCZOS_PHASES; phase++) {
        double fraction = (double)phase / LANCZOS_PHASES, value[LANCZOS_TAPS], sum = 0;
        for (int tap = 0; tap < LANCZOS_TAPS; tap++)
            sum += value[tap] = lanczos(fraction + 2 - tap);
        for (int tap = 0; tap < LANCZOS_TAPS; tap++)
            weights[phase][tap] = (float)(value[tap] / sum);
    }
}

const lanczos_weights *esra_lanczos_weights(struct context *context)
{
    struct lanczos *lanczos = context->lanczos;
    esra_lock_take(&lanczos->lock);
    if (!lanczos->filled)
        fill_weights(lanczos->weights);
    lanczos->filled = true;
    esra_lock_leave(&lanczos->lock);
    return (const lanczos_weights *)lanczos->weights;
}
