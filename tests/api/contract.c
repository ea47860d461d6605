/* tests/api/contract.c - what esra.h promises about mistakes, structs of other versions, and messages. */
#include <limits.h>

#include "random_problem.h"

/* Runs r with settings (NULL: defaults) and expects a failure whose message holds `part`. */
static void expect_failure(const struct random_problem *r, const esra_settings *settings, esra_status expected,
                           const char *part)
{
    esra_solver *solver;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    esra_status status = esra_solver_run(solver, &r->problem, settings, &r->result, NULL);
    if (!CHECK(status == expected) || !CHECK(strstr(esra_solver_message(solver), part) != NULL))
        printf("    status %s, message '%s'\n", esra_status_name(status), esra_solver_message(solver));
    CHECK(strchr(esra_solver_message(solver), '\n') == NULL);
    esra_solver_free(&solver);
    CHECK(solver == NULL);
}

static void settings_out_of_range_are_named(void)
{
    struct random_problem r;
    size_t count;
    const esra_setting *table = esra_settings_table(&count);
    random_problem_make(&r, 1, 3, 3, 1);
    for (size_t n = 0; n < count; n++) {
        esra_settings settings;
        esra_settings_default(&settings);
        char *field = (char *)&settings + table[n].offset;
        double real = table[n].lowest - 1;
        int whole = (int)real;
        if (table[n].type == ESRA_TYPE_REAL)
            memcpy(field, &real, sizeof real);
        else
            memcpy(field, &whole, sizeof whole);
        expect_failure(&r, &settings, ESRA_BAD_ARGUMENT, table[n].name);
    }
    esra_settings settings;
    esra_settings_default(&settings);
    settings.lambda = NAN;
    expect_failure(&r, &settings, ESRA_BAD_ARGUMENT, "lambda is nan");
    random_problem_free(&r);
}

static void bad_samples_are_found(void)
{
    struct random_problem r;
    random_problem_make(&r, 2, 4, 3, 2);
    r.problem.weights = r.weights;
    float *const places[] = {r.mixtures[1].data, r.gradients[2].data, r.weights[0].data};
    const char *const names[] = {"mixture 2", "vertical gradient of layer 1", "weight map 1"};
    const float values[] = {NAN, INFINITY, -INFINITY, 2e6f};
    for (int place = 0; place < 3; place++)
        for (int v = 0; v < 4; v++) {
            float before = *places[place];
            *places[place] = values[v];
            expect_failure(&r, NULL, ESRA_BAD_DATA, names[place]);
            *places[place] = before;
        }
    r.weights[0].data[0] = -0.5f;
    expect_failure(&r, NULL, ESRA_BAD_DATA, "must lie in [0, 1]");
    random_problem_free(&r);
}

/* The last row of a vertical gradient and the last column of a horizontal one are never looked at. */
static void ignored_gradients_may_hold_anything(void)
{
    struct random_problem r;
    esra_solver *solver;
    random_problem_make(&r, 1, 4, 3, 1);
    for (int n = 0; n < 4; n++)
        for (int k = 0; k < 12; k++)
            if (n % 2 ? k % 4 == 3 : k / 4 == 2)
                r.gradients[n].data[k] = NAN;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_run(solver, &r.problem, NULL, &r.result, NULL) == ESRA_OK);
    CHECK_TEXT(esra_solver_message(solver), "");
    for (int k = 0; k < 12; k++)
        CHECK(isfinite(r.layers[0].data[k]));
    esra_solver_free(&solver);
    random_problem_free(&r);
}

static void shapes_must_agree(void)
{
    struct random_problem r;
    random_problem_make(&r, 2, 4, 3, 1);
    r.mixtures[1].width = 5;
    expect_failure(&r, NULL, ESRA_BAD_DATA, "mixture 2 is 5 x 3");
    r.mixtures[1].width = 4;
    r.gradients[5].height = 2;
    expect_failure(&r, NULL, ESRA_BAD_DATA, "horizontal gradient of layer 2");
    r.gradients[5].height = 3;
    r.layers[0].channels = 3;
    expect_failure(&r, NULL, ESRA_BAD_DATA, "result layer 0");
    r.layers[0].channels = 1;
    r.mixtures[0].data = NULL;
    expect_failure(&r, NULL, ESRA_BAD_ARGUMENT, "NULL");
    random_problem_free(&r);
}

static void sizes_that_overflow_are_refused(void)
{
    struct random_problem r;
    random_problem_make(&r, 1, 2, 2, 1);
    for (int n = 0; n < 4; n++)
        r.gradients[n].width = r.gradients[n].height = r.gradients[n].channels = 0x7fffffff;
    r.mixtures[0].width = r.mixtures[0].height = r.mixtures[0].channels = 0x7fffffff;
    expect_failure(&r, NULL, ESRA_OVER_LIMIT, "memory");
    r.mixtures[0].width = 0;
    expect_failure(&r, NULL, ESRA_BAD_DATA, "at least 1");
    random_problem_free(&r);
}

static void missing_parts_are_named(void)
{
    struct random_problem r;
    random_problem_make(&r, 1, 2, 2, 1);
    r.problem.photos = 0;
    expect_failure(&r, NULL, ESRA_BAD_DATA, "at least one photo");
    r.problem.photos = 1;
    r.problem.mixing = NULL;
    expect_failure(&r, NULL, ESRA_BAD_ARGUMENT, "mixing");
    r.problem.mixing = r.mixing;
    r.mixing[0] = -1;
    expect_failure(&r, NULL, ESRA_BAD_DATA, "mixing coefficient 1 is -1");
    r.mixing[0] = 0.5;
    r.result.layers = NULL;
    expect_failure(&r, NULL, ESRA_BAD_ARGUMENT, "layers");
    r.result.struct_size = 0;
    expect_failure(&r, NULL, ESRA_BAD_ARGUMENT, "ESRA_RESULT_INIT");
    random_problem_free(&r);
}

/* A program built against an older header knows fewer fields: nothing past them is read or written. */
static void shorter_structs_are_respected(void)
{
    struct random_problem r;
    esra_solver *solver;
    random_problem_make(&r, 1, 3, 3, 1);
    struct {
        size_t struct_size;
        int engine;
        unsigned char beyond[64];
    } old = {0};
    size_t size = offsetof(esra_settings, lambda);
    memset(old.beyond, 0xee, sizeof old.beyond);
    esra_settings_init((esra_settings *)(void *)&old, size);
    CHECK(old.struct_size == size && ((unsigned char *)&old)[size] == 0xee);

    struct {
        size_t struct_size;
        esra_outcome outcome;
        double objective;
        unsigned char beyond[64];
    } info = {.struct_size = offsetof(esra_info, bound)};
    memset(info.beyond, 0xee, sizeof info.beyond);
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_run(solver, &r.problem, (esra_settings *)(void *)&old, &r.result, (esra_info *)(void *)&info) ==
          ESRA_OK);
    CHECK(info.objective > 0 && info.beyond[0] == 0xee);
    esra_solver_free(&solver);
    random_problem_free(&r);
}

static void uninitialised_settings_are_refused(void)
{
    struct random_problem r;
    esra_settings settings;
    memset(&settings, 0, sizeof settings);
    random_problem_make(&r, 1, 3, 3, 1);
    expect_failure(&r, &settings, ESRA_BAD_ARGUMENT, "esra_settings_default");
    random_problem_free(&r);
}

static int count_words(const char *names)
{
    int count = 1;
    for (; *names; names++)
        count += *names == '|';
    return count;
}

static void check_rows(const esra_setting *table, size_t count, size_t struct_size)
{
    for (size_t n = 0; n < count; n++) {
        CHECK(table[n].lowest <= table[n].default_value && table[n].default_value <= table[n].highest);
        CHECK(table[n].offset < struct_size && strlen(table[n].help) > 10);
        CHECK((table[n].type == ESRA_TYPE_CHOICE || table[n].type == ESRA_TYPE_ONE_OF) == (table[n].names != NULL));
        CHECK(table[n].type != ESRA_TYPE_CHOICE || count_words(table[n].names) == table[n].highest + 1);
        CHECK(n == 0 || table[n].offset > table[n - 1].offset);
    }
}

static void the_table_describes_the_struct(void)
{
    size_t count;
    const esra_setting *table = esra_settings_table(&count);
    esra_settings settings;
    esra_settings_default(&settings);
    CHECK(count > 5 && settings.struct_size == sizeof settings && settings.lambda == 0.02);
    check_rows(table, count, sizeof settings);
}

/* ESRA_PHOTOS_INIT cannot be made of the table, and must say the same. */
static void the_table_of_photos_describes_them(void)
{
    size_t count;
    const esra_setting *table = esra_photos_table(&count);
    esra_photos photos, written = ESRA_PHOTOS_INIT;
    esra_photos_default(&photos);
    CHECK(count >= 4 && photos.struct_size == sizeof photos && !photos.images && !photos.gradients &&
          photos.photos == 0);
    check_rows(table, count, sizeof photos);
    for (size_t n = 0; n < count; n++)
        CHECK(memcmp((char *)&photos + table[n].offset, (char *)&written + table[n].offset, sizeof(int)) == 0);
    CHECK_TEXT(table[1].name, "motion");
    CHECK_TEXT(table[1].names, "homography|affine|translation|depth|auto");
    CHECK_TEXT(table[2].names, "auto|linear|stored");
}

static void the_table_of_scenes_describes_them(void)
{
    size_t count;
    const esra_setting *table = esra_synth_table(&count);
    esra_synth_settings settings;
    esra_synth_settings_default(&settings);
    CHECK(count >= 15 && settings.struct_size == sizeof settings && !settings.progress && !settings.transmitted_depth);
    CHECK(settings.photos == 5 && settings.seed == 1 && settings.noise == .006 && settings.bits == 8);
    check_rows(table, count, sizeof settings);
}

/* Those of a separation differ in lambda and gap alone, and are what it takes where it is given none. */
static void a_separation_has_settings_of_its_own(void)
{
    size_t count;
    const esra_setting *table = esra_settings_table(&count);
    esra_settings usual, separating;
    esra_settings_default(&usual);
    esra_settings_for_separation(&separating);
    CHECK(separating.struct_size == sizeof separating && separating.lambda == .003 && separating.gap == .01);
    for (size_t n = 0; n < count; n++) {
        size_t size = table[n].type == ESRA_TYPE_REAL ? sizeof(double) : sizeof(int);
        bool same = memcmp((char *)&usual + table[n].offset, (char *)&separating + table[n].offset, size) == 0;
        CHECK(same == (strcmp(table[n].name, "lambda") != 0 && strcmp(table[n].name, "gap") != 0));
    }
    unsigned char older[sizeof usual];
    size_t size = offsetof(esra_settings, gap);
    memset(older, 0xee, sizeof older);
    esra_settings_separation_init((esra_settings *)(void *)older, size);
    CHECK(memcmp(older + offsetof(esra_settings, lambda), &separating.lambda, sizeof(double)) == 0 &&
          older[size] == 0xee);
}

static void a_solver_can_be_used_again(void)
{
    struct random_problem small, large;
    esra_solver *solver;
    esra_info first = ESRA_INFO_INIT, info = ESRA_INFO_INIT;
    random_problem_make(&small, 1, 5, 4, 1);
    random_problem_make(&large, 3, 20, 30, 2);
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_run(solver, &small.problem, NULL, &small.result, &first) == ESRA_OK);
    CHECK(esra_solver_run(solver, &large.problem, NULL, &large.result, &info) == ESRA_OK);
    small.mixtures[0].data[0] = NAN;
    CHECK(esra_solver_run(solver, &small.problem, NULL, &small.result, &info) == ESRA_BAD_DATA);
    small.mixtures[0].data[0] = 0.5f;
    CHECK(esra_solver_run(solver, &small.problem, NULL, &small.result, &info) == ESRA_OK);
    CHECK_TEXT(esra_solver_message(solver), "");
    esra_solver_free(&solver);
    esra_solver_free(&solver);
    CHECK(strstr(esra_solver_message(NULL), "memory") != NULL);
    random_problem_free(&small);
    random_problem_free(&large);
}

static void names_are_words(void)
{
    char version[32];
    for (int s = ESRA_OK; s <= ESRA_IO_ERROR; s++)
        CHECK(strstr(esra_status_name((esra_status)s), "unknown") == NULL);
    for (int o = ESRA_OPTIMAL; o <= ESRA_STOPPED; o++)
        CHECK(strstr(esra_outcome_name((esra_outcome)o), "unknown") == NULL);
    for (int m = 0; m <= ESRA_MOTION_AUTO; m++)
        CHECK(strstr(esra_motion_name((esra_motion)m), "unknown") == NULL);
    for (int m = 0; m <= ESRA_METHOD_GIVEN; m++)
        CHECK(strstr(esra_method_name((esra_method)m), "unknown") == NULL);
    CHECK_TEXT(esra_motion_name(ESRA_MOTION_DEPTH), "depth");
    CHECK_TEXT(esra_method_name(ESRA_METHOD_JOINT), "joint");
    CHECK_TEXT(esra_motion_name((esra_motion)99), "unknown motion");
    CHECK_TEXT(esra_method_name((esra_method)99), "unknown method");
    CHECK_TEXT(esra_status_name((esra_status)99), "unknown status");
    snprintf(version, sizeof version, "%d.%d.%d", ESRA_VERSION_MAJOR, ESRA_VERSION_MINOR, ESRA_VERSION_PATCH);
    CHECK_TEXT(esra_version(), version);
}

/* Every bit once, with a word of its own and two whole sentences. */
static void every_warning_has_its_words(void)
{
    size_t count;
    unsigned seen = 0;
    const esra_warning_row *table = esra_warning_table(&count);
    for (size_t n = 0; n < count; n++) {
        const esra_warning_row *row = &table[n];
        CHECK(row->bit && (row->bit & (row->bit - 1)) == 0 && !(seen & row->bit));
        CHECK(row->id[strspn(row->id, "abcdefghijklmnopqrstuvwxyz-")] == '\0');
        CHECK(row->text[strlen(row->text) - 1] == '.' && row->advice[strlen(row->advice) - 1] == '.');
        for (size_t k = 0; k < n; k++)
            CHECK(strcmp(row->id, table[k].id) != 0);
        seen |= row->bit;
    }
    CHECK(seen == (1u << count) - 1 && seen & ESRA_WARN_LENS);
}

static void plans_grow_with_the_problem(void)
{
    esra_settings settings;
    esra_plan small = ESRA_PLAN_INIT, large = ESRA_PLAN_INIT;
    esra_settings_default(&settings);
    settings.threads = 2;
    for (settings.engine = 0; settings.engine <= 1; settings.engine++) {
        CHECK(esra_plan_run(2, 64, 48, 1, &settings, &small) == ESRA_OK && small.bytes > 64 * 48 * 4 * 6);
        CHECK(esra_plan_run(3, 64, 48, 3, &settings, &large) == ESRA_OK && large.bytes > small.bytes);
        CHECK(esra_plan_separate(2, 64, 48, 1, &settings, &small) == ESRA_OK && small.bytes > 0 && *small.stage);
        CHECK(esra_plan_separate(2, 640, 480, 1, NULL, &large) == ESRA_OK && large.bytes > 50 * small.bytes / 10);
        CHECK(large.core_seconds > 50 * small.core_seconds);
    }
}

/* Numbers that no machine can hold are told apart from those that make no sense; neither overflows. */
static void plans_of_the_impossible(void)
{
    esra_settings wrong;
    esra_plan plan = ESRA_PLAN_INIT;
    esra_settings_default(&wrong);
    wrong.threads = -1;
    CHECK(esra_plan_separate(2, 8, 8, 1, &wrong, &plan) == ESRA_BAD_ARGUMENT);
    CHECK(esra_plan_separate(1, 8, 8, 1, NULL, &plan) == ESRA_BAD_ARGUMENT);
    CHECK(esra_plan_separate(2, 8, 8, 2, NULL, &plan) == ESRA_BAD_ARGUMENT);
    CHECK(esra_plan_run(1, 0, 8, 1, NULL, &plan) == ESRA_BAD_ARGUMENT);
    CHECK(esra_plan_run(INT_MAX, INT_MAX, INT_MAX, INT_MAX, NULL, &plan) == ESRA_OVER_LIMIT);
    if (sizeof(size_t) > 4)
        CHECK(esra_plan_run(1 << 20, 1 << 24, 1 << 24, 1, NULL, &plan) == ESRA_OK && plan.bytes > 1e18);
    struct {
        esra_plan plan;
        char after;
    } older = {{.struct_size = offsetof(esra_plan, core_seconds), .core_seconds = 7}, 9};
    CHECK(esra_plan_run(1, 8, 8, 1, NULL, &older.plan) == ESRA_OK);
    CHECK(older.plan.bytes > 0 && older.plan.core_seconds == 7 && older.after == 9);
}

static void missing_objects_are_refused(void)
{
    esra_photos photos = ESRA_PHOTOS_INIT;
    esra_separation separation = ESRA_SEPARATION_INIT;
    CHECK(esra_solver_create(NULL) == ESRA_BAD_ARGUMENT);
    CHECK(esra_solver_run(NULL, NULL, NULL, NULL, NULL) == ESRA_BAD_ARGUMENT);
    CHECK(esra_solver_separate(NULL, &photos, NULL, &separation) == ESRA_BAD_ARGUMENT);
    CHECK(esra_solver_align(NULL, &photos, NULL, &separation) == ESRA_BAD_ARGUMENT);
    CHECK(esra_plan_run(1, 8, 8, 1, NULL, NULL) == ESRA_BAD_ARGUMENT);
    CHECK(esra_plan_separate(2, 8, 8, 1, NULL, NULL) == ESRA_BAD_ARGUMENT);
    esra_solver_free(NULL);
}

/* The same of photos and their separation, whose structs have grown. */
static void shorter_photos_are_respected(void)
{
    float samples[2][12 * 9];
    esra_image images[2];
    esra_solver *solver;
    for (int i = 0; i < 2; i++) {
        for (int n = 0; n < 12 * 9; n++)
            samples[i][n] = (float)check_random(0, 1);
        images[i] = esra_image_planar(samples[i], 12, 9, 1);
    }
    esra_photos photos = ESRA_PHOTOS_INIT;
    photos.struct_size = offsetof(esra_photos, swap);
    photos.photos = 2;
    photos.images = images;
    photos.motion = ESRA_MOTION_HOMOGRAPHY;
    memset(&photos.swap, 0xee, sizeof photos.swap);
    esra_separation separation = {.struct_size = offsetof(esra_separation, joint_trusted), .total_s = -1};
    memset(&separation.joint_trusted, 0xee, sizeof separation - separation.struct_size);
    struct {
        esra_info info;
        unsigned char beyond;
    } older = {{.struct_size = offsetof(esra_info, seconds), .objective = -1, .seconds = -1}, 0xee};
    separation.info = &older.info;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_separate(solver, &photos, NULL, &separation) == ESRA_OK);
    CHECK(separation.total_s >= 0 && separation.struct_size == offsetof(esra_separation, joint_trusted));
    for (const unsigned char *byte = (unsigned char *)&separation.joint_trusted;
         byte < (unsigned char *)(&separation + 1); byte++)
        CHECK(*byte == 0xee);
    CHECK(separation.info == &older.info && older.info.objective >= 0 && older.info.seconds == -1 &&
          older.beyond == 0xee);
    separation.struct_size = 0;
    CHECK(esra_solver_separate(solver, &photos, NULL, &separation) == ESRA_BAD_ARGUMENT);
    esra_solver_free(&solver);
}

/* What an image is too small for is not written. */
static void outputs_have_the_photos_size(void)
{
    float samples[4][12 * 9 * 3];
    esra_image images[2], reflected[2];
    esra_solver *solver;
    for (int i = 0; i < 2; i++) {
        check_fill(samples[i], 12 * 9 * 3, 0, 1);
        reflected[i] = images[i] = esra_image_planar(samples[i], 12, 9, 3);
    }
    esra_photos photos = ESRA_PHOTOS_INIT;
    photos.photos = 2;
    photos.images = images;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    for (int n = 0; n < 3; n++) {
        esra_separation out = ESRA_SEPARATION_INIT;
        esra_image short_one = esra_image_planar(samples[2], 12, 9 - (n == 0), n == 0 ? 3 : n == 1 ? 3 : 1);
        if (n == 0)
            out.transmitted = short_one;
        else if (n == 1)
            out.confidence = short_one;
        else
            out.reflected = reflected;
        reflected[1] = n == 2 ? short_one : images[1];
        CHECK(esra_solver_separate(solver, &photos, NULL, &out) == ESRA_BAD_DATA);
        CHECK(strstr(esra_solver_message(solver), "must be 12 x 9") != NULL);
    }
    esra_solver_free(&solver);
}

static void wishes_that_contradict_are_refused(void)
{
    float samples[2][12 * 9];
    esra_image images[2] = {esra_image_planar(samples[0], 12, 9, 1), esra_image_planar(samples[1], 12, 9, 1)};
    const esra_transform still[2] = {{{1, 0, 0, 0, 1, 0, 0, 0, 1}}, {{1, 0, 0, 0, 1, 0, 0, 0, 1}}};
    esra_solver *solver;
    check_fill(samples[0], 2 * 12 * 9, 0, 1);
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    for (int n = 0; n < 2; n++) {
        esra_photos photos = ESRA_PHOTOS_INIT;
        esra_separation out = ESRA_SEPARATION_INIT;
        photos.photos = 2;
        photos.images = images;
        photos.reflected = n ? NULL : still;
        photos.motion = n ? ESRA_MOTION_AUTO + 1 : ESRA_MOTION_AUTO;
        CHECK(esra_solver_separate(solver, &photos, NULL, &out) == ESRA_BAD_ARGUMENT);
        CHECK(strstr(esra_solver_message(solver), n ? "motion is 5: it must lie in [0, 4]" : "give the scene's too") !=
              NULL);
    }
    esra_solver_free(&solver);
}

/* Before any work, as everything that the solver would refuse. */
static void gradients_out_of_range_are_refused(void)
{
    float samples[8][12 * 9];
    esra_image images[8];
    esra_photos photos = ESRA_PHOTOS_INIT;
    esra_separation out = ESRA_SEPARATION_INIT;
    esra_solver *solver;
    check_fill(samples[0], 8 * 12 * 9, 0, .1);
    for (int n = 0; n < 8; n++)
        images[n] = esra_image_planar(samples[n], 12, 9, 1);
    samples[4][30] = 2e6f;
    photos.photos = 2;
    photos.images = images;
    photos.gradients = images + 2;
    CHECK(esra_solver_create(&solver) == ESRA_OK);
    CHECK(esra_solver_separate(solver, &photos, NULL, &out) == ESRA_BAD_DATA);
    CHECK(strcmp(esra_solver_message(solver), "the gradients of layer 1 hold 2e+06 at row 2, column 6") == 0);
    esra_solver_free(&solver);
}

int main(void)
{
    RUN(settings_out_of_range_are_named);
    RUN(bad_samples_are_found);
    RUN(ignored_gradients_may_hold_anything);
    RUN(shapes_must_agree);
    RUN(sizes_that_overflow_are_refused);
    RUN(missing_parts_are_named);
    RUN(missing_objects_are_refused);
    RUN(shorter_structs_are_respected);
    RUN(shorter_photos_are_respected);
    RUN(outputs_have_the_photos_size);
    RUN(wishes_that_contradict_are_refused);
    RUN(gradients_out_of_range_are_refused);
    RUN(uninitialised_settings_are_refused);
    RUN(the_table_describes_the_struct);
    RUN(the_table_of_photos_describes_them);
    RUN(the_table_of_scenes_describes_them);
    RUN(a_separation_has_settings_of_its_own);
    RUN(a_solver_can_be_used_again);
    RUN(names_are_words);
    RUN(every_warning_has_its_words);
    RUN(plans_grow_with_the_problem);
    RUN(plans_of_the_impossible);
    return check_report();
}
