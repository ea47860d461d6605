/* bindings/wasm/src/separate.c - a separation: open the photos, separate them; or carry a finished one over into a
 * fresh module, so that the memory of the first can be given back. */
#include <stdlib.h>
#include <string.h>

#include "module.h"

/* All as esra_info has it; JavaScript says whether to stop. */
EM_JS(int, module_tell, (const char *stage, double seconds, double remaining, int iterations, double gap), {
    return Module["onProgress"] ? Module["onProgress"](UTF8ToString(stage), seconds, remaining, iterations, gap) | 0
                                : 0;
})

static int follow(void *user, const esra_info *so_far)
{
    return job_follow(user, so_far) ||
           module_tell(so_far->stage, so_far->seconds, so_far->remaining_seconds, so_far->iterations, so_far->gap);
}

static esra_status open_job(struct job *job, const char *paths, const char *options)
{
    struct parsed parsed = {0};
    json_error_t error;
    json_t *list = NULL;
    esra_status status;
    TRY(json_read(&list, paths, strlen(paths), &error, &job->message));
    parsed.operand_count = (int)json_array_size(list);
    parsed.operands = calloc((size_t)parsed.operand_count + 1, sizeof *parsed.operands);
    if (!parsed.operands)
        TRY(esra_fail_memory(&job->message));
    for (int n = 0; n < parsed.operand_count; n++)
        parsed.operands[n] = (char *)json_string_value(json_array_get(list, (size_t)n));
    TRY(options_take(job, options));
    job_take_words(job);
    job->read.offers_tolerance = false; /* there is no such option here */
    TRY(job_read_inputs(job, &parsed));
    TRY(job_make_room(job));
    TRY(job_make_pictures(job));
done:
    free(parsed.operands);
    json_decref(list);
    return status;
}

void module_close(void)
{
    free(module_job.options.reference);
    job_free(&module_job, EXIT_DONE);
    module_job = (struct job){0};
}

const char *module_open(const char *paths, const char *options)
{
    struct job *job = &module_job;
    module_close();
    job->name = "separate";
    esra_settings_for_separation(&job->settings);
    esra_photos_default(&job->photos);
    esra_status status = open_job(job, paths, options);
    const struct scene *scene = &job->scene;
    return answer(status,
                  json_pack("{s:i, s:i, s:i, s:i, s:i}", "photos", scene->paths.count, "width", scene->width, "height",
                            scene->height, "channels", scene->channels, "reference", job->reference + 1),
                  &job->message);
}

const char *module_separate(void)
{
    struct job *job = &module_job;
    esra_solver *solver;
    esra_status status = esra_solver_create(&solver);
    if (status == ESRA_OK) {
        esra_solver_set_progress(solver, follow, job);
        status = esra_solver_separate(solver, &job->photos, &job->settings, &job->separation);
    }
    strncpy(job->message.text, esra_solver_message(solver), sizeof job->message.text - 1);
    esra_solver_free(&solver);
    return answer(status, json_object(), &job->message);
}

/* ---- Carrying over ---- */

/* What a finished job holds, in pieces that are the same in every module of one build: pointers apart. */
enum {
    PIECE_SEPARATION,
    PIECE_INFO,
    PIECE_MOTION,
    PIECE_GAINS,
    PIECE_FACTS,
    PIECE_EVIDENCE,
    PIECE_PHOTO_EVIDENCE,
    PIECE_POINTS,
    PIECE_POINT_COUNT,
    PIECE_TRANSMITTED,
    PIECE_CONFIDENCE,
    PIECE_REFLECTED
};

static struct bytes picture_piece(const struct photo *photo)
{
    const struct image *p = &photo->pixels;
    return (struct bytes){(unsigned char *)p->data,
                          (size_t)p->width * (size_t)p->height * (size_t)p->channels * sizeof(float)};
}

static struct bytes piece(struct job *job, int number)
{
    size_t m = (size_t)job->scene.paths.count, evidence;
    esra_evidence_table(&evidence);
#define PIECE(at, count) ((struct bytes){(unsigned char *)(at), (count) * sizeof *(at)})
    switch (number) {
    case PIECE_SEPARATION: return PIECE(&job->separation, 1);
    case PIECE_INFO: return PIECE(&job->info, 1);
    case PIECE_MOTION: return PIECE(job->motion, 2 * m);
    case PIECE_GAINS: return PIECE(job->gains, 2 * m);
    case PIECE_FACTS: return PIECE(job->facts, m);
    case PIECE_EVIDENCE: return PIECE(job->evidence, evidence - (size_t)job->photo_evidence_rows);
    case PIECE_PHOTO_EVIDENCE: return PIECE(job->photo_evidence, m * (size_t)job->photo_evidence_rows);
    case PIECE_POINTS: return PIECE(job->points, MOST_POINTS);
    case PIECE_POINT_COUNT: return PIECE(&job->point_count, 1);
    case PIECE_TRANSMITTED: return picture_piece(&job->transmitted);
    case PIECE_CONFIDENCE: return picture_piece(&job->confidence);
    default: return picture_piece(&job->reflected[number - PIECE_REFLECTED]);
    }
#undef PIECE
}

int module_pieces(void)
{
    return PIECE_REFLECTED + module_job.scene.paths.count;
}

void *module_piece(int number)
{
    return piece(&module_job, number).data;
}

size_t module_piece_size(int number)
{
    return piece(&module_job, number).size;
}

void module_carry(const esra_separation *from)
{
    esra_separation *to = &module_job.separation, own = *to;
    *to = *from;
    to->transmitted = own.transmitted;
    to->reflected = own.reflected;
    to->confidence = own.confidence;
    to->transmitted_motion = own.transmitted_motion;
    to->reflected_motion = own.reflected_motion;
    to->mixing = own.mixing;
    to->reflection_gain = own.reflection_gain;
    to->facts = own.facts;
    to->info = own.info;
    to->evidence = own.evidence;
    to->photo_evidence = own.photo_evidence;
    to->info->stage = "return";
}
