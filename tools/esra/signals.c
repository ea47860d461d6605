/* tools/esra/signals.c - SIGINT and SIGTERM: whoever sends one does not wait, and nothing is left half-way. */
#include "signals.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NOTHING_WRITTEN "interrupted; nothing was written"
#define CLEAR_LINE "\r\033[K"

static const int signals[] = {SIGINT, SIGTERM};
#define SIGNALS (sizeof signals / sizeof signals[0])

/* Signal handlers can reach nothing else. What they read was set before they were. */
static volatile sig_atomic_t signal_seen, line_drawn;
static char last_words[80];
static const struct output *begun;
static int begun_count;
static const char *made_folder;

static struct sigaction before[SIGNALS];

/* Whoever started us with a signal ignored (nohup, a shell's background) wants it to stay so. */
static void handle(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    for (size_t n = 0; n < SIGNALS; n++) {
        sigaction(signals[n], NULL, &before[n]);
        if (before[n].sa_handler != SIG_IGN)
            sigaction(signals[n], &action, NULL);
    }
}

static enum exit_code exit_of(int number)
{
    return number == SIGINT ? EXIT_INTERRUPTED : number == SIGTERM ? EXIT_TERMINATED : EXIT_DONE;
}

static void say(const char *words)
{
    (void)!write(STDERR_FILENO, words, strlen(words));
}

/* In the midst of anything, malloc among it: calls that POSIX lets a handler make, and no others. */
static void end(int number)
{
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
    signal_seen = number;
}

void signals_prepare(const char *command)
{
    snprintf(last_words, sizeof last_words, "esra %s: " NOTHING_WRITTEN "\n", command);
    handle(end, 0);
}

void signals_begin(void)
{
    handle(note, (int)SA_RESETHAND);
    begun_count = 0;
    made_folder = NULL;
}

void signals_end_at_once(const struct output *outputs, int count, const char *folder)
{
    begun = outputs;
    begun_count = count;
    made_folder = folder;
    handle(end, 0);
    if (signal_seen)
        end(signal_seen);
}

void signals_undo(void)
{
    for (size_t n = 0; n < SIGNALS; n++)
        sigaction(signals[n], &before[n], NULL);
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
    return complain(signals_exit(), command, "interrupted, and %s; some files are new, the others as they were", reason);
}
