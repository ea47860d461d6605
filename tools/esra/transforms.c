/* tools/esra/transforms.c - transforms as JSON. Files come from strangers: everything in them is checked. */
#include "transforms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

/* A file for a hundred photos has 40 KB. */
#define MAX_FILE (1 << 20)

json_t *transform_to_json(const esra_transform *transform)
{
    const double *h = transform->h;
    return json_pack("[[f,f,f],[f,f,f],[f,f,f]]", h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7], h[8]);
}

static esra_status damaged(const char *path, const char *what, struct message *message)
{
    return esra_fail(message, ESRA_BAD_DATA, "%s %s; 'esra align' shows what such a file looks like", path, what);
}

bool transform_from_json(const json_t *json, esra_transform *transform)
{
    for (size_t n = 0; n < 9; n++) {
        const json_t *row = json_array_get(json, n / 3), *number = json_array_get(row, n % 3);
        if (json_array_size(row) != 3 || !json_is_number(number))
            return false;
        transform->h[n] = json_number_value(number);
    }
    double scale = transform->h[8];
    for (int n = 0; n < 9; n++)
        transform->h[n] /= scale;
    const double *h = transform->h;
    double determinant =
        h[0] * (h[4] * h[8] - h[5] * h[7]) - h[1] * (h[3] * h[8] - h[5] * h[6]) + h[2] * (h[3] * h[7] - h[4] * h[6]);
    return json_array_size(json) == 3 && isfinite(determinant) && fabs(determinant) > 1e-6 && fabs(determinant) < 1e6;
}

/* 96 or 96.0: programs that know but one kind of number write the latter. */
static bool is_whole(const json_t *json, int number)
{
    return json_is_number(json) && json_number_value(json) == number;
}

/* From 0; -1 where it is not among so many photos. */
static int find_reference(const json_t *json, int count)
{
    int n = count - 1;
    while (n >= 0 && !is_whole(json, n + 1))
        n--;
    return n;
}

static esra_status take_photos(struct transforms *t, const json_t *photos, const char *path, struct message *message)
{
    bool all_reflected = true;
    for (int i = 0; i < t->count; i++) {
        const json_t *photo = json_array_get(photos, (size_t)i);
        const json_t *reflected = json_object_get(photo, "reflected");
        if (i != t->reference && json_is_false(json_object_get(photo, "aligned")))
            continue; /* zeros: left out */
        if (!transform_from_json(json_object_get(photo, "transmitted"), &t->transmitted[i]))
            return damaged(path, "has a photo without a 3x3 transform 'transmitted' that can be undone", message);
        if (json_is_array(reflected) && !transform_from_json(reflected, &t->reflected[i]))
            return damaged(path, "has a transform 'reflected' that is not 3x3 or cannot be undone", message);
        all_reflected = all_reflected && json_is_array(reflected);
    }
    if (!all_reflected) {
        free(t->reflected);
        t->reflected = NULL;
    }
    return ESRA_OK;
}

static esra_status take_object(struct transforms *t, const struct transforms_for *photos, const json_t *object,
                               const char *path, struct message *message)
{
    const char *schema = json_string_value(json_object_get(object, "schema"));
    const json_t *list = json_object_get(object, "photos");
    if (!schema || strcmp(schema, "esra-transforms-1") != 0)
        return damaged(path, "does not say \"schema\": \"esra-transforms-1\"", message);
    if (!is_whole(json_object_get(object, "width"), photos->width) ||
        !is_whole(json_object_get(object, "height"), photos->height))
        return damaged(path, "is for photos of another size", message);
    if (json_array_size(list) != (size_t)t->count)
        return damaged(path, "is for another number of photos", message);
    t->reference = find_reference(json_object_get(object, "reference"), t->count);
    if (t->reference < 0)
        return damaged(path, "names a reference that is not among its photos", message);
    return take_photos(t, list, path, message);
}

esra_status transforms_parse(struct transforms *t, const struct transforms_for *photos, const char *path,
                             const char *text, size_t size, struct message *message)
{
    json_t *object = NULL;
    json_error_t error;
    esra_status status;
    *t = (struct transforms){.count = photos->count};
    TRY(json_read(&object, text, size, &error, message));
    if (!object)
        TRY(esra_fail(message, ESRA_BAD_DATA, "%s is not JSON (line %d: %s)", path, error.line, error.text));
    t->transmitted = calloc((size_t)t->count, sizeof *t->transmitted);
    t->reflected = calloc((size_t)t->count, sizeof *t->reflected);
    if (!t->transmitted || !t->reflected)
        TRY(esra_fail_memory(message));
    TRY(take_object(t, photos, object, path, message));
done:
    json_decref(object);
    if (status != ESRA_OK)
        transforms_free(t);
    return status;
}

esra_status transforms_read(struct transforms *t, const struct transforms_for *photos, const char *path,
                            struct message *message)
{
    struct bytes text = {0};
    esra_status status;
    *t = (struct transforms){0};
    TRY(text_read(&text, path, MAX_FILE, "that is no file of transforms", message));
    TRY(transforms_parse(t, photos, path, (const char *)text.data, text.size, message));
done:
    esra_bytes_free(&text);
    return status;
}

void transforms_free(struct transforms *t)
{
    free(t->transmitted);
    free(t->reflected);
    *t = (struct transforms){0};
}
