/* tools/esra/signals.c - SIGINT and SIGTERM: whoever sends one does not wait, and nothing is left half-way. */
#include "signals.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/timer.h"

#define NOTHING_WRITTEN "interrupted; nothing was written"
#define CLEAR_LINE      "\r\033[K"

/* A second signal after this long is meant to kill. */
#define INSIST_S .5

static const int signals[] = {SIGINT, SIGTERM};
#define SIGNALS (sizeof signals / sizeof signals[0])

/* Signal handlers can reach nothing else. What they read was set before they were. */
static volatile sig_atomic_t signal_seen, line_drawn, ended;
static double seen_s; /* on the timer; theirs alone */
static char last_words[80];
static const struct output *begun;
static int begun_count;
static const char *made_folder;

/* Whoever started us with a signal ignored (nohup, a shell's background) wants it to stay so. */
static void handle(void (*handler)(int))
{
    struct sigaction before, action = {.sa_handler = handler};
    sigemptyset(&action.sa_mask);
    for (size_t n = 0; n < SIGNALS; n++)
        sigaddset(&action.sa_mask, signals[n]);
    for (size_t n = 0; n < SIGNALS; n++)
        if (sigaction(signals[n], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[n], &action, NULL);
}

static enum exit_code exit_of(int number)
{
    return number == SIGINT ? EXIT_INTERRUPTED : number == SIGTERM ? EXIT_TERMINATED : EXIT_DONE;
}

/* Never blocks: a full pipe might never be read. */
static void say(const char *words)
{
    struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
    if (poll(&room, 1, 0) == 1)
        (void)!write(STDERR_FILENO, words, strlen(words));
}

/* May interrupt anything, malloc included: only async-signal-safe calls here. */
static void end(int number)
{
    if (ended)
        return; /* to a handler that is already ending the program */
    ended = 1;
    for (int n = 0; n < begun_count; n++)
        if (begun[n].temporary)
            unlink(begun[n].temporary);
    if (made_folder)
        rmdir(made_folder); /* fails, as it should, where others have put files there */
    if (line_drawn)
        say(CLEAR_LINE);
    say(last_words);
    _exit(exit_of(number));
}

static void note(int number)
{
    int reason = errno;                /* of the interrupted code */
    double now_s = esra_timer_now_s(); /* clock_gettime(), which a handler may call */
    if (!signal_seen) {
        signal_seen = number;
        seen_s = now_s;
    } else if (now_s - seen_s > INSIST_S) {
        signal(number, SIG_DFL);
        raise(number);
    }
    errno = reason;
}

static void end_if_seen(void)
{
    handle(end);
    if (signal_seen)
        end(signal_seen);
}

void signals_prepare(const char *command)
{
    snprintf(last_words, sizeof last_words, "esra %s: " NOTHING_WRITTEN "\n", command);
    line_drawn = 0;
    end_if_seen();
}

void signals_begin(void)
{
    handle(note);
    begun_count = 0;
    made_folder = NULL;
}

void signals_end_at_once(const struct output *outputs, int count, const char *folder)
{
    begun = outputs;
    begun_count = count;
    made_folder = folder;
    end_if_seen();
}

void signals_clear_line(bool drawn)
{
    line_drawn = drawn;
}

bool signals_seen(void)
{
    return signal_seen != 0;
}

enum exit_code signals_exit(void)
{
    return exit_of(signal_seen);
}

enum exit_code signals_complain(const char *command, int placed, const char *reason)
{
    if (placed == 0)
        return complain(signals_exit(), command, NOTHING_WRITTEN);
    return complain(signals_exit(), command, "interrupted, and %s; some files are new, the others as they were",
                    reason);
}
