/* tests/api/abi.c - what programs that were built with esra.h have in them: sizes of structs, places of fields, values
 * of constants, one a line. abi.sh compares them with those of the release before. */
#include <stdio.h>

#include <esra/esra.h>

#define SIZE(type)         printf("size %s %zu\n", #type, sizeof(type));
#define FIELD(type, field) printf("field %s.%s %zu\n", #type, #field, offsetof(type, field));
#define VALUE(value)       printf("value %s %d\n", #value, (int)(value));

static void print_plain_structs(void)
{
    SIZE(esra_image) FIELD(esra_image, data) FIELD(esra_image, width) FIELD(esra_image, height);
    FIELD(esra_image, channels) FIELD(esra_image, column_stride) FIELD(esra_image, row_stride);
    FIELD(esra_image, channel_stride);
    SIZE(esra_transform) FIELD(esra_transform, h);
    SIZE(esra_camera) FIELD(esra_camera, rotation) FIELD(esra_camera, translation);
    SIZE(esra_setting) FIELD(esra_setting, name) FIELD(esra_setting, type) FIELD(esra_setting, offset);
    FIELD(esra_setting, default_value) FIELD(esra_setting, lowest) FIELD(esra_setting, highest);
    FIELD(esra_setting, unit) FIELD(esra_setting, names) FIELD(esra_setting, help);
    SIZE(esra_warning_row) FIELD(esra_warning_row, bit) FIELD(esra_warning_row, id) FIELD(esra_warning_row, text);
    FIELD(esra_warning_row, advice);
    SIZE(esra_photo_facts) FIELD(esra_photo_facts, aligned) FIELD(esra_photo_facts, explained);
    FIELD(esra_photo_facts, explained_reflected) FIELD(esra_photo_facts, overlap) FIELD(esra_photo_facts, apart_px);
    SIZE(esra_evidence_row) FIELD(esra_evidence_row, name) FIELD(esra_evidence_row, meaning);
    FIELD(esra_evidence_row, of_photo);
}

/* These begin with their size, and may grow at their end. */
static void print_problem(void)
{
    SIZE(esra_problem) FIELD(esra_problem, photos) FIELD(esra_problem, mixing) FIELD(esra_problem, mixtures);
    FIELD(esra_problem, gradients) FIELD(esra_problem, weights) FIELD(esra_problem, start_layers);
    FIELD(esra_problem, start_duals);
    SIZE(esra_result) FIELD(esra_result, layers) FIELD(esra_result, duals);
    SIZE(esra_info) FIELD(esra_info, outcome) FIELD(esra_info, objective) FIELD(esra_info, bound);
    FIELD(esra_info, gap) FIELD(esra_info, iterations) FIELD(esra_info, inner_iterations) FIELD(esra_info, threads);
    FIELD(esra_info, seconds) FIELD(esra_info, stage) FIELD(esra_info, certificate_seconds);
    FIELD(esra_info, remaining_seconds);
    SIZE(esra_plan) FIELD(esra_plan, bytes) FIELD(esra_plan, stage) FIELD(esra_plan, core_seconds);
    SIZE(esra_comparison) FIELD(esra_comparison, psnr) FIELD(esra_comparison, ssim) FIELD(esra_comparison, ncc);
    FIELD(esra_comparison, psnr_fit) FIELD(esra_comparison, ssim_fit) FIELD(esra_comparison, psnr_exposure);
    FIELD(esra_comparison, ssim_exposure) FIELD(esra_comparison, exposure);
}

static void print_separation(void)
{
    SIZE(esra_separation) FIELD(esra_separation, transmitted) FIELD(esra_separation, reflected);
    FIELD(esra_separation, confidence) FIELD(esra_separation, transmitted_motion);
    FIELD(esra_separation, reflected_motion) FIELD(esra_separation, mixing) FIELD(esra_separation, reflection_gain);
    FIELD(esra_separation, facts) FIELD(esra_separation, info) FIELD(esra_separation, method);
    FIELD(esra_separation, warnings) FIELD(esra_separation, joint_objective) FIELD(esra_separation, joint_residual);
    FIELD(esra_separation, align_s) FIELD(esra_separation, joint_s) FIELD(esra_separation, solve_s);
    FIELD(esra_separation, total_s) FIELD(esra_separation, joint_trusted) FIELD(esra_separation, motion);
    FIELD(esra_separation, in_roots) FIELD(esra_separation, prediction_error) FIELD(esra_separation, prediction_base);
    FIELD(esra_separation, evidence) FIELD(esra_separation, photo_evidence) FIELD(esra_separation, scale);
    FIELD(esra_separation, exchange_probability);
    FIELD(esra_separation, taken_off);
    SIZE(esra_synth_result) FIELD(esra_synth_result, photos) FIELD(esra_synth_result, transmitted);
    FIELD(esra_synth_result, reflected) FIELD(esra_synth_result, transmitted_motion);
    FIELD(esra_synth_result, reflected_motion) FIELD(esra_synth_result, mixing);
    FIELD(esra_synth_result, reflection_gain) FIELD(esra_synth_result, cameras);
    FIELD(esra_synth_result, transmitted_inverse) FIELD(esra_synth_result, reflected_inverse);
    FIELD(esra_synth_result, focal_px) FIELD(esra_synth_result, message);
}

/* Rows of a table are fields; the type is part of what is agreed on. */
static void print_table(const char *type, const esra_setting *(*table)(size_t *))
{
    size_t count;
    const esra_setting *rows = table(&count);
    for (size_t n = 0; n < count; n++)
        printf("field %s.%s %zu type %d\n", type, rows[n].name, rows[n].offset, (int)rows[n].type);
}

static void print_tables(void)
{
    SIZE(esra_settings) print_table("esra_settings", esra_settings_table);
    SIZE(esra_photos) FIELD(esra_photos, photos) FIELD(esra_photos, images) FIELD(esra_photos, transmitted);
    FIELD(esra_photos, reflected) FIELD(esra_photos, mixing) FIELD(esra_photos, gradients);
    print_table("esra_photos", esra_photos_table);
    SIZE(esra_synth_settings) FIELD(esra_synth_settings, transmitted_depth);
    FIELD(esra_synth_settings, reflected_depth) FIELD(esra_synth_settings, progress) FIELD(esra_synth_settings, user);
    print_table("esra_synth_settings", esra_synth_table);
}

#define ROW(value, word)                          VALUE(value)
#define ESRA_WARNING(name, bit, id, text, advice) VALUE(ESRA_WARN_##name)

static void print_values(void)
{
    VALUE(ESRA_OK) VALUE(ESRA_BAD_ARGUMENT) VALUE(ESRA_BAD_DATA) VALUE(ESRA_OUT_OF_MEMORY) VALUE(ESRA_OVER_LIMIT);
    VALUE(ESRA_NO_INPUT) VALUE(ESRA_CANNOT_CREATE) VALUE(ESRA_IO_ERROR);
    VALUE(ESRA_ENGINE_PAPER) VALUE(ESRA_ENGINE_FAST);
    VALUE(ESRA_TYPE_REAL) VALUE(ESRA_TYPE_COUNT) VALUE(ESRA_TYPE_TOGGLE) VALUE(ESRA_TYPE_CHOICE);
    VALUE(ESRA_TYPE_ONE_OF) VALUE(ESRA_TYPE_SEED);
    VALUE(ESRA_OPTIMAL) VALUE(ESRA_INACCURATE) VALUE(ESRA_STOPPED);
    ESRA_MOTIONS(ROW) ESRA_LIGHTS(ROW) ESRA_EFFORTS(ROW) ESRA_METHODS(ROW);
#include <esra/warnings.def>
}

int main(void)
{
    if (sizeof(void *) != 8 || sizeof(long) != 8)
        return 77; /* the list is that of 64 bits */
    print_plain_structs();
    print_problem();
    print_separation();
    print_tables();
    print_values();
    return 0;
}
