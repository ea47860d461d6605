/* tools/esra/scene.h - the photos of a command line, decoded, in linear light, checked to belong together. */
#ifndef ESRA_TOOL_SCENE_H
#define ESRA_TOOL_SCENE_H

#include "colour/light.h"
#include "io/paths.h"
#include "io/photo.h"

struct scene_options {
    struct read_options read;
    bool stored; /* leave code values as they are */
    double most_bytes; /* that separating them may take, found out before they are read; 0: no limit */
    const esra_settings *settings;
};

/* One entry a photo; all photos have one size and, once read, one number of channels. */
struct scene {
    struct paths paths; /* their names, and how many */
    struct photo *photos;
    struct light *lights;
    esra_image *views; /* of the photos' pixels */
    int width, height, channels;
};

/* Reads the photos named by operands: files, "-" for standard input, @FILE for a list of names, one a line. */
esra_status scene_read(struct scene *scene, char **operands, int count, const struct scene_options *options,
                       struct message *message);

/* Frees everything; harmless on a zeroed scene. */
void scene_free(struct scene *scene);

#endif
