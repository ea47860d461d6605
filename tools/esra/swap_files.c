/* tools/esra/swap_files.c - the files of esra swap. The files as they were found are first copied to KEPT_FOLDER, then
 * replaced; on the way back they take their places again, byte for byte. In both result.json comes last: a copy of it
 * among the files kept says that all of them are there, and its "exchanged" which layers the folder holds. So whatever
 * moment a run is killed at, the next one knows what to do. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/paths.h"
#include "json.h"
#include "signals.h"
#include "swap.h"

static esra_status look_for(struct swap *job, const char *folder, const char *file, bool *there)
{
    struct stat is;
    char *path = esra_paths_join(folder, file);
    if (!path)
        return esra_fail_memory(&job->message);
    *there = stat(path, &is) == 0;
    free(path);
    return ESRA_OK;
}

static esra_status read_result(struct swap *job, struct result *result, const char *folder)
{
    char *path = esra_paths_join(folder, "result.json");
    if (!path)
        return esra_fail_memory(&job->message);
    esra_status status = result_read(result, path, &job->message);
    free(path);
    return status;
}

/* ---- Which way ---- */

/* The files kept may be of an earlier separation: they count where result.json is theirs, exchanged or not yet. */
static esra_status look_at_kept(struct swap *job)
{
    struct result kept;
    json_t *exchanged = NULL;
    esra_status status = read_result(job, &kept, job->kept);
    if (status == ESRA_OUT_OF_MEMORY || status == ESRA_IO_ERROR)
        return status;
    if (status != ESRA_OK)
        return ESRA_OK;
    if (!job->result.exchanged && json_equal(kept.object, job->result.object))
        job->from = job->kept; /* a run was broken off: some of the files may be exchanged already */
    if (job->result.exchanged) {
        exchanged = result_exchange(&kept);
        status = exchanged ? ESRA_OK : esra_fail_memory(&job->message);
        job->back = exchanged && json_equal(exchanged, job->result.object);
    }
    if (job->back)
        job->from = job->kept;
    json_decref(exchanged);
    result_free(&kept);
    return status;
}

static esra_status list_files(struct swap *job)
{
    const struct result *r = &job->result;
    esra_status status = look_for(job, job->from, "report.html", &job->report);
    job->files = calloc((size_t)r->photos + 3, sizeof *job->files);
    if (!job->files)
        return esra_fail_memory(&job->message);
    snprintf(job->files[job->file_count++], sizeof *job->files, "transmitted.%s", r->format);
    for (int i = 0; i < r->photos; i++)
        snprintf(job->files[job->file_count++], sizeof *job->files, "reflected-%d.%s", i + 1, r->format);
    if (job->report)
        snprintf(job->files[job->file_count++], sizeof *job->files, "report.html");
    snprintf(job->files[job->file_count++], sizeof *job->files, "result.json");
    return status;
}

esra_status swap_find_way(struct swap *job)
{
    bool kept = false;
    esra_status status;
    job->from = job->folder;
    job->kept = esra_paths_join(job->folder, KEPT_FOLDER);
    if (!job->kept)
        return esra_fail_memory(&job->message);
    TRY(read_result(job, &job->result, job->folder));
    TRY(look_for(job, job->kept, "result.json", &kept));
    if (kept)
        TRY(look_at_kept(job));
    TRY(list_files(job));
    job->outputs = calloc(2 * (size_t)job->file_count, sizeof *job->outputs);
    if (!job->outputs)
        return esra_fail_memory(&job->message);
    TRY(esra_output_reserve(2 * job->file_count, &job->message));
done:
    return status;
}

/* ---- Files ---- */

/* Begins folder/file; it is put in place with all the others at the end. The name lives as long as the job. */
esra_status swap_begin(struct swap *job, const char *folder, const char *file, struct output **output)
{
    char *path = esra_paths_join(folder, file);
    esra_status status;
    *output = &job->outputs[job->output_count];
    if (!path)
        return esra_fail_memory(&job->message);
    TRY(esra_output_spare(path, (const char *const *)job->scene.paths.items, job->scene.paths.count, &job->message));
    TRY(esra_output_open(*output, path, &job->message));
    (*output)->enough = signals_seen;
    job->output_count++;
    return ESRA_OK;
done:
    free(path);
    return status;
}

static esra_status copy_file(struct swap *job, const char *from, const char *to, const char *file)
{
    struct bytes bytes = {0};
    struct output *output;
    char *path = esra_paths_join(from, file);
    esra_status status;
    if (!path)
        return esra_fail_memory(&job->message);
    TRY(text_read(&bytes, path, INT64_MAX, "", &job->message));
    TRY(swap_begin(job, to, file, &output));
    TRY(esra_output_write(output, bytes.data, bytes.size, &job->message));
done:
    esra_bytes_free(&bytes);
    free(path);
    return status;
}

static esra_status copy_files(struct swap *job, const char *from, const char *to)
{
    esra_status status = ESRA_OK;
    for (int n = 0; n < job->file_count; n++)
        TRY(copy_file(job, from, to, job->files[n]));
done:
    return status;
}

/* Copies of all files, begun; none where they are kept already. */
esra_status swap_keep(struct swap *job)
{
    esra_status status = ESRA_OK;
    if (job->from == job->kept)
        return ESRA_OK;
    TRY(esra_paths_make_folder(job->kept, &job->kept_made, &job->message));
    TRY(copy_files(job, job->folder, job->kept));
done:
    return status;
}

esra_status swap_restore(struct swap *job)
{
    return copy_files(job, job->kept, job->folder);
}

esra_status swap_commit(struct swap *job)
{
    return esra_output_commit_all(job->outputs, job->output_count, &job->placed, &job->message);
}

void swap_forget_kept(struct swap *job)
{
    for (int n = job->file_count - 1; n >= 0; n--) {
        char *path = esra_paths_join(job->kept, job->files[n]);
        if (!path || (unlink(path) && errno != ENOENT)) {
            free(path);
            return; /* result.json, the first, or what is then of no meaning */
        }
        free(path);
    }
    rmdir(job->kept);
}

void swap_files_free(struct swap *job)
{
    for (int n = 0; n < job->output_count; n++) {
        const char *name = job->outputs[n].name;
        esra_output_discard(&job->outputs[n]);
        free((char *)name);
    }
    if (job->kept_made)
        rmdir(job->kept); /* fails, as it should, once there are files */
    free(job->outputs);
    free(job->files);
    free(job->kept);
    json_decref(job->exchanged);
    result_free(&job->result);
}
