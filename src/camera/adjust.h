/* camera/adjust.h - bundle adjustment: robust least squares over poses, lens and inverse depths at once. */
#ifndef ESRA_CAMERA_ADJUST_H
#define ESRA_CAMERA_ADJUST_H

#include "camera/camera.h"
#include "camera/tracks.h"

#define POSE_PARAMETERS 6
#define LENS_PARAMETERS 4

/* What is adjusted. The lens' parameters lie around 0: focal_px = 1.2 side exp(lens[FOCAL]), k1 = lens[BEND], principal
 * point = middle of the photo + side (lens[CENTRE_X], lens[CENTRE_Y]), side being the photo's longer one. */
enum { FOCAL, BEND, CENTRE_X, CENTRE_Y };

struct guess {
    struct camera camera; /* its lens follows from `lens`; pose [photos] */
    double lens[LENS_PARAMETERS];
    double *w; /* [tracks]: inverse depths */
};

struct adjusting {
    const struct tracks *tracks;
    struct context *context;
    bool *use;          /* [count * photos]: sightings that are inliers */
    struct guess trial; /* the guess after a step, until it is accepted */
    int parameters;     /* of poses and lens; those of photo n begin at slot n, the lens' come last */
    /* Normal equations, in the letters of adjust.c: A and b of the parameters; D, g and the row of E of every track. */
    double *a, *b, *d, *g, *e, *schur, *step;
};

esra_status esra_adjusting_create(struct adjusting *adjusting, struct context *context, const struct tracks *tracks);

void esra_adjusting_free(struct adjusting *adjusting);

esra_status esra_guess_create(struct guess *guess, const struct tracks *tracks, struct message *message);

void esra_guess_free(struct guess *guess);

/* Both for the same tracks. */
void esra_guess_copy(struct guess *to, const struct guess *from, const struct tracks *tracks);

/* At most `steps` Levenberg-Marquardt steps, fewer where the context is stopping. Returns the cost: Cauchy's loss of
 * the reprojection errors, the sum over sightings of s^2 log(1 + |x - seen|^2/s^2), s = scale_px, and the priors. bend:
 * adjust the lens' distortion and principal point too. */
double esra_adjust(struct adjusting *adjusting, struct guess *guess, double scale_px, int steps, bool bend);

/* R <- exp([a]x) R: a rotation about the axis a by the angle |a| after R (Rodrigues' formula). */
void esra_pose_turn(double r[9], const double a[3]);

/* Reprojection error of a sighting in px: its distance from where the guess projects the track. */
double esra_adjust_error(const struct adjusting *adjusting, const struct guess *guess, int track, int photo);

#endif
