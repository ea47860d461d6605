/* tools/esra/options.h - from argv to a command's struct, by its tables. */
#ifndef ESRA_TOOL_OPTIONS_H
#define ESRA_TOOL_OPTIONS_H

#include "command.h"

/* What the parser filled in, to be given back with options_free(). */
struct parsed {
    const struct command *command;
    void *values;           /* the command's own zeroed struct, options at their offsets */
    esra_settings settings; /* of a command that takes them */
    char **operands;
    int operand_count;
    bool help; /* --help was given; nothing else was checked */
};

/* Parses argv (argv[0] is the command's name). Syntax alone is judged here; ranges are the library's affair. On a
 * mistake says so in one line and returns EXIT_USAGE; otherwise EXIT_DONE. Either way options_free() is due. */
enum exit_code options_parse(struct parsed *parsed, int argc, char **argv);

void options_free(struct parsed *parsed);

/* Whether a setting is an option of a command. */
bool setting_taken(const struct command *command, const esra_setting *setting);

/* The flag of a setting, "max-iterations" for max_iterations, "time-limit" for time_limit_s; size as for snprintf. */
void setting_flag(const esra_setting *setting, char *text, size_t size);

/* What a setting is in a command when nobody says otherwise. */
double setting_default(const struct command *command, const esra_setting *setting);

/* What follows the flag, for help: "X", "N", "a|b"; NULL for a toggle. */
const char *setting_value(const esra_setting *setting);

/* The word for a value of the choice setting `name`: "paper" for engine 0. */
void setting_choice(const char *name, int value, char *text, size_t size);

#endif
