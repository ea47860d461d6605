/* bench/replay.c - decides stored results again. result.json carries the evidence that a separation was decided by; the
 * verdict is a pure function of it, so that other thresholds can be tried on any number of scenes in milliseconds.
 *
 *     replay [-s name=value]... [-a] RESULT...
 *
 * prints the scenes for which the verdict would be another one, and a count. -a prints all; -l lists the thresholds.
 * Where homographies would be taken instead of depth, or the other way round, the layers of the other model were not
 * kept, and method and warnings are those of the numbers that there are of it. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "pipeline/evidence_table.h"
#include "pipeline/verdict.h"

struct stored {
    struct evidence evidence;
    struct wishes wishes;
    const char *way, *light, *method; /* as stored */
    unsigned warnings;
};

static double number_at(const json_t *object, const char *name)
{
    char way[32];
    const char *dot = strchr(name, '.');
    if (dot) {
        snprintf(way, sizeof way, "%.*s", (int)(dot - name), name);
        object = json_object_get(object, way);
        name = dot + 1;
    }
    const json_t *number = json_object_get(object, name);
    return json_is_number(number) ? json_number_value(number) : NAN;
}

static void read_numbers(const json_t *object, int of_photo, double *numbers)
{
    size_t count;
    const esra_evidence_row *rows = esra_evidence_table(&count);
    for (size_t n = 0; n < count; n++)
        if (rows[n].of_photo == of_photo)
            *numbers++ = number_at(object, rows[n].name);
}

static int index_of(const char *words, const char *word)
{
    int index = 0;
    size_t length = word ? strlen(word) : 0;
    for (const char *at = words; word && at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL, index++)
        if (strncmp(at, word, length) == 0 && (at[length] == '|' || at[length] == '\0'))
            return index;
    return -1;
}

static unsigned bit_of(const char *id)
{
    size_t count;
    const esra_warning_row *rows = esra_warning_table(&count);
    for (size_t n = 0; id && n < count; n++)
        if (strcmp(rows[n].id, id) == 0)
            return rows[n].bit;
    return 0;
}

static unsigned read_warnings(const json_t *list)
{
    unsigned warnings = 0;
    for (size_t n = 0; n < json_array_size(list); n++)
        warnings |= bit_of(json_string_value(json_object_get(json_array_get(list, n), "id")));
    return warnings;
}

static bool read_wishes(const json_t *asked, struct wishes *wishes)
{
    int motion = index_of(ESRA_WORDS(ESRA_MOTIONS), json_string_value(json_object_get(asked, "motion")));
    int light = index_of(ESRA_WORDS(ESRA_LIGHTS), json_string_value(json_object_get(asked, "light")));
    *wishes = (struct wishes){.motion = (esra_motion)motion,
                              .light = (esra_light)light,
                              .swap = json_is_true(json_object_get(asked, "swap")),
                              .transforms = json_is_true(json_object_get(asked, "transforms")),
                              .gradients = json_is_true(json_object_get(asked, "gradients"))};
    return motion >= 0 && light >= 0;
}

static bool read_evidence(const json_t *root, struct evidence *evidence)
{
    const json_t *photos = json_object_get(root, "photos");
    int m = (int)json_array_size(photos);
    double reference = number_at(root, "reference");
    struct message message;
    if (!(reference >= 1 && reference <= m) ||
        esra_evidence_create(evidence, m, (int)reference - 1, &message) != ESRA_OK)
        return false;
    double *numbers = calloc((size_t)esra_evidence_rows, sizeof *numbers);
    double *of_photos = calloc((size_t)m * (size_t)esra_photo_evidence_rows, sizeof *of_photos);
    if (numbers && of_photos) {
        read_numbers(json_object_get(root, "evidence"), 0, numbers);
        for (int i = 0; i < m; i++)
            read_numbers(json_object_get(json_array_get(photos, (size_t)i), "evidence"), 1,
                         of_photos + i * esra_photo_evidence_rows);
        esra_evidence_from_numbers(evidence, numbers, of_photos);
    }
    free(numbers);
    free(of_photos);
    return numbers && of_photos;
}

static bool read_stored(const json_t *root, struct stored *stored)
{
    stored->way = json_string_value(json_object_get(root, "motion"));
    stored->light = json_string_value(json_object_get(root, "light"));
    stored->method = json_string_value(json_object_get(root, "method"));
    stored->warnings = read_warnings(json_object_get(root, "warnings"));
    return json_object_get(root, "evidence") && stored->way && stored->light && stored->method &&
           read_wishes(json_object_get(root, "asked"), &stored->wishes) && read_evidence(root, &stored->evidence);
}

static void print_warnings(char sign, unsigned warnings)
{
    size_t count;
    const esra_warning_row *rows = esra_warning_table(&count);
    for (size_t n = 0; n < count; n++)
        if (warnings & rows[n].bit)
            printf(" %c%s", sign, rows[n].id);
}

/* Decides as the thresholds have it, and tells what would be different. */
static bool compare(const char *path, struct stored *stored, const struct pipeline_thresholds *thresholds, bool all)
{
    static const char *const lights[] = {"linear", "root", "stored"};
    struct way way = esra_verdict_way(&stored->evidence, &stored->wishes, thresholds);
    bool was_deep = strcmp(stored->way, "depth") == 0, is_deep = way.kind == MODEL_DEPTH;
    if (was_deep != is_deep)
        stored->evidence.delivered = is_deep ? stored->evidence.depth : stored->evidence.flat;
    struct verdict verdict = esra_verdict(&stored->evidence, &stored->wishes, thresholds);
    const char *method = esra_method_name(verdict.method), *light = lights[way.light];
    bool same = was_deep == is_deep && strcmp(light, stored->light) == 0 && strcmp(method, stored->method) == 0 &&
                verdict.warnings == stored->warnings;
    if (same && !all)
        return false;
    printf("%s: %s, %s, %s", path, stored->way, stored->light, stored->method);
    if (was_deep != is_deep)
        printf("; %s instead", is_deep ? "depth" : "homographies");
    if (strcmp(light, stored->light) != 0)
        printf("; in %s light", light);
    if (strcmp(method, stored->method) != 0)
        printf("; by %s", method);
    print_warnings('+', verdict.warnings & ~stored->warnings);
    print_warnings('-', stored->warnings & ~verdict.warnings);
    printf("\n");
    return !same;
}

static bool replay(const char *path, const struct pipeline_thresholds *thresholds, bool all, int *changed)
{
    struct stored stored = {0};
    json_error_t error;
    json_t *root = json_load_file(path, 0, &error);
    bool good = root && read_stored(root, &stored);
    if (good)
        *changed += compare(path, &stored, thresholds, all);
    else
        fprintf(stderr, "replay: %s: %s\n", path,
                root ? "not a result of esra separate that carries evidence" : error.text);
    esra_evidence_free(&stored.evidence);
    json_decref(root);
    return good;
}

/* name=value into the thresholds. */
static bool set(struct pipeline_thresholds *thresholds, char *assignment)
{
    const struct threshold_table *table = &esra_pipeline_thresholds;
    char *equals = strchr(assignment, '='), *end = NULL;
    double value = equals ? strtod(equals + 1, &end) : 0;
    if (equals)
        *equals = '\0';
    int row = equals && end > equals + 1 && *end == '\0' ? esra_threshold_find(table, assignment) : -1;
    if (row < 0 || !(value >= table->rows[row].lowest && value <= table->rows[row].highest)) {
        fprintf(stderr, "replay: -s takes NAME=VALUE of pipeline/thresholds.def, within its range\n");
        return false;
    }
    memcpy((double *)thresholds + row, &value, sizeof value);
    return true;
}

static void list(void)
{
    for (int n = 0; n < esra_pipeline_thresholds.count; n++) {
        const struct threshold_row *row = &esra_pipeline_thresholds.rows[n];
        printf("%-28s %-8g [%g, %g]  %s. Origin: %s\n", row->name, row->value, row->lowest, row->highest, row->decides,
               row->origin);
    }
}

int main(int argc, char **argv)
{
    struct pipeline_thresholds thresholds = pipeline_thresholds;
    int n = 1, changed = 0, read = 0;
    bool all = false, good = true;
    for (; n < argc && argv[n][0] == '-'; n++) {
        if (strcmp(argv[n], "-l") == 0)
            return list(), 0;
        if (strcmp(argv[n], "-a") == 0)
            all = true;
        else if (strcmp(argv[n], "-s") != 0 || ++n == argc || !set(&thresholds, argv[n]))
            return fprintf(stderr, "usage: replay [-l] [-a] [-s name=value]... RESULT...\n"), 64;
    }
    for (; n < argc; n++) {
        bool one = replay(argv[n], &thresholds, all, &changed);
        read += one;
        good = good && one;
    }
    printf("%d of %d would change\n", changed, read);
    return good ? 0 : 65;
}
