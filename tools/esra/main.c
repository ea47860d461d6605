/* tools/esra/main.c - finds the sub-command and runs it. */
#include <fcntl.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "help.h"
#include "options.h"
#include "signals.h"

/* Blocks from here on go back to the system when they are freed. */
#define LARGE_BLOCK (256 << 10)

const struct command *const commands[] = {
    &separate_command, &align_command,   &swap_command,  &batch_command, &info_command, &solve_command,
    &synth_command,    &compare_command, &bench_command, &help_command,  NULL};

const struct command *find_command(const char *name)
{
    for (const struct command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

enum exit_code run_command(const struct command *command, int argc, char **argv)
{
    signals_prepare(command->name);
    struct parsed parsed = {.command = command, .values = calloc(1, command->job_size)};
    if (!parsed.values)
        return complain(EXIT_LIMIT, command->name, "out of memory");
    enum exit_code code = options_parse(&parsed, argc, argv);
    if (code == EXIT_DONE && parsed.help) {
        print_command(command);
        code = finish_stdout(EXIT_DONE, command->name);
    } else if (code == EXIT_DONE) {
        code = command->work(parsed.values, &parsed);
        if (command->free)
            command->free(parsed.values, code);
    }
    options_free(&parsed);
    free(parsed.values);
    return code;
}

/* A standard stream that came closed would lend its number to the next file opened, and what is meant for the one would
 * go into the other. Whatever stands in for it can neither be read (write-only) nor written (read-only). */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* glibc would raise its threshold to the largest block freed so far, up to 32 MiB, and come to keep what is freed in a
 * heap full of holes: a tenth of all memory, at the time when it is needed most. */
static void return_what_is_freed(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, LARGE_BLOCK);
#endif
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    return_what_is_freed();
    /* A reader that goes away and a file that may not grow are errors to be told (EXIT_IO), not silent deaths. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    /* Inherited as ignored, it would have children vanish before anyone has asked how they ended. */
    signal(SIGCHLD, SIG_DFL);
    if (argc < 2)
        return complain(EXIT_USAGE, NULL, "which command? Try 'esra help'");
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        printf("esra %s\n", esra_version());
        return finish_stdout(EXIT_DONE, NULL);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        word = "help";
    const struct command *command = find_command(word);
    if (!command)
        return complain(EXIT_USAGE, NULL, "there is no command '%s'; 'esra help' lists them", word);
    return run_command(command, argc - 1, argv + 1);
}
