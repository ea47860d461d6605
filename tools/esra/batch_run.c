/* tools/esra/batch_run.c - the processes of esra batch: one a scene, so that none can harm another. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timer.h"
#include "batch.h"

#define NAME "batch"

/* Ends of children and signals are looked for at least this often. */
#define POLL_MS 100

/* What is asked to stop may take this long, then it is killed: outputs appear whole or not at all either way. */
#define PATIENCE_S 0.5

/* ---- A scene's process ---- */

static int count_words(const struct batch_scene *scene)
{
    return scene->word_count + 10;
}

/* The command line of 'esra separate': the batch's own wishes last, where they count. */
static int make_line(const struct batch *batch, const struct batch_scene *scene, char **line, char *output,
                     char *threads, char *memory)
{
    int count = 0;
    line[count++] = (char *)"separate";
    line[count++] = threads; /* a scene's own number comes after it */
    for (int n = 0; n < scene->word_count; n++)
        line[count++] = scene->words[n];
    line[count++] = output;
    line[count++] = (char *)"--quiet";
    line[count++] = (char *)"--progress=none";
    if (batch->most_bytes > 0)
        line[count++] = memory;
    if (batch->options.reading.untrusted)
        line[count++] = (char *)"--untrusted";
    if (batch->options.reading.no_limits)
        line[count++] = (char *)"--no-limits";
    line[count] = NULL;
    return count;
}

static enum exit_code separate_scene(const struct batch *batch, const struct batch_scene *scene)
{
    size_t size = strlen(batch->options.output) + strlen(scene->output) + 16;
    char threads[32], memory[64], *output = malloc(size);
    char **line = calloc((size_t)count_words(scene), sizeof *line);
    if (!output || !line)
        return complain(EXIT_LIMIT, NAME, "out of memory");
    snprintf(output, size, "--output=%s/%s", batch->options.output, scene->output);
    snprintf(threads, sizeof threads, "--threads=%d", batch->threads);
    snprintf(memory, sizeof memory, "--max-memory=%.0f", batch->most_bytes);
    int count = make_line(batch, scene, line, output, threads, memory);
    enum exit_code code = run_command(&separate_command, count, line);
    free(line);
    free(output);
    return code;
}

/* The child: nothing to read, nothing to print, errors to the pipe. The journal stays open, and so locked: its
 * scenes are at work for as long as this lives. */
static void live(const struct batch *batch, const struct batch_scene *scene, int words, pid_t parent)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || nowhere < 0 || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
        dup2(words, STDERR_FILENO) < 0)
        _exit(EXIT_LIMIT);
    for (int n = 0; n < batch->worker_count; n++)
        if (batch->workers[n].process)
            close(batch->workers[n].words);
    close(words);
    enum exit_code code = separate_scene(batch, scene);
    fflush(stderr);
    _exit(code);
}

static enum exit_code begin_scene(struct batch *batch, struct batch_worker *worker, const struct batch_scene *scene)
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
        live(batch, scene, ends[1], parent);
    }
    close(ends[1]);
    if (process < 0) {
        close(ends[0]);
        return complain(EXIT_LIMIT, NAME, "cannot begin a scene: %s", strerror(errno));
    }
    *worker = (struct batch_worker){process, ends[0], scene, esra_timer_now_s(), "", 0};
    batch->running++;
    return EXIT_DONE;
}

/* ---- Its end ---- */

/* Keeps the end of what it says; more than that is of no use in a line. */
static void hear(struct batch_worker *worker)
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
static const char *last_words(struct batch_worker *worker)
{
    static const char prefix[] = "esra separate: ";
    while (worker->size > 0 && worker->last[worker->size - 1] == '\n')
        worker->last[--worker->size] = '\0';
    const char *line = strrchr(worker->last, '\n');
    line = line ? line + 1 : worker->last;
    return strncmp(line, prefix, sizeof prefix - 1) == 0 ? line + sizeof prefix - 1 : line;
}

static void tell_progress(struct batch *batch, const struct batch_end *end, const struct batch_scene *scene)
{
    int over = batch->done + batch->failed + batch->before;
    if (batch->progress.style == PROGRESS_BAR) {
        fprintf(stderr, "\r%d of %d scenes, %d failed \033[K", over, batch->share_count, batch->failed);
        fflush(stderr);
        batch->progress.drawn = true;
    } else if (batch->progress.style == PROGRESS_JSON) {
        json_t *line = json_pack("{s:s, s:s, s:i, s:i, s:f, s:i, s:i, s:i}", "event", "scene", "output", scene->output,
                                 "line", scene->line, "exit", end->exit, "seconds", end->seconds, "over", over,
                                 "failed", batch->failed, "scenes", batch->share_count);
        if (line && json_dumpf(line, stderr, JSON_COMPACT) == 0)
            fputc('\n', stderr);
        json_decref(line);
    }
}

static enum exit_code end_scene(struct batch *batch, struct batch_worker *worker, int state)
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
    batch->running--;
    bool done = batch_is_done(end.exit);
    batch->done += done;
    batch->failed += !done;
    if (!done) {
        progress_end(&batch->progress);
        complain(EXIT_DONE, NAME, "%s, line %d: %s: %s", batch->jobs.name, scene->line, scene->output, end.message);
    }
    esra_status status = batch_journal_add(&batch->journal, scene, &end, &batch->message);
    tell_progress(batch, &end, scene);
    return status == ESRA_OK ? EXIT_DONE : complain(exit_code_of(status), NAME, "%s", batch->message.text);
}

/* ---- All scenes ---- */

/* What others have done is not done again: where a scene is left, their journals are asked once more. */
static esra_status ask(struct batch *batch, struct batch_scene *scene, struct batch_told *told)
{
    esra_status status;
    TRY(batch_history_find(&batch->history, scene, told, &batch->message));
    if (told->state == BATCH_DONE)
        return ESRA_OK;
    TRY(batch_history_read(&batch->history, &batch->message));
    TRY(batch_history_find(&batch->history, scene, told, &batch->message));
done:
    return status;
}

/* The next scene that is not done, if there is one. What another seems to be at work on is put off, once, to the end:
 * by then it is done, or its writer was killed. */
static enum exit_code fill_worker(struct batch *batch, struct batch_worker *worker)
{
    int place = batch->next++;
    struct batch_scene *scene = &batch->jobs.scenes[batch->queue[place]];
    struct batch_told told;
    esra_status status = ask(batch, scene, &told);
    if (status == ESRA_OK && told.state == BATCH_BEGUN && place < batch->share_count) {
        batch->queue[batch->queued++] = batch->queue[place];
        return EXIT_DONE;
    }
    bool done = told.state == BATCH_DONE;
    if (status == ESRA_OK && !done)
        status = batch_journal_begin(&batch->journal, scene, &batch->history, &batch->message);
    if (status != ESRA_OK)
        return complain(exit_code_of(status), NAME, "%s", batch->message.text);
    batch->before += done;
    return done ? EXIT_DONE : begin_scene(batch, worker, scene);
}

static enum exit_code fill_workers(struct batch *batch)
{
    enum exit_code code = EXIT_DONE;
    for (int n = 0; n < batch->worker_count; n++)
        while (!batch->workers[n].process && batch->next < batch->queued && code == EXIT_DONE && !signals_seen())
            code = fill_worker(batch, &batch->workers[n]);
    return code;
}

static void wait_for_news(struct batch *batch)
{
    struct pollfd ready[BATCH_MOST_WORKERS];
    nfds_t count = 0;
    for (int n = 0; n < batch->worker_count; n++)
        if (batch->workers[n].process)
            ready[count++] = (struct pollfd){.fd = batch->workers[n].words, .events = POLLIN};
    if (poll(ready, count, POLL_MS) <= 0)
        return;
    count = 0;
    for (int n = 0; n < batch->worker_count; n++)
        if (batch->workers[n].process && ready[count++].revents & POLLIN)
            hear(&batch->workers[n]);
}

/* How a child ended whose end another has taken: nobody can tell, so its scene is not done. */
#define UNKNOWN_END (EXIT_IO << 8)

static bool has_ended(const struct batch_worker *worker, int *state)
{
    pid_t process = waitpid(worker->process, state, WNOHANG);
    bool gone = process < 0 && errno == ECHILD;
    if (gone)
        *state = UNKNOWN_END;
    return gone || process == worker->process;
}

static enum exit_code collect(struct batch *batch)
{
    enum exit_code code = EXIT_DONE;
    for (int n = 0; n < batch->worker_count && code == EXIT_DONE; n++) {
        int state;
        if (batch->workers[n].process && has_ended(&batch->workers[n], &state))
            code = end_scene(batch, &batch->workers[n], state);
    }
    return code;
}

static void signal_all(struct batch *batch, int number)
{
    for (int n = 0; n < batch->worker_count; n++)
        if (batch->workers[n].process)
            kill(batch->workers[n].process, number);
}

/* A scene that is stopped is not in the journal: it starts over next time. */
static void stop_all(struct batch *batch)
{
    double patience_s = esra_timer_now_s() + PATIENCE_S;
    signal_all(batch, SIGTERM);
    while (batch->running > 0) {
        if (esra_timer_now_s() > patience_s)
            signal_all(batch, SIGKILL);
        for (int n = 0; n < batch->worker_count; n++) {
            struct batch_worker *worker = &batch->workers[n];
            int state;
            if (!worker->process || !has_ended(worker, &state))
                continue;
            close(worker->words);
            worker->process = 0;
            batch->running--;
        }
        poll(NULL, 0, 10);
    }
}

enum exit_code batch_run(struct batch *batch)
{
    enum exit_code code = fill_workers(batch);
    while (code == EXIT_DONE && batch->running > 0 && !signals_seen()) {
        wait_for_news(batch);
        if (!signals_seen()) /* else children may have got it too, and ended of it */
            code = collect(batch);
        if (code == EXIT_DONE && !signals_seen())
            code = fill_workers(batch);
    }
    stop_all(batch);
    progress_end(&batch->progress);
    return code;
}
