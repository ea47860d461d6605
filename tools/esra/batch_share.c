/* tools/esra/batch_share.c - which scenes are this process's to do, where many share a batch. Shares are taken by line
 * in turn, so that each gets its part of what stands together, and any number of shares may follow any other. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "exit.h"

#define NAME "batch"

/* A number in decimal digits and what follows it; false where there is none, or it is out of range. */
static bool take_number(const char *text, int least, int most, int *number, const char **rest)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || errno || value < least || value > most)
        return false;
    *number = (int)value;
    *rest = end;
    return true;
}

static enum exit_code take_text(struct batch_share *share, const char *text)
{
    const char *rest = text;
    if (!take_number(text, 1, BATCH_MOST_SHARES, &share->part, &rest) || *rest++ != '/' ||
        !take_number(rest, 1, BATCH_MOST_SHARES, &share->of, &rest) || *rest || share->part > share->of)
        return complain(EXIT_USAGE, NAME, "--shard takes K/N, the K-th of N shares, such as 1/4, not '%s'", text);
    return EXIT_DONE;
}

/* What Slurm tells each task of an array; the steps are those between its numbers. */
enum { TASK_ID, TASK_COUNT, TASK_MIN, TASK_MAX, TASK_STEP, TASK_WORDS };
static const struct {
    const char *name, *otherwise;
} task_words[TASK_WORDS] = {{"SLURM_ARRAY_TASK_ID", NULL},
                            {"SLURM_ARRAY_TASK_COUNT", NULL},
                            {"SLURM_ARRAY_TASK_MIN", NULL},
                            {"SLURM_ARRAY_TASK_MAX", NULL},
                            {"SLURM_ARRAY_TASK_STEP", "1"}};

static enum exit_code take_task_words(int values[TASK_WORDS])
{
    for (int n = 0; n < TASK_WORDS; n++) {
        const char *text = getenv(task_words[n].name), *rest = "";
        text = text ? text : task_words[n].otherwise;
        if (!text || !take_number(text, 0, 1 << 30, &values[n], &rest) || *rest)
            return complain(EXIT_USAGE, NAME, "%s is %s%s%s; say which share this is with --shard", task_words[n].name,
                            text ? "'" : "not set", text ? text : "", text ? "'" : "");
    }
    return EXIT_DONE;
}

/* Numbers of tasks may begin anywhere, but with gaps between them nobody would do the shares that are missing. */
static enum exit_code take_task(struct batch_share *share)
{
    int task[TASK_WORDS];
    enum exit_code code = take_task_words(task);
    if (code != EXIT_DONE)
        return code;
    int step = task[TASK_STEP], past = task[TASK_ID] - task[TASK_MIN];
    if (step < 1 || task[TASK_COUNT] < 1 || task[TASK_COUNT] > BATCH_MOST_SHARES ||
        task[TASK_MAX] - task[TASK_MIN] != (int64_t)(task[TASK_COUNT] - 1) * step || past < 0 || past % step ||
        past / step >= task[TASK_COUNT])
        return complain(EXIT_USAGE, NAME,
                        "the tasks of this Slurm array are not numbered without gaps; say which share this is with "
                        "--shard");
    *share = (struct batch_share){past / step + 1, task[TASK_COUNT], true};
    return EXIT_DONE;
}

enum exit_code batch_share_take(struct batch_share *share, const char *text)
{
    *share = (struct batch_share){0};
    if (text)
        return take_text(share, text);
    return getenv(task_words[TASK_ID].name) ? take_task(share) : EXIT_DONE;
}

bool batch_share_has(const struct batch_share *share, int scene)
{
    return share->of == 0 || scene % share->of == share->part - 1;
}
