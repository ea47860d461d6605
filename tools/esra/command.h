/* tools/esra/command.h - what a sub-command is: its words, its options, its work. Parsing, help, man page and
 * completion all read these tables, and the library's own tables (settings.def and others) behind them. */
#ifndef ESRA_TOOL_COMMAND_H
#define ESRA_TOOL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include <esra/esra.h>

#include "exit.h"

struct parsed;

enum option_type { OPTION_FLAG, OPTION_TEXT, OPTION_FILE };

struct option {
    const char *name; /* without the dashes */
    char letter;      /* its short form, or 0 */
    enum option_type type;
    const char *value; /* what follows, for help: "FILE", "a_1,...,a_m", "tty|json" */
    size_t offset;     /* in the job, whose first field holds them: a bool for a flag, a char * for the others */
    bool required;
    const char *help;
};

/* A table of the library whose rows are options too. */
struct option_table {
    const esra_setting *(*rows)(size_t *count);
    void (*init)(void *values); /* makes them what they are when nobody says otherwise */
    size_t offset;              /* of the struct with the values in the job */
    const char *only, *without; /* of the rows only "a|b", or all but "a|b"; NULL: all */
    const char *letters;        /* short forms: "n=photos|s=seed"; NULL: none */
    const char *heading;        /* in the help; NULL: they stand among the command's own */
};

#define SETTINGS_HEADING "Settings; the defaults suit most photos"

struct command {
    const char *name;
    const char *summary;  /* half a line */
    const char *operands; /* what stands after the options, or "" */
    int max_operands;
    const char *description; /* paragraphs separated by blank lines */
    const char *example;     /* command lines, one a row, or NULL */
    const struct option *options;
    int option_count;
    const struct option_table *tables;
    int table_count;
    size_t job_size; /* everything a run holds, beginning with the values of its options; zeroed to begin with */
    enum exit_code (*work)(void *job, const struct parsed *parsed);
    void (*free)(void *job, enum exit_code code); /* what the work left in the job, its options aside; may be NULL */
};

extern const struct command align_command, batch_command, bench_command, compare_command, help_command, info_command,
    separate_command, solve_command, swap_command, synth_command;

/* All commands, in the order of the help; ends with NULL. */
extern const struct command *const commands[];

/* NULL where there is none of that name. */
const struct command *find_command(const char *name);

/* Parses argv (argv[0] is the command's name), then prints the help asked for or does the work, and frees all. */
enum exit_code run_command(const struct command *command, int argc, char **argv);

#endif
