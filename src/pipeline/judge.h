/* pipeline/judge.h - how far the photos bear out two layers, by leaving out one photo after the other.
 *
 * Layers that are right predict a photo that had no part in them. And what they say of T without photo j varies with j
 * as far as the photos do not decide it: the jackknife (Tukey 1958) makes a variance of that, here scale by scale, since
 * what two layers leave undecided is the slow change of brightness: where they move d px against each other, waves much
 * longer than d may belong to either. */
#ifndef ESRA_PIPELINE_JUDGE_H
#define ESRA_PIPELINE_JUDGE_H

#include "solve/joint.h"

/* No side of the size judged is longer. A solve takes a tenth of a second a photo there, and what is in doubt is larger
 * than a pixel of it. */
#define JUDGED_SIDE 400

struct judgement {
    bool judged;      /* there were photos enough to leave one out */
    double error;     /* of a photo predicted without itself: mean distance of colour gradients */
    double baseline;  /* of the same photo, predicted by the other photo that is most like it */
    double opposed;   /* gradients that T and the reflection take back from each other, over those they share */
    struct image doubt; /* owned; the part of the reflection that is not borne out, at the size judged: T has it missing */
};

/* Judges at about 400 px a side. A photo whose confidence is 0 takes no part; other confidences, and E, which is made of
 * all the photos, are not looked at. */
esra_status esra_judge(struct judgement *judgement, const struct joint_photos *photos, const struct joint_model *model,
                       int reference, struct context *context);

void esra_judgement_free(struct judgement *judgement);

#endif
