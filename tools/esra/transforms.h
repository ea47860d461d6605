/* tools/esra/transforms.h - transforms as JSON, to be looked at, repaired by hand and used again:
 *
 *     {"schema": "esra-transforms-1", "reference": 3, "width": 640, "height": 480,
 *      "photos": [{"file": "a.jpg", "transmitted": [[1,0,0],[0,1,0],[0,0,1]], "reflected": null}, ...]}
 *
 * A transform takes (x, y, 1) of the reference to the photo; pixel centres stand at integers. */
#ifndef ESRA_TOOL_TRANSFORMS_H
#define ESRA_TOOL_TRANSFORMS_H

#include <jansson.h>

#include "base/status.h"

struct transforms {
    int count, reference; /* reference from 0 */
    esra_transform *transmitted;
    esra_transform *reflected; /* NULL where the file has not all of them */
};

/* A 3x3 array, new; NULL where memory is short. */
json_t *transform_to_json(const esra_transform *transform);

/* Reads and checks a file for photos of this number and size. */
esra_status transforms_read(struct transforms *transforms, const char *path, int count, int width, int height,
                            struct message *message);

void transforms_free(struct transforms *transforms);

#endif
