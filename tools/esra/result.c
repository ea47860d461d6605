/* tools/esra/result.c - result.json, read again. Files come from strangers: everything in them is checked. */
#include "result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "transforms.h"

/* A file for a hundred photos has 200 KB. */
#define MAX_FILE (16 << 20)

/* As many photos as a command takes without limits; and pixels a side, lest products overflow. */
#define MOST_PHOTOS (1 << 20)
#define MOST_SIDE   (1 << 24)

static esra_status damaged(const char *path, const char *what, struct message *message)
{
    return esra_fail(message, ESRA_BAD_DATA, "%s %s; give the folder that this esra's 'esra separate' wrote", path,
                     what);
}

/* NaN where it is none. */
static double number_of(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

/* A whole number in lowest..highest; 0 where it is none. */
static int whole_of(const json_t *object, const char *key, int lowest, int highest)
{
    double number = number_of(object, key);
    return number >= lowest && number <= highest && number == floor(number) ? (int)number : 0;
}

static const char *word_of(const json_t *object, const char *key)
{
    const char *word = json_string_value(json_object_get(object, key));
    return word ? word : "";
}

/* The value whose word stands there; -1 where none does. */
static int choice_of(const json_t *object, const char *key, int count, const char *const *words)
{
    const char *word = word_of(object, key);
    int n = count - 1;
    while (n >= 0 && strcmp(words[n], word) != 0)
        n--;
    return n;
}

static const char *const methods[] = {
#define ROW(value, word) word,
    ESRA_METHODS(ROW)
#undef ROW
};
static const char *const motions[] = {
#define ROW(value, word) word,
    ESRA_MOTIONS(ROW)
#undef ROW
};
static const char *const formats[] = {"png", "jpg", "tif", "npy"};

#define COUNT(words) ((int)(sizeof(words) / sizeof(words)[0]))

/* ---- Its parts ---- */

static esra_status take_output(struct result *r, const char *path, struct message *message)
{
    const json_t *output = json_object_get(r->object, "output");
    int format = choice_of(output, "format", COUNT(formats), formats);
    r->quality = whole_of(output, "quality", 1, 100);
    r->brightness = number_of(output, "brightness");
    r->strength = number_of(r->object, "strength");
    if (format < 0 || r->quality == 0 || !(r->brightness > 0) || !isfinite(r->brightness) || !(r->strength >= 0) ||
        r->strength > 1)
        return damaged(path, "does not say how its pictures were written", message);
    r->format = formats[format];
    if (strcmp(word_of(output, "layers"), "all") != 0)
        return esra_fail(message, ESRA_BAD_DATA, "%s: only one layer was written; separate again with --layers all",
                         path);
    if (r->strength == 0)
        return esra_fail(message, ESRA_BAD_DATA,
                         "%s: with a strength of 0 the photo was left as it was; separate again with more", path);
    return ESRA_OK;
}

static esra_status take_method(struct result *r, const char *path, struct message *message)
{
    int method = choice_of(r->object, "method", COUNT(methods), methods);
    int motion = choice_of(r->object, "motion", COUNT(motions), motions);
    const char *light = word_of(r->object, "light");
    if (method < 0 || motion < 0)
        return damaged(path, "names no method or motion that is known", message);
    r->separation.method = (esra_method)method;
    r->separation.motion = (esra_motion)motion;
    r->stored = strcmp(light, "stored") == 0;
    r->roots = strcmp(light, "root") == 0;
    r->exchanged = json_is_true(json_object_get(r->object, "exchanged"));
    if (r->separation.method == ESRA_METHOD_NONE)
        return esra_fail(message, ESRA_BAD_DATA,
                         "%s: the layers could not be told apart, and the photo was left as it was", path);
    return ESRA_OK;
}

static void take_numbers(struct result *r)
{
    esra_separation *s = &r->separation;
    const json_t *solve = json_object_get(r->object, "solve"), *joint = json_object_get(r->object, "joint");
    const json_t *prediction = json_object_get(r->object, "prediction");
    const json_t *seconds = json_object_get(r->object, "seconds");
    const char *status = word_of(solve, "status");
    r->info.outcome = strcmp(status, "optimal") == 0   ? ESRA_OPTIMAL
                      : strcmp(status, "stopped") == 0 ? ESRA_STOPPED
                                                       : ESRA_INACCURATE;
    r->info.objective = number_of(solve, "objective");
    r->info.bound = number_of(solve, "bound");
    r->info.gap = number_of(solve, "gap");
    r->info.iterations = whole_of(solve, "iterations", 0, 1 << 30);
    r->settings.lambda = number_of(r->object, "lambda");
    s->joint_objective = number_of(joint, "objective");
    s->joint_residual = number_of(joint, "residual");
    s->prediction_error = number_of(prediction, "error");
    s->prediction_base = number_of(prediction, "baseline");
    s->scale = json_object_get(r->object, "scale") ? number_of(r->object, "scale") : 1; /* older ones have none */
    s->align_s = number_of(seconds, "align");
    s->joint_s = number_of(seconds, "joint");
    s->solve_s = number_of(seconds, "solve");
    s->total_s = number_of(seconds, "total");
}

static void take_warnings(struct result *r)
{
    const json_t *list = json_object_get(r->object, "warnings");
    size_t count;
    const esra_warning_row *table = esra_warning_table(&count);
    for (size_t n = 0; n < json_array_size(list); n++)
        for (const esra_warning_row *row = table; row < table + count; row++)
            if (strcmp(row->id, word_of(json_array_get(list, n), "id")) == 0)
                r->separation.warnings |= (unsigned)row->bit;
}

/* A motion that is not known, as that of a reflection outside a joint solution, becomes none. */
static esra_transform motion_of(const json_t *photo, const char *key)
{
    esra_transform none = {{1, 0, 0, 0, 1, 0, 0, 0, 1}}, motion;
    return transform_from_json(json_object_get(photo, key), &motion) ? motion : none;
}

static bool take_photo(struct result *r, int i, const json_t *photo)
{
    r->names[i] = json_string_value(json_object_get(photo, "file"));
    r->incomplete = r->incomplete || json_is_true(json_object_get(photo, "incomplete"));
    r->facts[i] = (esra_photo_facts){json_is_true(json_object_get(photo, "aligned")), number_of(photo, "explained"),
                                     number_of(photo, "explained_reflected"), number_of(photo, "overlap"),
                                     number_of(photo, "layers_apart_px")};
    r->motion[i] = motion_of(photo, "transmitted");
    r->motion[r->photos + i] = motion_of(photo, "reflected");
    r->gains[i] = number_of(photo, "mixing");
    r->gains[r->photos + i] = number_of(photo, "reflection_gain");
    return r->names[i] && isfinite(r->gains[i]) && isfinite(r->gains[r->photos + i]);
}

static esra_status take_photos(struct result *r, const char *path, struct message *message)
{
    const json_t *list = json_object_get(r->object, "photos");
    size_t m = json_array_size(list);
    if (m < 2 || m > MOST_PHOTOS)
        return damaged(path, "lists no photos", message);
    r->photos = (int)m;
    r->names = calloc(m, sizeof *r->names);
    r->motion = calloc(2 * m, sizeof *r->motion);
    r->gains = calloc(2 * m, sizeof *r->gains);
    r->facts = calloc(m, sizeof *r->facts);
    if (!r->names || !r->motion || !r->gains || !r->facts)
        return esra_fail_memory(message);
    for (int i = 0; i < r->photos; i++)
        if (!take_photo(r, i, json_array_get(list, (size_t)i)))
            return damaged(path, "has a photo without its name or gains", message);
    r->reference = whole_of(r->object, "reference", 1, r->photos) - 1;
    r->width = whole_of(r->object, "width", 1, MOST_SIDE);
    r->height = whole_of(r->object, "height", 1, MOST_SIDE);
    if (r->reference < 0 || r->width == 0 || r->height == 0)
        return damaged(path, "names a reference or a size that cannot be", message);
    return ESRA_OK;
}

static void lend_arrays(struct result *r)
{
    esra_separation *s = &r->separation;
    s->transmitted_motion = r->motion;
    s->reflected_motion = r->motion + r->photos;
    s->mixing = r->gains;
    s->reflection_gain = r->gains + r->photos;
    s->facts = r->facts;
    s->info = &r->info;
}

/* ---- All of it ---- */

static esra_status take_object(struct result *r, const char *path, struct message *message)
{
    esra_status status;
    if (strcmp(word_of(r->object, "schema"), "esra-separate-2") != 0)
        return damaged(path, "does not say \"schema\": \"esra-separate-2\"", message);
    r->separation.struct_size = sizeof r->separation;
    r->info = (esra_info)ESRA_INFO_INIT;
    esra_settings_for_separation(&r->settings);
    TRY(take_method(r, path, message));
    TRY(take_output(r, path, message));
    TRY(take_photos(r, path, message));
    take_numbers(r);
    take_warnings(r);
    lend_arrays(r);
done:
    return status;
}

esra_status result_parse(struct result *r, const char *path, const char *text, size_t size, struct message *message)
{
    json_error_t error;
    esra_status status;
    *r = (struct result){0};
    TRY(json_read(&r->object, text, size, &error, message));
    if (!r->object)
        TRY(esra_fail(message, ESRA_BAD_DATA, "%s is not JSON (line %d: %s)", path, error.line, error.text));
    TRY(take_object(r, path, message));
done:
    if (status != ESRA_OK)
        result_free(r);
    return status;
}

esra_status result_read(struct result *r, const char *path, struct message *message)
{
    struct bytes text = {0};
    esra_status status;
    *r = (struct result){0};
    TRY(text_read(&text, path, MAX_FILE, "that is no result.json", message));
    TRY(result_parse(r, path, (const char *)text.data, text.size, message));
done:
    esra_bytes_free(&text);
    return status;
}

void result_free(struct result *r)
{
    json_decref(r->object);
    free(r->names);
    free(r->motion);
    free(r->gains);
    free(r->facts);
    *r = (struct result){0};
}

/* ---- Exchanged ---- */

static bool exchange_fields(json_t *photo, const char *a, const char *b)
{
    json_t *first = json_incref(json_object_get(photo, a)), *second = json_incref(json_object_get(photo, b));
    if (first && second)
        return json_object_set_new(photo, a, second) == 0 && json_object_set_new(photo, b, first) == 0;
    json_decref(first);
    json_decref(second);
    return true;
}

static bool exchange_photo(json_t *photo)
{
    bool both =
        json_is_array(json_object_get(photo, "transmitted")) && json_is_array(json_object_get(photo, "reflected"));
    return exchange_fields(photo, "mixing", "reflection_gain") &&
           exchange_fields(photo, "explained", "explained_reflected") &&
           (!both || exchange_fields(photo, "transmitted", "reflected"));
}

static bool exchange_photos(json_t *photos)
{
    bool good = true;
    for (size_t i = 0; good && i < json_array_size(photos); i++)
        good = exchange_photo(json_array_get(photos, i));
    return good;
}

static void heed_warning(json_t *warnings)
{
    for (size_t n = json_array_size(warnings); n-- > 0;)
        if (strcmp(word_of(json_array_get(warnings, n), "id"), "exchanged") == 0)
            json_array_remove(warnings, n);
}

/* That the names are wrong, of the other names; older files have none. */
static void exchange_probability(json_t **object)
{
    json_t *number = json_object_get(*object, "exchange_probability");
    if (json_is_number(number) && json_number_value(number) > 0 && json_number_value(number) < 1)
        json_set(object, "exchange_probability", json_real(1 - json_number_value(number)));
}

json_t *result_exchange(const struct result *r)
{
    json_t *object = json_deep_copy(r->object);
    if (object && exchange_photos(json_object_get(object, "photos"))) {
        heed_warning(json_object_get(object, "warnings"));
        exchange_probability(&object);
        if (r->exchanged)
            json_object_del(object, "exchanged");
        else
            json_set(&object, "exchanged", json_true());
        return object;
    }
    json_decref(object);
    return NULL;
}
