/* tools/esra/separate_checks.c - checks of the output files of esra separate before any work: a layer that cannot be
 * written at the end would waste all of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "io/codec.h"
#include "separate.h"
#include "text.h"

/* `like`: the photo whose profile and EXIF the file gets; NULL: none. */
typedef esra_status file_action(struct job *job, const char *file, struct photo *like);

static esra_status for_picture(struct job *job, file_action *act, const char *stem, struct photo *like)
{
    char file[64];
    snprintf(file, sizeof file, "%s.%s", stem, job_picture_format(job));
    return act(job, file, like);
}

/* With the name of every file that will be written, until one fails. */
static esra_status for_all_files(struct job *job, file_action *act)
{
    struct photo *photos = job->scene.photos;
    char stem[32];
    esra_status status;
    TRY(act(job, "result.json", NULL));
    if (!job->options.no_report)
        TRY(act(job, "report.html", NULL));
    TRY(for_picture(job, act, "confidence", NULL));
    if (job->write_transmitted)
        TRY(for_picture(job, act, "transmitted", &photos[job->reference]));
    for (int i = 0; job->write_reflected && i < job->scene.paths.count; i++) {
        snprintf(stem, sizeof stem, "reflected-%d", i + 1);
        TRY(for_picture(job, act, stem, &photos[i]));
    }
done:
    return status;
}

/* The names above, whatever the format and the photos; some file systems take A for a. */
bool job_may_write(const char *file)
{
    static const char *const beginnings[] = {"result.json", "report.html", "confidence.", "transmitted.", "reflected-"};
    for (size_t n = 0; n < sizeof beginnings / sizeof beginnings[0]; n++)
        if (strncasecmp(file, beginnings[n], strlen(beginnings[n])) == 0)
            return true;
    return false;
}

/* Tries to begin the file, so that a name that cannot be written is found before the work. Not of a pipe: its reader
 * would see the end of the file. */
static esra_status try_file(const char *path, struct message *message)
{
    struct stat is;
    struct output probe;
    if (stat(path, &is) == 0 && S_ISFIFO(is.st_mode))
        return ESRA_OK;
    esra_status status = esra_output_open(&probe, path, message);
    esra_output_discard(&probe);
    return status;
}

/* JPEG may have no room for the EXIF block: it is then left out, and the layer is written without. */
static esra_status fit_metadata(struct job *job, const char *path, struct photo *like)
{
    struct write_options options = job_picture_options(job);
    struct photo bare = *like;
    esra_status status = esra_photo_check_fits(like, path, &options, &job->message);
    bare.exif = (struct bytes){0};
    if (status == ESRA_OK || esra_photo_check_fits(&bare, path, &options, &job->message) != ESRA_OK)
        return status;
    if (!job->options.quiet) {
        fputs("warning: ", stderr);
        print_plain(stderr, job->scene.paths.items[like - job->scene.photos]);
        fputs(" has more EXIF than a JPEG can hold: its layers are written without.\n", stderr);
    }
    esra_bytes_free(&like->exif);
    return ESRA_OK;
}

esra_status job_spare_inputs(struct job *job, const char *path)
{
    const char *const others[] = {job->options.transforms, job->options.gradients};
    esra_status status;
    TRY(esra_output_spare(path, (const char *const *)job->scene.paths.items, job->scene.paths.count, &job->message));
    TRY(esra_output_spare(path, others, 2, &job->message));
    for (int n = 0; n < job->operand_count; n++)
        if (job->operands[n][0] == '@')
            TRY(esra_output_spare(path, &(const char *){job->operands[n] + 1}, 1, &job->message));
done:
    return status;
}

/* Also keeps its path. */
static esra_status check_file(struct job *job, const char *file, struct photo *like)
{
    char *path = esra_paths_join(job->options.output, file);
    esra_status status;
    if (!path)
        return esra_fail_memory(&job->message);
    job->paths[job->path_count++] = path;
    TRY(job_spare_inputs(job, path));
    TRY(try_file(path, &job->message));
    if (like)
        TRY(fit_metadata(job, path, like));
done:
    return status;
}

static esra_status count_file(struct job *job, const char *file, struct photo *like)
{
    (void)file, (void)like;
    job->file_count++;
    return ESRA_OK;
}

esra_status job_prepare_outputs(struct job *job)
{
    esra_status status;
    TRY(for_all_files(job, count_file));
    TRY(esra_output_reserve(job->file_count, &job->message));
    job->outputs = calloc((size_t)job->file_count, sizeof *job->outputs);
    job->paths = calloc((size_t)job->file_count, sizeof *job->paths);
    if (!job->outputs || !job->paths)
        return esra_fail_memory(&job->message);
    TRY(esra_paths_make_folder(job->options.output, &job->folder_made, &job->message));
    TRY(for_all_files(job, check_file));
    TRY(esra_output_apart(job->paths, job->path_count, &job->message));
done:
    return status;
}
