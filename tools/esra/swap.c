/* tools/esra/swap.c - esra swap: the layers of a finished separation called by each other's name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "signals.h"
#include "swap.h"
#include "text.h"

#define NAME "swap"

#define FIELD(name) offsetof(struct swap_options, name)

static const struct option options[] = {
    READING_OPTIONS(FIELD(reading)),
    {"quiet", 'q', OPTION_FLAG, NULL, FIELD(quiet), false, "say nothing but errors on standard error"},
};

/* What result.json calls the photos may be no name of a file here: they are to be given then. */
static esra_status ask_for_photos(struct swap *job)
{
    char reason[MESSAGE_SIZE];
    snprintf(reason, sizeof reason, "%s", job->message.text);
    return esra_fail(&job->message, ESRA_NO_INPUT, "%s; name the photos, in their order, after the folder", reason);
}

/* "-" was standard input, and '@' has a meaning on command lines alone. */
static esra_status check_names(struct swap *job)
{
    for (int i = 0; i < job->result.photos; i++)
        if (strcmp(job->result.names[i], "-") == 0 || job->result.names[i][0] == '@') {
            esra_fail(&job->message, ESRA_NO_INPUT, "photo %d was '%s'", i + 1, job->result.names[i]);
            return ask_for_photos(job);
        }
    return ESRA_OK;
}

static esra_status read_photos(struct swap *job, char **names, int count)
{
    const struct result *r = &job->result;
    struct scene_options scene = {.read = job->read, .stored = r->stored};
    esra_status status = ESRA_OK;
    scene.read.profile = !r->stored;
    scene.read.tolerate_truncated = r->incomplete;
    if (count == 0)
        TRY(check_names(job));
    status =
        scene_read(&job->scene, count ? names : (char **)r->names, count ? count : r->photos, &scene, &job->message);
    if (status == ESRA_NO_INPUT && count == 0)
        return ask_for_photos(job);
    TRY(status);
    if (job->scene.paths.count != r->photos || job->scene.width != r->width || job->scene.height != r->height)
        TRY(esra_fail(&job->message, ESRA_BAD_DATA, "%s was made of %d photos of %d x %d: these are others",
                      job->folder, r->photos, r->width, r->height));
done:
    return status;
}

static esra_status exchange(struct swap *job, const struct parsed *parsed)
{
    esra_status status;
    job->exchanged = result_exchange(&job->result);
    if (!job->exchanged)
        return esra_fail_memory(&job->message);
    TRY(read_photos(job, parsed->operands + 1, parsed->operand_count - 1));
    TRY(swap_read_pictures(job));
    swap_exchange(job);
    signals_begin();
    TRY(swap_keep(job));
    TRY(swap_write_pictures(job));
    TRY(swap_commit(job));
done:
    return status;
}

static esra_status go_back(struct swap *job)
{
    esra_status status;
    signals_begin();
    TRY(swap_restore(job));
    TRY(swap_commit(job));
    swap_forget_kept(job);
done:
    return status;
}

static void print_summary(const struct swap *job)
{
    if (job->options.quiet)
        return;
    print_plain(stderr, job->folder);
    if (job->back)
        fputs(": the layers are as they were found\n", stderr);
    else
        fputs(": the layers are exchanged; the same command undoes it\n", stderr);
}

static enum exit_code work(void *all, const struct parsed *parsed)
{
    struct swap *job = all;
    esra_status status;
    if (parsed->operand_count < 1)
        return complain(EXIT_USAGE, NAME, "which folder? See 'esra help " NAME "'");
    enum exit_code code = reading_take(&job->options.reading, NAME, &job->read);
    if (code != EXIT_DONE)
        return code;
    job->folder = parsed->operands[0];
    TRY(swap_find_way(job));
    TRY(job->back ? go_back(job) : exchange(job, parsed));
    print_summary(job);
    return EXIT_DONE;
done:
    if (signals_seen())
        return signals_complain(NAME, job->placed, job->message.text);
    return complain(exit_code_of(status), NAME, "%s%s", job->message.text,
                    job->placed > 0 ? "; the same command again finishes what was begun" : "");
}

static void job_free(void *all, enum exit_code code)
{
    struct swap *job = all;
    (void)code;
    swap_pictures_free(job);
    swap_files_free(job);
}

const struct command swap_command = {
    .name = NAME,
    .summary = "exchange the layers of a finished separation, without solving again",
    .operands = "FOLDER [PHOTO...]",
    .max_operands = 1 << 20,
    .description =
        "Where 'esra separate' took the reflection for the scene, its two layers are called by each other's name. This "
        "exchanges them in the folder that it wrote: transmitted becomes what the reference photo reflects, and each "
        "reflected-N what photo N shows besides. result.json then says \"exchanged\": true. The files as they were "
        "found wait in FOLDER/" KEPT_FOLDER "; the same command again puts them back, byte for byte.\n\n"
        "The photos are read again by the names that result.json has; name them where they are elsewhere now.",
    .example = "esra swap out",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .job_size = sizeof(struct swap),
    .work = work,
    .free = job_free,
};
