/* camera/adjust.h - least squares over poses, lens and inverse depths at once. */
#ifndef ESRA_CAMERA_ADJUST_H
#define ESRA_CAMERA_ADJUST_H

#include "camera/camera.h"
#include "camera/tracks.h"

#define POSE_PARAMETERS 6
#define LENS_PARAMETERS 4

/* What is adjusted. The lens is told by numbers that lie around 0: focal_px = 1.2 side exp(lens[FOCAL]), k1 =
 * lens[BEND], centre of the photo + side (lens[CENTRE_X], lens[CENTRE_Y]), side being the photo's longer one. */
enum { FOCAL, BEND, CENTRE_X, CENTRE_Y };

struct guess {
    struct camera camera; /* its lens follows from `lens`; pose [photos] */
    double lens[LENS_PARAMETERS];
    double *w; /* [tracks] */
};

struct adjusting {
    const struct tracks *tracks;
    struct context *context;
    bool *use;          /* [count * photos]: sightings that count */
    struct guess trial; /* to step to */
    int parameters;     /* of poses and lens; those of photo n begin at slot n, the lens' come last */
    /* Normal equations: matrix A and right side b of the parameters; of every track its own D and g, and its row of E.
     */
    double *a, *b, *d, *g, *e, *schur, *step;
};

esra_status esra_adjusting_create(struct adjusting *adjusting, struct context *context, const struct tracks *tracks);

void esra_adjusting_free(struct adjusting *adjusting);

esra_status esra_guess_create(struct guess *guess, const struct tracks *tracks, struct message *message);

void esra_guess_free(struct guess *guess);

/* Both for the same tracks. */
void esra_guess_copy(struct guess *to, const struct guess *from, const struct tracks *tracks);

/* At most `steps` Levenberg-Marquardt steps, fewer where the context is stopping. Returns the cost: the sum over
 * sightings of s^2 log(1 + |x - seen|^2/s^2), s = scale_px, and the priors. bend: adjust the lens' distortion and
 * centre too. */
double esra_adjust(struct adjusting *adjusting, struct guess *guess, double scale_px, int steps, bool bend);

/* R <- exp(a) R: turned further, about the axis a, by its length (Rodrigues). */
void esra_pose_turn(double r[9], const double a[3]);

/* Distance in px of a sighting from where the guess has it. */
double esra_adjust_error(const struct adjusting *adjusting, const struct guess *guess, int track, int photo);

#endif
