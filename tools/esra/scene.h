/* tools/esra/scene.h - the photos of a command line, decoded, in linear light, checked to belong together. */
#ifndef ESRA_TOOL_SCENE_H
#define ESRA_TOOL_SCENE_H

#include "colour/light.h"
#include "colour/primaries.h"
#include "io/paths.h"
#include "io/photo.h"

struct scene_options {
    struct read_options read;
    bool stored;       /* leave code values as they are */
    double most_bytes; /* that separating them may take, found out before memory is taken for pixels; 0: no limit */
    bool gradients;    /* are given, and take memory as well */
    const esra_settings *settings;
};

/* One entry a photo; all photos have one size and, once read, one number of channels. */
struct scene {
    struct paths paths; /* their names, and how many */
    struct photo *photos;
    struct light *lights;
    struct primaries *primaries;
    esra_image *views; /* of the photos' pixels */
    int width, height, channels;
};

/* Reads the photos named by operands: files, "-" for standard input, @FILE for a list of names, one a line. */
esra_status scene_read(struct scene *scene, char **operands, int count, const struct scene_options *options,
                       struct message *message);

/* Brings the colours of every photo to the reference's linear light, where layers seen by one camera are the same. */
void scene_share_colours(struct scene *scene, int reference);

/* From the reference's linear light to code values of photo i's own profile. */
void scene_encode(const struct scene *scene, int reference, int i, struct image *image);

/* Whether photo i's colours are of another space than the reference's. */
bool scene_converts(const struct scene *scene, int reference, int i);

/* Frees everything; harmless on a zeroed scene. */
void scene_free(struct scene *scene);

#endif
