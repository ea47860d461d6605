/* tools/esra/options.c - from argv to a command's struct: popt splits the words, the tables say what they mean. */
#include "options.h"

#include <errno.h>
#include <limits.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

/* popt's `val` of an option: its number + 1 counting the command's options, then those of its tables, then --help. */
struct grammar {
    const struct command *command;
    struct table_option from_tables[TABLE_OPTIONS_MOST];
    size_t own_count, table_count;
    struct poptOption *table;
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

/* ---- Rows of tables as options ---- */

static void make_flag(const esra_setting *row, char *text, size_t size)
{
    snprintf(text, size, "%s", row->name);
    for (char *c = text; *c; c++)
        if (*c == '_')
            *c = '-';
    size_t length = strlen(text), unit = strlen(row->unit);
    if (unit > 0 && length > unit + 1 && text[length - unit - 1] == '-' && strcmp(text + length - unit, row->unit) == 0)
        text[length - unit - 1] = '\0';
}

/* Of "n=photos|s=seed". */
static char find_letter(const char *letters, const char *name)
{
    char word[80];
    for (const char *at = letters; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL) {
        snprintf(word, sizeof word, "%.*s", (int)strcspn(at, "|"), at);
        if (strcmp(word + 2, name) == 0)
            return word[0];
    }
    return 0;
}

static bool is_taken(const struct option_table *table, const esra_setting *row)
{
    return (!table->only || find_name(table->only, row->name) >= 0) &&
           (!table->without || find_name(table->without, row->name) < 0);
}

int table_options(const struct command *command, struct table_option options[TABLE_OPTIONS_MOST])
{
    int taken = 0;
    for (const struct option_table *table = command->tables; table < command->tables + command->table_count; table++) {
        size_t count;
        const esra_setting *rows = table->rows(&count);
        for (size_t n = 0; n < count && taken < TABLE_OPTIONS_MOST; n++) {
            struct table_option *option = &options[taken];
            if (!is_taken(table, &rows[n]))
                continue;
            *option = (struct table_option){
                .table = table, .row = &rows[n], .letter = find_letter(table->letters, rows[n].name)};
            make_flag(&rows[n], option->flag, sizeof option->flag);
            taken++;
        }
    }
    return taken;
}

const char *table_option_value(const struct table_option *option)
{
    const esra_setting *row = option->row;
    switch (row->type) {
    case ESRA_TYPE_REAL: return *row->unit ? row->unit : "X";
    case ESRA_TYPE_COUNT:
    case ESRA_TYPE_SEED: return "N";
    case ESRA_TYPE_CHOICE:
    case ESRA_TYPE_ONE_OF: return row->names;
    case ESRA_TYPE_TOGGLE: break;
    }
    return NULL;
}

/* Room for the struct of any table. */
union table_values {
    esra_settings settings;
    esra_photos photos;
    esra_synth_settings synth;
};

void table_option_default(const struct table_option *option, char *text, size_t size)
{
    union table_values values;
    option->table->init(&values);
    double value = esra_option_read(&values, option->row);
    *text = '\0';
    if (option->row->type == ESRA_TYPE_CHOICE)
        choice_word(option->row, (int)value, text, size);
    else if (option->row->type != ESRA_TYPE_TOGGLE)
        snprintf(text, size, "%g", value);
}

/* ---- Parsing ---- */

static bool grammar_make(struct grammar *grammar, const struct command *command)
{
    *grammar = (struct grammar){.command = command, .own_count = (size_t)command->option_count};
    grammar->table_count = (size_t)table_options(command, grammar->from_tables);
    grammar->table = calloc(grammar->own_count + grammar->table_count + 2, sizeof *grammar->table);
    if (!grammar->table)
        return false;
    struct poptOption *row = grammar->table;
    int number = 0;
    for (size_t n = 0; n < grammar->own_count; n++) {
        const struct option *option = &command->options[n];
        int kind = option->type == OPTION_FLAG ? POPT_ARG_NONE : POPT_ARG_STRING;
        *row++ = (struct poptOption){option->name, option->letter, kind, NULL, ++number, NULL, NULL};
    }
    for (size_t n = 0; n < grammar->table_count; n++) {
        const struct table_option *option = &grammar->from_tables[n];
        int kind = option->row->type == ESRA_TYPE_TOGGLE ? POPT_ARG_NONE : POPT_ARG_STRING;
        *row++ = (struct poptOption){option->flag, option->letter, kind, NULL, ++number, NULL, NULL};
    }
    *row = (struct poptOption){"help", 'h', POPT_ARG_NONE, NULL, ++number, NULL, NULL};
    return true;
}

/* Whole numbers beyond int are clamped, and then out of range. */
static bool parse_count(const char *text, int *value)
{
    char *end;
    long number = strtol(text, &end, 10);
    *value = number > INT_MAX ? INT_MAX : number < INT_MIN ? INT_MIN : (int)number;
    return end != text && *end == '\0';
}

/* At most what JSON's integers hold everywhere: truth.json repeats it. */
static bool parse_seed(const char *text, unsigned long long *seed)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    *seed = (unsigned long long)number;
    return end != text && !*end && !errno && number >= 0;
}

/* What a row's value must be, in words for the message; NULL: text is one, and was put into the struct. */
static const char *set_field(void *values, const esra_setting *row, const char *text)
{
    char *field = (char *)values + row->offset, *end;
    unsigned long long seed;
    int whole = 1;
    double real;
    if (row->type == ESRA_TYPE_REAL) {
        real = strtod(text, &end);
        memcpy(field, &real, sizeof real);
        return end == text || *end ? "a number" : NULL;
    }
    if (row->type == ESRA_TYPE_SEED) {
        bool good = parse_seed(text, &seed);
        memcpy(field, &seed, sizeof seed);
        return good ? NULL : "a whole number from 0 up";
    }
    if (row->type == ESRA_TYPE_COUNT && !parse_count(text, &whole))
        return "a whole number";
    if (row->names && (whole = find_name(row->names, text)) < 0)
        return row->names;
    if (row->type == ESRA_TYPE_ONE_OF)
        parse_count(text, &whole);
    memcpy(field, &whole, sizeof whole);
    return NULL;
}

static enum exit_code set_from_table(const struct command *command, const struct table_option *option, void *job,
                                     const char *text)
{
    const esra_setting *row = option->row;
    void *values = (char *)job + option->table->offset;
    const char *wanted = set_field(values, row, text);
    if (wanted)
        return complain(EXIT_USAGE, command->name, "--%s takes %s%s, not '%s'", option->flag,
                        row->names ? "one of " : "", wanted, text);
    double value = esra_option_read(values, row);
    if (!(value >= row->lowest && value <= row->highest))
        return complain(EXIT_USAGE, command->name, "--%s takes a number from %.10g to %.10g, not '%s'", option->flag,
                        row->lowest, row->highest, text);
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
    if (number < grammar->own_count) {
        set_option(&grammar->command->options[number], parsed->values, text);
        return EXIT_DONE;
    }
    number -= grammar->own_count;
    if (number == grammar->table_count) {
        parsed->help = true;
        return EXIT_DONE;
    }
    enum exit_code code = set_from_table(grammar->command, &grammar->from_tables[number], parsed->values, text);
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
    for (int n = 0; n < parsed->command->table_count; n++)
        parsed->command->tables[n].init((char *)parsed->values + parsed->command->tables[n].offset);
    poptContext context = NULL;
    if (grammar_make(&grammar, parsed->command))
        context = poptGetContext("esra", argc, (const char **)argv, grammar.table, 0);
    if (context)
        code = take_words(parsed, &grammar, context);
    else
        complain(code, parsed->command->name, "out of memory");
    poptFreeContext(context);
    free(grammar.table);
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
