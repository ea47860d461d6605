/* tools/esra/options.h - from argv to a command's struct, by its tables. */
#ifndef ESRA_TOOL_OPTIONS_H
#define ESRA_TOOL_OPTIONS_H

#include "command.h"

/* What the parser filled in, to be given back with options_free(). */
struct parsed {
    const struct command *command;
    void *values; /* the command's own zeroed struct, options and the structs of tables at their offsets */
    char **operands;
    int operand_count;
    bool help; /* --help was given; nothing else was checked */
};

/* Parses argv (argv[0] is the command's name). Values of tables are checked against their ranges. On a mistake says so
 * in one line and returns EXIT_USAGE; otherwise EXIT_DONE. Either way options_free() is due. */
enum exit_code options_parse(struct parsed *parsed, int argc, char **argv);

void options_free(struct parsed *parsed);

/* A row of one of a command's tables, as an option. */
struct table_option {
    const struct option_table *table;
    const esra_setting *row;
    char flag[64]; /* "max-iterations" for max_iterations, "time-limit" for time_limit_s */
    char letter;   /* its short form, or 0 */
};

#define TABLE_OPTIONS_MOST 64

/* All of them that a command takes, in order; returns how many. */
int table_options(const struct command *command, struct table_option options[TABLE_OPTIONS_MOST]);

/* What follows the flag, for help: "X", "N", "a|b"; NULL for a toggle. */
const char *table_option_value(const struct table_option *option);

/* Its default, for help; "" for a toggle. */
void table_option_default(const struct table_option *option, char *text, size_t size);

/* The word for a value of a choice: "paper" for engine 0. */
void choice_word(const esra_setting *row, int value, char *text, size_t size);

/* The same by name, of the settings. */
void setting_choice(const char *name, int value, char *text, size_t size);

#endif
