/* ops/features.h - corners with descriptors, found at several scales, and their matches between two photos. */
#ifndef ESRA_OPS_FEATURES_H
#define ESRA_OPS_FEATURES_H

#include "ops/pyramid.h"

#define DESCRIPTOR_SIZE 128

struct feature {
    float x, y; /* px of pyramid level 0 */
    float response;
    int level;
    float descriptor[DESCRIPTOR_SIZE]; /* of unit length */
};

struct features {
    struct feature *data; /* owned */
    int count;
};

/* (x, y) of the reference looks like (u, v) of the photo; px of level 0. */
struct match {
    double x, y, u, v;
    double spread; /* px: how exact the positions are: sqrt(2)^level, corners of blurred levels being found to parts of
                      a px */
    int from;      /* the number of the reference's feature */
};

struct matches {
    struct match *data; /* owned */
    int count;
};

esra_status esra_features_find(struct features *features, struct context *context, const struct pyramid *pyramid);

void esra_features_free(struct features *features);

/* No two matches share a feature of the reference. reach_px: how far apart (x, y) and (u, v) may be along each axis. */
esra_status esra_features_match(struct matches *matches, struct context *context, const struct features *reference,
                                const struct features *photo, double reach_px);

/* The same for tracks: few but good, each the other's nearest, which is clearer still. */
esra_status esra_features_match_mutually(struct matches *matches, struct context *context,
                                         const struct features *reference, const struct features *photo,
                                         double reach_px);

void esra_matches_free(struct matches *matches);

#endif
