/* tools/esra/compare.c - esra compare: how alike are two pictures, in the values they store. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "io/photo.h"
#include "json.h"
#include "options.h"
#include "reading.h"

#define NAME "compare"

struct compare_options {
    struct reading reading;
    bool fit, exposure, json;
};

#define FIELD(name) offsetof(struct compare_options, name)

static const struct option options[] = {
    {"fit", 0, OPTION_FLAG, NULL, FIELD(fit), false,
     "also after fitting gain and offset of each channel of IMAGE to TRUTH: photos are seldom exposed alike"},
    {"exposure", 0, OPTION_FLAG, NULL, FIELD(exposure), false,
     "also after one gain for all channels of IMAGE: unlike a fit it leaves a veil and a colour cast in"},
    {"json", 0, OPTION_FLAG, NULL, FIELD(json), false, "print all of them as JSON; an infinite PSNR is null"},
    READING_OPTIONS(FIELD(reading)),
};

struct job {
    struct compare_options options;
    struct message message;
    struct read_options read;
    struct photo photos[2]; /* the picture, the truth */
    esra_comparison comparison;
};

static esra_status read_pictures(struct job *job, char **names)
{
    const struct image *a = &job->photos[0].pixels, *b = &job->photos[1].pixels;
    esra_status status;
    for (int n = 0; n < 2; n++)
        TRY(esra_photo_read(&job->photos[n], names[n], &job->read, &job->message));
    if (a->width != b->width || a->height != b->height)
        return esra_fail(&job->message, ESRA_BAD_DATA,
                         "%s is %d x %d and %s is %d x %d: only pictures of one size can be "
                         "compared",
                         names[0], a->width, a->height, names[1], b->width, b->height);
done:
    return status;
}

static esra_status compare(struct job *job)
{
    esra_image views[2];
    for (int n = 0; n < 2; n++) {
        const struct image *i = &job->photos[n].pixels;
        views[n] = esra_image_planar(i->data, i->width, i->height, i->channels);
    }
    job->comparison = (esra_comparison)ESRA_COMPARISON_INIT;
    esra_status status = esra_compare(&views[0], &views[1], &job->comparison);
    return status == ESRA_OUT_OF_MEMORY ? esra_fail_memory(&job->message) : status;
}

static enum exit_code print_json(const esra_comparison *c)
{
    json_t *object = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "schema", "esra-compare-1", "psnr",
                               number_to_json(c->psnr), "ssim", number_to_json(c->ssim), "ncc", number_to_json(c->ncc),
                               "psnr_fit", number_to_json(c->psnr_fit), "ssim_fit", number_to_json(c->ssim_fit),
                               "psnr_exposure", number_to_json(c->psnr_exposure), "ssim_exposure",
                               number_to_json(c->ssim_exposure), "exposure", number_to_json(c->exposure));
    return print_object(object, JSON_INDENT(2), NAME, EXIT_DONE);
}

static enum exit_code print(const struct job *job)
{
    const esra_comparison *c = &job->comparison;
    if (job->options.json)
        return print_json(c);
    printf("psnr %.3f ssim %.4f ncc %.4f", c->psnr, c->ssim, c->ncc);
    if (job->options.fit)
        printf(" psnr_fit %.3f ssim_fit %.4f", c->psnr_fit, c->ssim_fit);
    if (job->options.exposure)
        printf(" psnr_exposure %.3f ssim_exposure %.4f exposure %.4f", c->psnr_exposure, c->ssim_exposure, c->exposure);
    putchar('\n');
    return finish_stdout(EXIT_DONE, NAME);
}

static enum exit_code work(void *all, const struct parsed *parsed)
{
    struct job *job = all;
    char **names = parsed->operands;
    esra_status status;
    if (parsed->operand_count != 2)
        return complain(EXIT_USAGE, NAME, "two pictures are needed, IMAGE and TRUTH; see 'esra help " NAME "'");
    if (strcmp(names[0], "-") == 0 && strcmp(names[1], "-") == 0)
        return complain(EXIT_USAGE, NAME, "only one picture can come from standard input");
    enum exit_code code = reading_take(&job->options.reading, NAME, &job->read);
    if (code != EXIT_DONE)
        return code;
    TRY(read_pictures(job, names));
    TRY(compare(job));
    return print(job);
done:
    return complain(exit_code_of(status), NAME, "%s", job->message.text);
}

static void job_free(void *all, enum exit_code code)
{
    struct job *job = all;
    (void)code;
    esra_photo_free(&job->photos[0]);
    esra_photo_free(&job->photos[1]);
}

const struct command compare_command = {
    .name = NAME,
    .summary = "measure how alike two pictures are: PSNR, SSIM, NCC",
    .operands = "IMAGE TRUTH",
    .max_operands = 2,
    .description = "Compares the values that the files store, in 0..1, without undoing any tone curve. PSNR is in "
                   "decibels (inf for "
                   "equal pictures), SSIM uses a Gaussian window of 1.5 px, NCC is taken over all channels. A grey "
                   "picture stands for "
                   "three equal channels. Gains and offsets are of the stored values, too, by least squares.",
    .example = "esra compare --fit out/transmitted.png scene/truth-transmitted-1.png",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .job_size = sizeof(struct job),
    .work = work,
    .free = job_free,
};
