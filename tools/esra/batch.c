/* tools/esra/batch.c - esra batch: many scenes, each separated by a process of its own, so that none can harm another. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/timer.h"
#include "batch.h"
#include "json.h"
#include "memory.h"
#include "options.h"
#include "progress.h"
#include "reading.h"

#define NAME "batch"
#define MOST_JOBS 256

/* Ends of children and signals are looked for at least this often. */
#define POLL_MS 100

/* What is asked to stop may take this long, then it is killed: outputs appear whole or not at all either way. */
#define PATIENCE_S 0.5

struct batch_options {
    struct reading reading;
    char *output, *jobs, *max_memory, *progress;
    bool quiet;
};

#define FIELD(name) offsetof(struct batch_options, name)

static const struct option options[] = {
    {"output", 'o', OPTION_FILE, "FOLDER", FIELD(output), true,
     "where the scenes' folders and the journal go; made if it is not there"},
    {"jobs", 'j', OPTION_TEXT, "N", FIELD(jobs), false,
     "how many scenes to work on at once; they share the processors (default 1)"},
    {"max-memory", 0, OPTION_TEXT, "SIZE", FIELD(max_memory), false,
     "refuse scenes that would take more than their share of this, such as 8G or 500M (default: no limit)"},
    READING_OPTIONS(FIELD(reading)),
    {"progress", 0, OPTION_TEXT, "auto|json|none", FIELD(progress), false,
     "how to tell progress on standard error: auto is a line on a terminal, json a line for each scene"},
    {"quiet", 'q', OPTION_FLAG, NULL, FIELD(quiet), false, "say nothing but errors on standard error"},
};

/* A process at work on a scene. */
struct worker {
    pid_t process; /* 0: none */
    int words;     /* its standard error */
    const struct batch_scene *scene;
    double started_s;
    char last[1024]; /* what it said last */
    size_t size;
};

struct job {
    struct batch_options options;
    struct message message;
    struct batch_jobs jobs;
    struct batch_journal journal;
    struct progress progress;
    struct worker *workers;
    int worker_count, threads;
    double most_bytes; /* of one worker; 0: no limit */
    int next;          /* scene to be begun */
    int running, done, before, failed;
};

/* ---- A scene's process ---- */

static int count_words(const struct batch_scene *scene)
{
    return scene->word_count + 10;
}

/* The command line of 'esra separate': the batch's own wishes last, where they count. */
static int make_line(const struct job *job, const struct batch_scene *scene, char **line, char *output, char *threads,
                     char *memory)
{
    int count = 0;
    line[count++] = (char *)"separate";
    line[count++] = threads; /* a scene's own number comes after it */
    for (int n = 0; n < scene->word_count; n++)
        line[count++] = scene->words[n];
    line[count++] = output;
    line[count++] = (char *)"--quiet";
    line[count++] = (char *)"--progress=none";
    if (job->most_bytes > 0)
        line[count++] = memory;
    if (job->options.reading.untrusted)
        line[count++] = (char *)"--untrusted";
    if (job->options.reading.no_limits)
        line[count++] = (char *)"--no-limits";
    line[count] = NULL;
    return count;
}

static enum exit_code separate_scene(const struct job *job, const struct batch_scene *scene)
{
    size_t size = strlen(job->options.output) + strlen(scene->output) + 16;
    char threads[32], memory[64], *output = malloc(size);
    char **line = calloc((size_t)count_words(scene), sizeof *line);
    if (!output || !line)
        return complain(EXIT_LIMIT, NAME, "out of memory");
    snprintf(output, size, "--output=%s/%s", job->options.output, scene->output);
    snprintf(threads, sizeof threads, "--threads=%d", job->threads);
    snprintf(memory, sizeof memory, "--max-memory=%.0f", job->most_bytes);
    int count = make_line(job, scene, line, output, threads, memory);
    enum exit_code code = run_command(&separate_command, count, line);
    free(line);
    free(output);
    return code;
}

/* The child: nothing to read, nothing to print, errors to the pipe. The journal stays open, and so locked. */
static void live(const struct job *job, const struct batch_scene *scene, int words, pid_t parent)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signals_end();
    if (getppid() != parent || nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
        dup2(words, STDERR_FILENO) < 0)
        _exit(EXIT_LIMIT);
    for (int n = 0; n < job->worker_count; n++)
        if (job->workers[n].process)
            close(job->workers[n].words);
    close(words);
    enum exit_code code = separate_scene(job, scene);
    fflush(stderr);
    _exit(code);
}

static enum exit_code begin_scene(struct job *job, struct worker *worker, const struct batch_scene *scene)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe(ends))
        return complain(EXIT_LIMIT, NAME, "cannot begin a scene: %s", strerror(errno));
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fflush(stderr);
    pid_t process = fork();
    if (process == 0) {
        close(ends[0]);
        live(job, scene, ends[1], parent);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return complain(EXIT_LIMIT, NAME, "cannot begin a scene: %s", strerror(errno));
    }
    *worker = (struct worker){process, ends[0], scene, esra_timer_now_s(), "", 0};
    job->running++;
    return EXIT_DONE;
}

/* ---- Its end ---- */

/* Keeps the end of what it says; more than that is of no use in a line. */
static void hear(struct worker *worker)
{
    size_t room = sizeof worker->last - 1;
    if (worker->size == room) {
        memmove(worker->last, worker->last + room / 2, room - room / 2);
        worker->size = room - room / 2;
    }
    ssize_t got = read(worker->words, worker->last + worker->size, room - worker->size);
    if (got > 0)
        worker->size += (size_t)got;
    worker->last[worker->size] = '\0';
}

/* Its last line, without the name of the command. */
static const char *last_words(struct worker *worker)
{
    static const char prefix[] = "esra separate: ";
    while (worker->size > 0 && worker->last[worker->size - 1] == '\n')
        worker->last[--worker->size] = '\0';
    const char *line = strrchr(worker->last, '\n');
    line = line ? line + 1 : worker->last;
    return strncmp(line, prefix, sizeof prefix - 1) == 0 ? line + sizeof prefix - 1 : line;
}

static void tell_progress(struct job *job, const struct batch_end *end, const struct batch_scene *scene)
{
    int over = job->done + job->failed + job->before;
    if (job->progress.style == PROGRESS_BAR) {
        fprintf(stderr, "\r%d of %d scenes, %d failed \033[K", over, job->jobs.count, job->failed);
        fflush(stderr);
        job->progress.drawn = true;
    } else if (job->progress.style == PROGRESS_JSON) {
        json_t *line = json_pack("{s:s, s:s, s:i, s:i, s:f, s:i, s:i, s:i}", "event", "scene", "output", scene->output, "line",
                                 scene->line, "exit", end->exit, "seconds", end->seconds, "over", over, "failed", job->failed,
                                 "scenes", job->jobs.count);
        if (line && json_dumpf(line, stderr, JSON_COMPACT) == 0)
            fputc('\n', stderr);
        json_decref(line);
    }
}

static enum exit_code end_scene(struct job *job, struct worker *worker, int state)
{
    char died[64];
    const struct batch_scene *scene = worker->scene;
    for (size_t before = worker->size + 1; before != worker->size;) {
        before = worker->size;
        hear(worker);
    }
    struct batch_end end = {WEXITSTATUS(state), esra_timer_now_s() - worker->started_s, last_words(worker)};
    if (WIFSIGNALED(state)) {
        snprintf(died, sizeof died, "died of signal %d (%s)", WTERMSIG(state), strsignal(WTERMSIG(state)));
        end.exit = 128 + WTERMSIG(state);
        end.message = died;
    }
    close(worker->words);
    worker->process = 0;
    job->running--;
    bool done = batch_is_done(end.exit);
    job->done += done;
    job->failed += !done;
    if (!done) {
        progress_end(&job->progress);
        complain(EXIT_DONE, NAME, "%s, line %d: %s: %s", job->jobs.name, scene->line, scene->output, end.message);
    }
    esra_status status = batch_journal_add(&job->journal, scene, &end, &job->message);
    tell_progress(job, &end, scene);
    return status == ESRA_OK ? EXIT_DONE : complain(exit_code_of(status), NAME, "%s", job->message.text);
}

/* ---- All scenes ---- */

static enum exit_code fill_workers(struct job *job)
{
    enum exit_code code = EXIT_DONE;
    for (int n = 0; n < job->worker_count && code == EXIT_DONE; n++) {
        while (!job->workers[n].process && job->next < job->jobs.count && code == EXIT_DONE) {
            struct batch_scene *scene = &job->jobs.scenes[job->next++];
            if (batch_journal_has(&job->journal, job->options.output, scene))
                job->before++;
            else
                code = begin_scene(job, &job->workers[n], scene);
        }
    }
    return code;
}

static void wait_for_news(struct job *job)
{
    struct pollfd ready[MOST_JOBS];
    nfds_t count = 0;
    for (int n = 0; n < job->worker_count; n++)
        if (job->workers[n].process)
            ready[count++] = (struct pollfd){.fd = job->workers[n].words, .events = POLLIN};
    if (poll(ready, count, POLL_MS) <= 0)
        return;
    count = 0;
    for (int n = 0; n < job->worker_count; n++)
        if (job->workers[n].process && ready[count++].revents & POLLIN)
            hear(&job->workers[n]);
}

static enum exit_code collect(struct job *job)
{
    enum exit_code code = EXIT_DONE;
    for (int n = 0; n < job->worker_count && code == EXIT_DONE; n++) {
        int state;
        pid_t process = job->workers[n].process;
        if (process && waitpid(process, &state, WNOHANG) == process)
            code = end_scene(job, &job->workers[n], state);
    }
    return code;
}

static void signal_all(struct job *job, int number)
{
    for (int n = 0; n < job->worker_count; n++)
        if (job->workers[n].process)
            kill(job->workers[n].process, number);
}

/* A scene that is stopped is not in the journal: it starts over next time. */
static void stop_all(struct job *job)
{
    double patience_s = esra_timer_now_s() + PATIENCE_S;
    signal_all(job, SIGTERM);
    while (job->running > 0) {
        if (esra_timer_now_s() > patience_s)
            signal_all(job, SIGKILL);
        for (int n = 0; n < job->worker_count; n++) {
            struct worker *worker = &job->workers[n];
            if (!worker->process || waitpid(worker->process, NULL, WNOHANG) != worker->process)
                continue;
            close(worker->words);
            worker->process = 0;
            job->running--;
        }
        poll(NULL, 0, 10);
    }
}

static enum exit_code run_all(struct job *job)
{
    enum exit_code code = fill_workers(job);
    while (code == EXIT_DONE && job->running > 0 && signals_exit() == EXIT_DONE) {
        wait_for_news(job);
        code = collect(job);
        if (code == EXIT_DONE && signals_exit() == EXIT_DONE)
            code = fill_workers(job);
    }
    stop_all(job);
    progress_end(&job->progress);
    return code;
}

/* ---- The command ---- */

static enum exit_code take_words(struct job *job, const struct parsed *parsed)
{
    const struct batch_options *o = &job->options;
    struct read_options unused;
    char *end;
    long count = o->jobs ? strtol(o->jobs, &end, 10) : 1;
    enum exit_code code = reading_take(&o->reading, NAME, &unused);
    if (code == EXIT_DONE)
        code = memory_take(o->max_memory, NAME, &job->most_bytes);
    if (code != EXIT_DONE)
        return code;
    if (o->jobs && (end == o->jobs || *end || count < 1 || count > MOST_JOBS))
        return complain(EXIT_USAGE, NAME, "--jobs takes a number from 1 to %d, not '%s'", MOST_JOBS, o->jobs);
    if (parsed->operand_count != 1)
        return complain(EXIT_USAGE, NAME, "one file of jobs is needed; see 'esra help " NAME "'");
    if (!progress_begin(&job->progress, o->progress, o->quiet, &parsed->settings))
        return complain(EXIT_USAGE, NAME, "--progress takes one of auto|json|none, not '%s'", o->progress);
    job->worker_count = (int)count;
    job->most_bytes /= (double)count;
    job->threads = esra_cpu_count() / (int)count > 1 ? esra_cpu_count() / (int)count : 1;
    return EXIT_DONE;
}

static esra_status prepare(struct job *job, const char *jobs)
{
    const char *folder = job->options.output;
    struct stat stat_;
    esra_status status;
    TRY(batch_jobs_read(&job->jobs, jobs, &job->message));
    job->workers = calloc((size_t)job->worker_count, sizeof *job->workers);
    if (!job->workers)
        return esra_fail_memory(&job->message);
    if (mkdir(folder, 0777) && errno != EEXIST)
        return esra_fail(&job->message, ESRA_CANNOT_CREATE, "cannot make the folder %s: %s", folder, strerror(errno));
    if (stat(folder, &stat_) || !S_ISDIR(stat_.st_mode))
        return esra_fail(&job->message, ESRA_CANNOT_CREATE, "cannot write into %s: it is not a folder", folder);
    TRY(batch_journal_open(&job->journal, folder, &job->message));
fail:
    return status;
}

static enum exit_code work(void *all, const struct parsed *parsed)
{
    struct job *job = all;
    job->journal.fd = -1;
    enum exit_code code = take_words(job, parsed);
    if (code != EXIT_DONE)
        return code;
    esra_status status = prepare(job, parsed->operands[0]);
    if (status != ESRA_OK)
        return complain(exit_code_of(status), NAME, "%s", job->message.text);
    signals_begin();
    code = run_all(job);
    if (code != EXIT_DONE)
        return code;
    if (signals_exit() != EXIT_DONE)
        return complain(signals_exit(), NAME, "interrupted after %d of %d scenes; the same command goes on from there",
                        job->done + job->before, job->jobs.count);
    if (!job->options.quiet)
        fprintf(stderr, "%d of %d scenes are done (%d were before), %d failed\n", job->done + job->before, job->jobs.count,
                job->before, job->failed);
    return job->failed > 0 ? EXIT_SOME_FAILED : EXIT_DONE;
}

static void job_free(void *all, enum exit_code code)
{
    struct job *job = all;
    (void)code;
    batch_journal_close(&job->journal);
    batch_jobs_free(&job->jobs);
    free(job->workers);
}

const struct command batch_command = {
    .name = NAME,
    .summary = "separate many scenes, and go on where it was stopped",
    .operands = "JOBS",
    .max_operands = 1,
    .description =
        "JOBS is a file with one JSON object a line: \"photos\", a list of names seen from the file's own folder; \"output\", "
        "the name of a folder in FOLDER; and, if wanted, \"options\" as 'esra separate' takes them, without dashes. '-' is "
        "standard input. All lines are checked before any work is done.\n\n"
        "Each scene is separated by a process of its own: one that fails or crashes does not stop the others. What is done is "
        "written into FOLDER/" BATCH_JOURNAL ", so that the same command goes on after an interruption, a kill or a power "
        "failure: scenes that are done are not done again unless their line or their photos have changed; those that failed "
        "are tried again.",
    .example = "esra batch jobs.jsonl -o out --jobs 4",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .job_size = sizeof(struct job),
    .work = work,
    .free = job_free,
};
