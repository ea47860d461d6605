/* tools/esra/transforms.h - transforms as JSON, to be looked at, repaired by hand and used again:
 *
 *     {"schema": "esra-transforms-1", "reference": 3, "width": 640, "height": 480,
 *      "photos": [{"file": "a.jpg", "transmitted": [[1,0,0],[0,1,0],[0,0,1]], "reflected": null}, ...]}
 *
 * A transform takes (x, y, 1) of the reference to the photo; pixel centres stand at integers. */
#ifndef ESRA_TOOL_TRANSFORMS_H
#define ESRA_TOOL_TRANSFORMS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

struct transforms {
    int count, reference; /* reference from 0 */
    esra_transform *transmitted;
    esra_transform *reflected; /* NULL where the file has not all of them */
};

/* A 3x3 array, new; NULL where memory is short. */
json_t *transform_to_json(const esra_transform *transform);

/* Scaled so that the last number is 1; false where it is not a map of pixels to pixels. */
bool transform_from_json(const json_t *json, esra_transform *transform);

/* The photos that transforms are wanted for. */
struct transforms_for {
    int count, width, height;
};

/* Reads and checks a file of transforms for them. */
esra_status transforms_read(struct transforms *transforms, const struct transforms_for *photos, const char *path,
                            struct message *message);

/* The same of a file's text in memory; path is for messages. */
esra_status transforms_parse(struct transforms *transforms, const struct transforms_for *photos, const char *path,
                             const char *text, size_t size, struct message *message);

void transforms_free(struct transforms *transforms);

#endif
