/* tools/esra/batch.c - esra batch: many scenes, and a journal to go on from. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "batch.h"
#include "io/paths.h"
#include "memory.h"
#include "options.h"

#define NAME "batch"

#define FIELD(name) offsetof(struct batch_options, name)

static const struct option options[] = {
    {"output", 'o', OPTION_FILE, "FOLDER", FIELD(output), true,
     "where the scenes' folders and the journals go; made if it is not there"},
    {"jobs", 'j', OPTION_TEXT, "N", FIELD(jobs), false,
     "how many scenes to work on at once; they share the processors (default 1)"},
    {"shard", 0, OPTION_TEXT, "K/N", FIELD(shard), false,
     "do the K-th of N shares of the scenes: of every N lines the K-th; N may be another next time (default in a Slurm "
     "array: the share of its task, by SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT; otherwise all)"},
    {"status", 0, OPTION_FLAG, NULL, FIELD(status), false,
     "do nothing, but tell what all shares have done and what is left"},
    {"json", 0, OPTION_FLAG, NULL, FIELD(json), false, "with --status: as JSON"},
    {"max-memory", 0, OPTION_TEXT, "SIZE", FIELD(max_memory), false,
     "refuse scenes that would take more than their share of this, such as 8G or 500M (default: no limit)"},
    READING_OPTIONS(FIELD(reading)),
    {"progress", 0, OPTION_TEXT, "auto|json|none", FIELD(progress), false,
     "how to tell progress on standard error: auto is a line on a terminal, json a line for each scene"},
    {"quiet", 'q', OPTION_FLAG, NULL, FIELD(quiet), false, "say nothing but errors on standard error"},
};

static enum exit_code take_words(struct batch *batch, const struct parsed *parsed)
{
    const struct batch_options *o = &batch->options;
    struct read_options unused;
    esra_settings settings;
    char *end;
    long count = o->jobs ? strtol(o->jobs, &end, 10) : 1;
    enum exit_code code = reading_take(&o->reading, NAME, &unused);
    if (code == EXIT_DONE)
        code = memory_take(o->max_memory, NAME, &batch->most_bytes);
    if (code != EXIT_DONE)
        return code;
    if (o->jobs && (end == o->jobs || *end || count < 1 || count > BATCH_MOST_WORKERS))
        return complain(EXIT_USAGE, NAME, "--jobs takes a number from 1 to %d, not '%s'", BATCH_MOST_WORKERS, o->jobs);
    if (o->status && o->shard)
        return complain(EXIT_USAGE, NAME, "--status is about all shares; leave --shard out");
    if (o->json && !o->status)
        return complain(EXIT_USAGE, NAME, "--json goes with --status");
    if (!o->status && (code = batch_share_take(&batch->share, o->shard)) != EXIT_DONE)
        return code;
    if (parsed->operand_count != 1)
        return complain(EXIT_USAGE, NAME, "one file of jobs is needed; see 'esra help " NAME "'");
    esra_settings_default(&settings);
    if (!progress_begin(&batch->progress, o->progress, o->quiet, &settings))
        return complain(EXIT_USAGE, NAME, "--progress takes one of auto|json|none, not '%s'", o->progress);
    batch->worker_count = (int)count;
    batch->most_bytes /= (double)count;
    batch->threads = esra_cpu_count() / (int)count > 1 ? esra_cpu_count() / (int)count : 1;
    return EXIT_DONE;
}

/* The scenes of this share, with room for each to be put off once. */
static esra_status make_queue(struct batch *batch)
{
    batch->queue = calloc(2 * (size_t)batch->jobs.count, sizeof *batch->queue);
    if (!batch->queue)
        return esra_fail_memory(&batch->message);
    for (int n = 0; n < batch->jobs.count; n++)
        if (batch_share_has(&batch->share, n))
            batch->queue[batch->queued++] = n;
    batch->share_count = batch->queued;
    return ESRA_OK;
}

static esra_status prepare(struct batch *batch, const char *jobs)
{
    const char *folder = batch->options.output;
    bool made;
    esra_status status;
    TRY(batch_jobs_read(&batch->jobs, jobs, &batch->message));
    TRY(make_queue(batch));
    batch->workers = calloc((size_t)batch->worker_count, sizeof *batch->workers);
    if (!batch->workers)
        return esra_fail_memory(&batch->message);
    signals_begin();
    TRY(esra_paths_make_folder(folder, &made, &batch->message));
    signals_end_at_once(NULL, 0, made ? folder : NULL);
    status = batch_check_files(&batch->jobs, folder, &batch->message);
    if (status != ESRA_OK && made)
        rmdir(folder);
    TRY(status);
    TRY(batch_journal_open(&batch->journal, folder, &batch->share, &batch->history, &batch->message));
done:
    return status;
}

/* Whoever starts a task of an array for something else must see that it does a share. */
static void tell_share(const struct batch *batch)
{
    const struct batch_share *share = &batch->share;
    if (share->environment && !batch->options.quiet)
        fprintf(stderr,
                "share %d/%d, of SLURM_ARRAY_TASK_ID and SLURM_ARRAY_TASK_COUNT; --shard 1/1 would do all scenes\n",
                share->part, share->of);
}

static enum exit_code finish(const struct batch *batch)
{
    char share[64] = "";
    if (batch->share.of > 0)
        snprintf(share, sizeof share, "share %d/%d: ", batch->share.part, batch->share.of);
    if (signals_exit() != EXIT_DONE)
        return complain(signals_exit(), NAME,
                        "%sinterrupted after %d of %d scenes; the same command goes on from there", share,
                        batch->done + batch->before, batch->share_count);
    if (!batch->options.quiet)
        fprintf(stderr, "%s%d of %d scenes are done (%d were before), %d failed\n", share, batch->done + batch->before,
                batch->share_count, batch->before, batch->failed);
    return batch->failed > 0 ? EXIT_SOME_FAILED : EXIT_DONE;
}

static enum exit_code tell_status(struct batch *batch, const char *jobs)
{
    esra_status status = batch_jobs_read(&batch->jobs, jobs, &batch->message);
    if (status == ESRA_OK)
        status = batch_history_begin(&batch->history, batch->options.output, &batch->message);
    if (status == ESRA_OK)
        status = batch_history_read(&batch->history, &batch->message);
    if (status != ESRA_OK)
        return complain(exit_code_of(status), NAME, "%s", batch->message.text);
    batch_history_complain(&batch->history);
    return batch_status(batch);
}

static enum exit_code work(void *all, const struct parsed *parsed)
{
    struct batch *batch = all;
    batch->journal.fd = -1;
    enum exit_code code = take_words(batch, parsed);
    if (code != EXIT_DONE)
        return code;
    if (batch->options.status)
        return tell_status(batch, parsed->operands[0]);
    tell_share(batch);
    esra_status status = prepare(batch, parsed->operands[0]);
    signals_begin();
    if (status != ESRA_OK)
        return complain(exit_code_of(status), NAME, "%s", batch->message.text);
    batch_history_complain(&batch->history);
    code = batch_run(batch);
    return code == EXIT_DONE ? finish(batch) : code;
}

static void job_free(void *all, enum exit_code code)
{
    struct batch *batch = all;
    (void)code;
    batch_journal_close(&batch->journal);
    batch_history_free(&batch->history);
    batch_jobs_free(&batch->jobs);
    free(batch->queue);
    free(batch->workers);
}

const struct command batch_command = {
    .name = NAME,
    .summary = "separate many scenes, and go on where it was stopped",
    .operands = "JOBS",
    .max_operands = 1,
    .description = "JOBS is a file with one JSON object a line: \"photos\", a list of names seen from the file's own "
                   "folder; \"output\", "
                   "the name of a folder in FOLDER; and, if wanted, \"options\" as 'esra separate' takes them, without "
                   "dashes. '-' is "
                   "standard input. All lines are checked before any work is done.\n\n"
                   "Each scene is separated by a process of its own: one that fails or crashes does not stop the "
                   "others. What is done is "
                   "written into FOLDER/" BATCH_JOURNAL
                   ", so that the same command goes on after an interruption, a kill or a power "
                   "failure: scenes that are done are not done again unless their line or their photos have changed; "
                   "those that failed, "
                   "or were begun and not finished, are done again.\n\n"
                   "Many machines can share one FOLDER: with --shard K/N each does its share, keeps a journal of its "
                   "own there, FOLDER/journal-KofN-HOST-PID.jsonl, and reads those of the others. No lock is needed. "
                   "Shares that were stopped are started again, as many as there are machines then: whatever any "
                   "journal says is done is not done again.\n\n"
                   "With --status nothing is done but to sum all journals: exit code 0 where all scenes are done, 12 "
                   "where the others failed, 13 where some are left or at work.",
    .example =
        "esra batch jobs.jsonl -o out --jobs 4\nesra batch jobs.jsonl -o out --shard 2/8\nesra batch jobs.jsonl -o "
        "out --status",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .job_size = sizeof(struct batch),
    .work = work,
    .free = job_free,
};
