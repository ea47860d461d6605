/* tools/esra/help.h - the options of a command as texts, for every format of the help. */
#ifndef ESRA_TOOL_HELP_H
#define ESRA_TOOL_HELP_H

#include "command.h"
#include "options.h"

struct option_text {
    const char *letter;   /* "-o, " or "" */
    const char *flag;     /* "--output" */
    const char *value;    /* "FILE", or "" where nothing follows */
    const char *standard; /* the default, or "" */
    const char *help;
    bool file;           /* the value is a file */
    const char *heading; /* that it stands under; NULL: the command's own options */
};

/* Its help with the default in brackets. */
void option_help(const struct option_text *option, char *text, size_t size);

/* Calls tell for each option: the command's own, those of tables without a heading, --help, and the other tables'. */
void each_option(const struct command *command, void (*tell)(const struct option_text *option, void *context),
                 void *context);

/* What 'esra help COMMAND' prints. */
void print_command(const struct command *command);

/* "man", "bash", "zsh" or "fish" on stdout; false where the format is none of these. */
bool print_format(const char *format);

#endif
