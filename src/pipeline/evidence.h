/* pipeline/evidence.h - the numbers of evidence.def as values: measured here, decided on in verdict.c. */
#ifndef ESRA_PIPELINE_EVIDENCE_H
#define ESRA_PIPELINE_EVIDENCE_H

#include "evidence/leave_out.h"
#include "pipeline/model.h"

struct way_evidence {
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning) double name;
#define PHOTO_EVIDENCE(name, meaning)
#include "pipeline/evidence.def"
};

struct photo_evidence {
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning)
#define PHOTO_EVIDENCE(name, meaning) double name;
#include "pipeline/evidence.def"
};

struct evidence {
#define SERIES_EVIDENCE(name, meaning) double name;
#define WAY_EVIDENCE(name, meaning)
#define PHOTO_EVIDENCE(name, meaning)
#include "pipeline/evidence.def"
    struct way_evidence flat, depth, farther, nearer, delivered;
    int photos, reference;
    struct photo_evidence *photo; /* [photos], owned */
};

/* Everything NaN: nothing was measured. */
esra_status esra_evidence_create(struct evidence *evidence, int photos, int reference, struct message *message);

/* Harmless on a zeroed one. */
void esra_evidence_free(struct evidence *evidence);

/* Of the photos by themselves: clipped, deviation, sharpness. */
esra_status esra_evidence_photos(struct evidence *evidence, const struct series *series, struct run *run);

/* What homographies that were found leave of each photo. */
void esra_evidence_residuals(struct evidence *evidence, const struct model *flat);

/* Of photos that are aligned: structure; of the camera, where there is one. */
esra_status esra_evidence_alignment(struct way_evidence *way, const struct model *model, struct run *run);

/* Of layers, by depth before they are solved for: leave-one-out errors; opposed gradients, and the part of the
 * reflection that the photos leave in doubt, for the caller to free, where that is wanted: NULL, by depth, if not.
 * roughly: see evidence/leave_out.h. */
esra_status esra_evidence_layers(struct way_evidence *way, const struct model *model, bool roughly, struct image *doubt,
                                 struct run *run);

/* Of layers that are solved for: how far they explain the photos. */
void esra_evidence_trust(struct way_evidence *way, const struct model *model);

/* Of motions by homographies that are not exact yet: leave-one-out error and baseline, at a size halved so many times.
 */
esra_status esra_evidence_motions(struct way_evidence *way, const struct model *model, int halvings, struct run *run);

/* Of layers that are solved for: how strong they are. */
esra_status esra_evidence_energy(struct way_evidence *way, const struct model *model, struct context *context);

/* Of motions of two surfaces that are to be delivered: how far R helps to predict. */
esra_status esra_evidence_pair(struct evidence *evidence, const struct model *model, struct run *run);

/* The same of layers that were delivered in the root of light. */
void esra_evidence_root(struct evidence *evidence);

/* The rest, of the model that is delivered: its photos, and how its layers compare. */
esra_status esra_evidence_delivered(struct evidence *evidence, const struct model *model, struct run *run);

#endif
