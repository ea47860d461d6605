/* tools/esra/main.c - finds the sub-command. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

const struct command *const commands[] = {&solve_command, &help_command, NULL};

const struct command *find_command(const char *name)
{
    for (const struct command *const *c = commands; *c; c++)
        if (strcmp((*c)->name, name) == 0)
            return *c;
    return NULL;
}

int main(int argc, char **argv)
{
    /* A reader that goes away is an error to be told (EXIT_IO), not a silent death. */
    signal(SIGPIPE, SIG_IGN);
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
