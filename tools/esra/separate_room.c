/* tools/esra/separate_room.c - room for the answer of esra separate and esra align, and the end of all that a run
 * holds. */
#include <stdlib.h>
#include <unistd.h>

#include "separate.h"

/* Reserves addresses only: the pages are first written when the layers are returned, after the library has freed most
 * of its own memory. */
static esra_status make_answer(struct job *job, struct photo *answer, const struct photo *like)
{
    answer->depth = like->depth;
    answer->format = like->format;
    return esra_image_reserve(&answer->pixels, job->scene.width, job->scene.height, job->scene.channels, &job->message);
}

/* What a photo reflects takes its place, in which the library works before. The reference is shown in the report, and
 * has room beside it. */
static esra_status make_reflected(struct job *job, int i)
{
    struct photo *photo = &job->scene.photos[i], *answer = &job->reflected[i];
    if (i == job->reference)
        return make_answer(job, answer, photo);
    answer->depth = photo->depth;
    answer->format = photo->format;
    answer->pixels = photo->pixels;
    photo->pixels.data = NULL;
    return ESRA_OK;
}

static esra_image view_of(const struct photo *photo)
{
    const struct image *image = &photo->pixels;
    return esra_image_planar(image->data, image->width, image->height, image->channels);
}

static bool make_evidence(struct job *job, size_t photos)
{
    size_t count, of_photo = 0;
    const esra_evidence_row *rows = esra_evidence_table(&count);
    for (size_t n = 0; n < count; n++)
        of_photo += rows[n].of_photo != 0;
    job->photo_evidence_rows = (int)of_photo;
    job->evidence = calloc(count - of_photo, sizeof *job->evidence);
    job->photo_evidence = calloc(photos * of_photo, sizeof *job->photo_evidence);
    return job->evidence && job->photo_evidence;
}

esra_status job_make_room(struct job *job)
{
    size_t m = (size_t)job->scene.paths.count;
    esra_separation *s = &job->separation;
    job->motion = calloc(2 * m, sizeof *job->motion);
    job->gains = calloc(2 * m, sizeof *job->gains);
    job->facts = calloc(m, sizeof *job->facts);
    if (!job->motion || !job->gains || !job->facts || !make_evidence(job, m))
        return esra_fail_memory(&job->message);
    *s = (esra_separation){.struct_size = sizeof *s};
    s->transmitted_motion = job->motion;
    s->reflected_motion = job->motion + m;
    s->mixing = job->gains;
    s->reflection_gain = job->gains + m;
    s->facts = job->facts;
    s->evidence = job->evidence;
    s->photo_evidence = job->photo_evidence;
    job->info = (esra_info)ESRA_INFO_INIT;
    s->info = &job->info;
    return ESRA_OK;
}

esra_status job_make_pictures(struct job *job)
{
    esra_status status;
    const struct photo *photos = job->scene.photos;
    job->reflected = calloc((size_t)job->scene.paths.count, sizeof *job->reflected);
    job->reflected_views = calloc((size_t)job->scene.paths.count, sizeof *job->reflected_views);
    if (!job->reflected || !job->reflected_views)
        return esra_fail_memory(&job->message);
    TRY(make_answer(job, &job->transmitted, &photos[job->reference]));
    for (int i = 0; i < job->scene.paths.count; i++) {
        TRY(make_reflected(job, i));
        job->reflected_views[i] = view_of(&job->reflected[i]);
    }
    job->confidence.depth = 8;
    TRY(esra_image_reserve(&job->confidence.pixels, job->scene.width, job->scene.height, 1, &job->message));
    job->separation.transmitted = view_of(&job->transmitted);
    job->separation.reflected = job->reflected_views;
    job->separation.confidence = view_of(&job->confidence);
done:
    return status;
}

void job_free(void *all, enum exit_code code)
{
    struct job *job = all;
    (void)code;
    for (int n = 0; n < job->output_count; n++) {
        const char *name = job->outputs[n].name;
        esra_output_discard(&job->outputs[n]);
        free((char *)name);
    }
    for (int n = 0; n < job->path_count; n++)
        free(job->paths[n]);
    if (job->folder_made)
        rmdir(job->options.output); /* fails, as it should, once there are files */
    for (int i = 0; job->reflected && i < job->scene.paths.count; i++)
        esra_image_free(&job->reflected[i].pixels);
    esra_image_free(&job->transmitted.pixels);
    esra_image_free(&job->confidence.pixels);
    esra_npy_free(&job->gradient_array);
    transforms_free(&job->transforms);
    scene_free(&job->scene);
    json_decref(job->result);
    free(job->outputs);
    free(job->paths);
    free(job->reflected);
    free(job->reflected_views);
    free(job->gradient_views);
    free(job->mixing_given);
    free(job->motion);
    free(job->gains);
    free(job->facts);
    free(job->evidence);
    free(job->photo_evidence);
}
