/* tools/esra/batch.h - what the files of esra batch share: scenes to be separated, the journal of those that are, and
 * the processes at work. */
#ifndef ESRA_TOOL_BATCH_H
#define ESRA_TOOL_BATCH_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"
#include "progress.h"
#include "reading.h"
#include "signals.h"

/* A line of the jobs file, checked. */
struct batch_scene {
    int line;           /* from 1 */
    const char *output; /* the folder's name, in `job` */
    json_t *job;        /* the line itself */
    json_t *inputs;     /* size and time of change of each file it reads, as batch_journal_find() found them */
    char **words;       /* photos and options as 'esra separate' takes them, paths as seen from here */
    int word_count;
};

struct batch_jobs {
    const char *path; /* of the file, "-" for standard input */
    const char *name; /* of it, for messages */
    char *folder;     /* that paths in it start from */
    struct batch_scene *scenes;
    int count;
    json_t *outputs; /* by name: the line that it is of */
};

/* Reads all lines; a message names the line that is wrong. "-" is standard input. */
esra_status batch_jobs_read(struct batch_jobs *jobs, const char *path, struct message *message);

void batch_jobs_free(struct batch_jobs *jobs);

/* The file that word number n of a scene names: a photo, or the value of an option. */
const char *batch_input(const struct batch_scene *scene, int n);

/* Fails where a line or the journal would write over the jobs file, or what another line reads or writes; the folder of
 * all outputs must be there. */
esra_status batch_check_files(const struct batch_jobs *jobs, const char *folder, struct message *message);

/* The file that tells which scenes are done: a line of JSON for each that has ended, on disk before the next is begun.
 * A line without "exit" takes back what an earlier one of that output says. */
struct batch_journal {
    int fd; /* locked as long as this process or a child of it lives */
    char *path;
    json_t *lines; /* by output: the last line of each */
};

#define BATCH_JOURNAL "journal.jsonl"

/* Opens or makes folder/journal.jsonl. An incomplete last line, left by a kill, is ignored. */
esra_status batch_journal_open(struct batch_journal *journal, const char *folder, struct message *message);

/* Whether this very line was done with the inputs unchanged since, and its result still exists. To be asked before the
 * scene begins. */
esra_status batch_journal_find(const struct batch_journal *journal, const char *folder, struct batch_scene *scene,
                               bool *done, struct message *message);

struct batch_end {
    int exit;
    double seconds;
    const char *message; /* "" where there is nothing to say */
};

/* To be called before a scene replaces an earlier result: marks that line as not done, on disk. */
esra_status batch_journal_begin(struct batch_journal *journal, const struct batch_scene *scene,
                                struct message *message);

/* Appends a line, and waits until it is on disk. */
esra_status batch_journal_add(struct batch_journal *journal, const struct batch_scene *scene,
                              const struct batch_end *end, struct message *message);

void batch_journal_close(struct batch_journal *journal);

/* The exit codes of a scene that need not be done again. */
bool batch_is_done(int exit);

#define BATCH_MOST_WORKERS 256

struct batch_options {
    struct reading reading;
    char *output, *jobs, *max_memory, *progress;
    bool quiet;
};

/* A process at work on a scene. */
struct batch_worker {
    pid_t process; /* 0: none */
    int words;     /* its standard error */
    const struct batch_scene *scene;
    double started_s;
    char last[1024]; /* what it said last */
    size_t size;
};

/* Everything that a batch holds; the options come first, as command.h has it. */
struct batch {
    struct batch_options options;
    struct message message;
    struct batch_jobs jobs;
    struct batch_journal journal;
    struct progress progress;
    struct batch_worker *workers;
    int worker_count, threads;
    double most_bytes; /* of one worker; 0: no limit */
    int next;          /* scene to be begun */
    int running, done, before, failed;
};

/* Works on all scenes that are not done, until they are or a signal comes; no process is left then. EXIT_DONE unless
 * the batch itself cannot go on: what became of the scenes is in `done` and `failed`. */
enum exit_code batch_run(struct batch *batch);

#endif
