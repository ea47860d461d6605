/* tools/esra/options.c - from argv to a command's struct: popt splits the words, the tables say what they mean. */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAG_SIZE 64

/* popt's `val` of an option: its number + 1 counting the command's options, then the settings, then --help. */
struct grammar {
    const struct command *command;
    const esra_setting *settings;
    size_t option_count, setting_count;
    struct poptOption *table;
    char (*flags)[FLAG_SIZE]; /* names of the settings' flags */
};

/* Index of text among "a|b|c", or -1. */
static int find_name(const char *names, const char *text)
{
    size_t length = strlen(text);
    for (int index = 0; names; index++) {
        const char *bar = strchr(names, '|');
        size_t size = bar ? (size_t)(bar - names) : strlen(names);
        if (size == length && memcmp(names, text, length) == 0)
            return index;
        names = bar ? bar + 1 : NULL;
    }
    return -1;
}

bool setting_taken(const struct command *command, const esra_setting *setting)
{
    return command->takes_settings && (!command->only_settings || find_name(command->only_settings, setting->name) >= 0);
}

void setting_flag(const esra_setting *setting, char *text, size_t size)
{
    snprintf(text, size, "%s", setting->name);
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = '-';
    size_t length = strlen(text), unit = strlen(setting->unit);
    if (unit > 0 && length > unit + 1 && text[length - unit - 1] == '-' && strcmp(text + length - unit, setting->unit) == 0)
        text[length - unit - 1] = '\0';
}

static void set_defaults(const struct command *command, esra_settings *settings)
{
    if (command->init_settings)
        command->init_settings(settings, sizeof *settings);
    else
        esra_settings_default(settings);
}

double setting_default(const struct command *command, const esra_setting *setting)
{
    esra_settings settings;
    double real;
    int whole;
    set_defaults(command, &settings);
    const char *field = (const char *)&settings + setting->offset;
    if (setting->type == ESRA_TYPE_REAL)
        return memcpy(&real, field, sizeof real), real;
    return memcpy(&whole, field, sizeof whole), whole;
}

const char *setting_value(const esra_setting *setting)
{
    switch (setting->type) {
    case ESRA_TYPE_REAL: return *setting->unit ? setting->unit : "X";
    case ESRA_TYPE_COUNT: return "N";
    case ESRA_TYPE_CHOICE: return setting->names;
    case ESRA_TYPE_TOGGLE: break;
    }
    return NULL;
}

static bool grammar_make(struct grammar *grammar, const struct command *command)
{
    *grammar = (struct grammar){.command = command, .option_count = (size_t)command->option_count};
    if (command->takes_settings)
        grammar->settings = esra_settings_table(&grammar->setting_count);
    grammar->table = calloc(grammar->option_count + grammar->setting_count + 2, sizeof *grammar->table);
    grammar->flags = calloc(grammar->setting_count + 1, sizeof *grammar->flags);
    if (!grammar->table || !grammar->flags)
        return false;
    struct poptOption *row = grammar->table;
    int number = 0;
    for (size_t n = 0; n < grammar->option_count; n++, row++) {
        const struct option *option = &command->options[n];
        *row = (struct poptOption){option->name, option->letter, option->type == OPTION_FLAG ? POPT_ARG_NONE : POPT_ARG_STRING,
                                   NULL, ++number, NULL, NULL};
    }
    for (size_t n = 0; n < grammar->setting_count; n++) {
        const esra_setting *setting = &grammar->settings[n];
        number++;
        if (!setting_taken(command, setting))
            continue;
        setting_flag(setting, grammar->flags[n], FLAG_SIZE);
        *row++ = (struct poptOption){grammar->flags[n], 0, setting->type == ESRA_TYPE_TOGGLE ? POPT_ARG_NONE : POPT_ARG_STRING,
                                     NULL, number, NULL, NULL};
    }
    *row = (struct poptOption){"help", 'h', POPT_ARG_NONE, NULL, ++number, NULL, NULL};
    return true;
}

static void grammar_free(struct grammar *grammar)
{
    free(grammar->table);
    free(grammar->flags);
}

void setting_choice(const char *name, int value, char *text, size_t size)
{
    size_t count;
    const esra_setting *table = esra_settings_table(&count);
    *text = '\0';
    for (size_t n = 0; n < count; n++) {
        if (strcmp(table[n].name, name) != 0)
            continue;
        const char *word = table[n].names;
        for (; value > 0; value--)
            word += strcspn(word, "|") + 1;
        snprintf(text, size, "%.*s", (int)strcspn(word, "|"), word);
    }
}

/* Whole numbers beyond int are clamped: the library then says what the range is. */
static bool parse_count(const char *text, int *value)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    *value = number > INT_MAX ? INT_MAX : number < INT_MIN ? INT_MIN : (int)number;
    return end != text && *end == '\0';
}

static enum exit_code set_setting(const struct command *command, esra_settings *settings, const esra_setting *setting,
                                  const char *flag, const char *text)
{
    char *field = (char *)settings + setting->offset, *end;
    int whole = 1;
    double real;
    if (setting->type == ESRA_TYPE_REAL) {
        real = strtod(text, &end);
        if (end == text || *end)
            return complain(EXIT_USAGE, command->name, "--%s takes a number, not '%s'", flag, text);
        memcpy(field, &real, sizeof real);
        return EXIT_DONE;
    }
    if (setting->type == ESRA_TYPE_COUNT && !parse_count(text, &whole))
        return complain(EXIT_USAGE, command->name, "--%s takes a whole number, not '%s'", flag, text);
    if (setting->type == ESRA_TYPE_CHOICE && (whole = find_name(setting->names, text)) < 0)
        return complain(EXIT_USAGE, command->name, "--%s takes one of %s, not '%s'", flag, setting->names, text);
    memcpy(field, &whole, sizeof whole);
    return EXIT_DONE;
}

static void set_option(const struct option *option, void *values, char *text)
{
    char *field = (char *)values + option->offset, *before;
    if (option->type == OPTION_FLAG) {
        *(bool *)field = true;
        return;
    }
    memcpy(&before, field, sizeof before);
    free(before);
    memcpy(field, &text, sizeof text);
}

static enum exit_code take_word(const struct grammar *grammar, struct parsed *parsed, size_t number, char *text)
{
    if (number < grammar->option_count) {
        set_option(&grammar->command->options[number], parsed->values, text);
        return EXIT_DONE;
    }
    number -= grammar->option_count;
    if (number == grammar->setting_count) {
        parsed->help = true;
        return EXIT_DONE;
    }
    enum exit_code code = set_setting(grammar->command, &parsed->settings, &grammar->settings[number],
                                      grammar->flags[number], text);
    free(text);
    return code;
}

static enum exit_code take_operands(struct parsed *parsed, poptContext context)
{
    const char **words = poptGetArgs(context);
    int count = 0;
    while (words && words[count])
        count++;
    if (count > parsed->command->max_operands)
        return complain(EXIT_USAGE, parsed->command->name, "unexpected word '%s'; see 'esra help %s'",
                        words[parsed->command->max_operands], parsed->command->name);
    parsed->operands = calloc((size_t)count + 1, sizeof *parsed->operands);
    if (!parsed->operands)
        return complain(EXIT_LIMIT, parsed->command->name, "out of memory");
    for (int n = 0; n < count; n++) {
        parsed->operands[n] = strdup(words[n]);
        if (!parsed->operands[n])
            return complain(EXIT_LIMIT, parsed->command->name, "out of memory");
        parsed->operand_count++;
    }
    return EXIT_DONE;
}

static enum exit_code check_required(const struct parsed *parsed)
{
    const struct command *command = parsed->command;
    for (int n = 0; n < command->option_count; n++) {
        const struct option *option = &command->options[n];
        char *text;
        if (!option->required)
            continue;
        memcpy(&text, (char *)parsed->values + option->offset, sizeof text);
        if (!text)
            return complain(EXIT_USAGE, command->name, "--%s %s is missing; see 'esra help %s'", option->name,
                            option->value, command->name);
    }
    return EXIT_DONE;
}

static enum exit_code take_words(struct parsed *parsed, const struct grammar *grammar, poptContext context)
{
    int value;
    while ((value = poptGetNextOpt(context)) > 0) {
        enum exit_code code = take_word(grammar, parsed, (size_t)value - 1, poptGetOptArg(context));
        if (code != EXIT_DONE)
            return code;
    }
    if (parsed->help)
        return EXIT_DONE;
    if (value < -1)
        return complain(EXIT_USAGE, parsed->command->name, "%s: %s; see 'esra help %s'", poptBadOption(context, 0),
                        poptStrerror(value), parsed->command->name);
    enum exit_code code = take_operands(parsed, context);
    return code == EXIT_DONE ? check_required(parsed) : code;
}

enum exit_code options_parse(struct parsed *parsed, int argc, char **argv)
{
    struct grammar grammar;
    enum exit_code code = EXIT_LIMIT;
    set_defaults(parsed->command, &parsed->settings);
    poptContext context = NULL;
    if (grammar_make(&grammar, parsed->command))
        context = poptGetContext("esra", argc, (const char **)argv, grammar.table, 0);
    if (context)
        code = take_words(parsed, &grammar, context);
    else
        complain(code, parsed->command->name, "out of memory");
    poptFreeContext(context);
    grammar_free(&grammar);
    return code;
}

void options_free(struct parsed *parsed)
{
    for (int n = 0; n < parsed->command->option_count; n++) {
        const struct option *option = &parsed->command->options[n];
        if (option->type != OPTION_FLAG)
            set_option(option, parsed->values, NULL);
    }
    for (int n = 0; n < parsed->operand_count; n++)
        free(parsed->operands[n]);
    free(parsed->operands);
    parsed->operands = NULL;
    parsed->operand_count = 0;
}
