/* tools/esra/main.c - finds the sub-command. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

const struct command *const commands[] = {&separate_command, &align_command, &solve_command, &synth_command,
                                        &compare_command, &bench_command, &help_command, NULL};

const struct command *find_command(const char *name)
{
    for (const struct command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

/* A standard stream that came closed would lend its number to the next file opened, and what is meant for the one would
 * go into the other. Whatever stands in for it can neither be read (write-only) nor written (read-only). */
static void hold_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    hold_standard_streams();
    /* A reader that goes away and a file that may not grow are errors to be told (EXIT_IO), not silent deaths. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
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
    return command->run(argc - 1, argv + 1);
}
