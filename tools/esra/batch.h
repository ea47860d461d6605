/* tools/esra/batch.h - what the files of esra batch share: scenes to be separated, the journals of those that are, and
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
    json_t *inputs;     /* size and time of change of each file it reads, as batch_history_find() found them */
    json_t *before;     /* what was in the journals about it when it began */
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

/* Fails where a line or a journal would write over the jobs file, or what another line reads or writes; the folder of
 * all outputs must be there. */
esra_status batch_check_files(const struct batch_jobs *jobs, const char *folder, struct message *message);

/* The part of the scenes that is this process's to do: of every `of` lines the part-th, from 1. */
struct batch_share {
    int part, of;     /* of 0: all, and the only writer */
    bool environment; /* Slurm said so */
};

#define BATCH_MOST_SHARES 1000000

/* Of "K/N"; where that is NULL, of the task of a Slurm array that this process is. */
enum exit_code batch_share_take(struct batch_share *share, const char *text);

bool batch_share_has(const struct batch_share *share, int scene);

/* Journals tell which scenes are done: a line of JSON for each that begins and each that ends, on disk before anything
 * else happens. A batch that shares with nobody goes on with journal.jsonl; everybody else makes a file of his own,
 * journal-KofN-HOST-PID.jsonl, so that none has two writers. */
#define BATCH_JOURNAL "journal.jsonl"

bool batch_is_journal(const char *name);

/* The share that a journal's name tells, and where its HOST begins; NULL, and all scenes, where it tells none. */
const char *batch_journal_share(const char *name, struct batch_share *share);

/* This machine's name, as far as it may stand in the name of a file. */
#define BATCH_HOST_SIZE 65
void batch_host_name(char host[BATCH_HOST_SIZE]);

/* A journal of the folder as far as it is read. */
struct batch_source {
    char *name;
    int64_t read;  /* bytes, up to the end of a line */
    int lines;     /* whole ones */
    int damaged;   /* of these, such as are no JSON, and not for having been cut off */
    bool overlong; /* amid a line that is too long to be one of ours */
};

/* What all journals of a folder say. */
struct batch_history {
    const char *folder;
    const char *own; /* name of the journal that this process writes; NULL: none */
    struct batch_source *sources;
    int source_count;
    json_t *names; /* by name: the number of a source */
    json_t *lines; /* by output: a list of [source, number of the line, line] */
};

/* What they say of a scene. */
struct batch_told {
    enum { BATCH_LEFT, BATCH_DONE, BATCH_FAILED, BATCH_BEGUN } state;
    const json_t *line; /* that says so; NULL: none */
    int source;         /* of it */
};

/* The folder's name must stay valid. */
esra_status batch_history_begin(struct batch_history *history, const char *folder, struct message *message);

/* Reads on in every journal from where it was read to. */
esra_status batch_history_read(struct batch_history *history, struct message *message);

/* Done: this very line was, with the inputs unchanged since, and its result exists. Begun: somebody else is at work on
 * it, or was killed at it where that cannot be seen. To be asked before the scene begins. */
esra_status batch_history_find(const struct batch_history *history, struct batch_scene *scene, struct batch_told *told,
                               struct message *message);

/* For a line about the scene: what it comes after, the last line about it in every other journal, by the journal's
 * name. NULL where memory is short. */
json_t *batch_history_before(const struct batch_history *history, const struct batch_scene *scene);

/* Whether the writer of a journal lives: it holds a lock on it, which some network file systems hide from other
 * machines. Nothing but the order of work and what is said depends on it. */
enum batch_writer { WRITER_GONE, WRITER_PERHAPS, WRITER_AT_WORK };
enum batch_writer batch_history_writer(const struct batch_history *history, int source);

/* Says of which journals lines are damaged. */
void batch_history_complain(const struct batch_history *history);

void batch_history_free(struct batch_history *history);

/* The journal that this process writes. */
struct batch_journal {
    int fd; /* locked as long as this process or a child of it lives */
    char *path;
    bool written;
};

/* Opens or makes the journal of a share in the folder, and reads all there are. An incomplete last line, left by a
 * kill, is ignored. */
esra_status batch_journal_open(struct batch_journal *journal, const char *folder, const struct batch_share *share,
                               struct batch_history *history, struct message *message);

struct batch_end {
    int exit;
    double seconds;
    const char *message; /* "" where there is nothing to say */
};

/* To be called before a scene begins: what earlier lines say of its output is no longer so, on disk. */
esra_status batch_journal_begin(struct batch_journal *journal, struct batch_scene *scene,
                                const struct batch_history *history, struct message *message);

/* Appends a line, and waits until it is on disk. */
esra_status batch_journal_add(struct batch_journal *journal, const struct batch_scene *scene,
                              const struct batch_end *end, struct message *message);

/* Takes a share's journal away again where nothing was written. */
void batch_journal_close(struct batch_journal *journal);

/* The exit codes of a scene that need not be done again. */
bool batch_is_done(int exit);

#define BATCH_MOST_WORKERS 256

struct batch_options {
    struct reading reading;
    char *output, *jobs, *shard, *max_memory, *progress;
    bool status, json, quiet;
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
    struct batch_share share;
    struct batch_history history;
    struct batch_journal journal;
    struct progress progress;
    struct batch_worker *workers;
    int worker_count, threads;
    double most_bytes; /* of one worker; 0: no limit */
    int *queue;        /* numbers of scenes, those of this share and then such as were put off */
    int share_count, queued, next;
    int running, done, before, failed;
};

/* Works on all scenes that are not done, until they are or a signal comes; no process is left then. EXIT_DONE unless
 * the batch itself cannot go on: what became of the scenes is in `done` and `failed`. */
enum exit_code batch_run(struct batch *batch);

/* Sums what the journals say, for people or as JSON. */
enum exit_code batch_status(struct batch *batch);

#endif
