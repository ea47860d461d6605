/* tools/esra/result.h - result.json of a finished separation, read again (doc/result.md has its fields). */
#ifndef ESRA_TOOL_RESULT_H
#define ESRA_TOOL_RESULT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/status.h"

/* What a report or another look at the layers needs of it. */
struct result {
    json_t *object;             /* all of it */
    int photos, reference;      /* reference from 0 */
    int width, height;          /* of the photos */
    const char **names;         /* of the photos, lent by the object */
    const char *format;         /* of the pictures, lent */
    int quality;                /* of JPEG */
    double brightness;          /* how many times as bright reflected layers are drawn */
    double strength;            /* how much of the reflection was removed, above 0 */
    bool stored, roots;         /* layers add up as stored values; as roots of light */
    bool incomplete;            /* of a damaged photo what could be read was used */
    bool exchanged;             /* 'esra swap' has been here */
    esra_separation separation; /* its arrays are those below */
    esra_info info;             /* of its certified solve */
    esra_settings settings;     /* lambda alone is as it was */
    esra_transform *motion;     /* 2 m: of the scene, then of the reflection */
    double *gains;              /* 2 m: a_i, then b_i */
    esra_photo_facts *facts;
};

/* Reads and checks the file. Fails where there are no layers to speak of. */
esra_status result_read(struct result *result, const char *path, struct message *message);

/* The same of a file's text in memory; path is for messages. */
esra_status result_parse(struct result *result, const char *path, const char *text, size_t size,
                         struct message *message);

/* The file once the layers are exchanged, new; NULL where memory is short. Of each photo motions (where both are
 * known), gains and shares change places; the warning that they may be exchanged has been heeded. All other numbers
 * stay those of the layers as they were found. */
json_t *result_exchange(const struct result *result);

void result_free(struct result *result);

#endif
