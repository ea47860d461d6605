/* tools/esra/help.c - esra help: texts for people. help_formats.c makes the man page and the completions. */
#include <stdio.h>
#include <string.h>

#include "help.h"

#define NAME       "help"
#define LINE_WIDTH 80

struct help_options {
    char *format;
};

static const struct option options[] = {
    {"format", 0, OPTION_TEXT, "text|man|bash|zsh|fish", offsetof(struct help_options, format), false,
     "text for reading here (default), the man page, or the completion script of a shell"},
};

/* Prints text in words, each line starting with `indent` spaces; the first is already that wide. */
static void print_wrapped(const char *text, int indent)
{
    int column = indent, space = 0;
    for (; *text; text += *text == ' ' || *text == '\n') {
        int word = (int)strcspn(text, " \n");
        if (column > indent && column + space + word > LINE_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
            space = 0;
        }
        column += printf("%*s%.*s", space, "", word, text);
        text += word;
        space = 1;
        if (*text == '\n') {
            printf("\n%*s", text[1] == '\n' ? 0 : indent, "");
            column = indent;
            space = 0;
        }
    }
    putchar('\n');
}

static void print_entry(const char *head, const char *help)
{
    const int indent = 28;
    int column = printf("  %s", head);
    if (column + 2 > indent)
        column = printf("\n") * 0;
    printf("%*s", indent - column, "");
    print_wrapped(help, indent);
}

static void print_option(const struct option_text *option, void *context)
{
    char head[128], help[1024];
    const char **heading = context;
    if (option->heading && option->heading != *heading) {
        printf("\n%s:\n", option->heading);
        *heading = option->heading;
    }
    snprintf(head, sizeof head, "%s%s%s%s", option->letter, option->flag, *option->value ? " " : "", option->value);
    option_help(option, help, sizeof help);
    print_entry(head, help);
}

void print_command(const struct command *command)
{
    const char *heading = NULL;
    printf("usage: esra %s [options]%s%s\n\n", command->name, *command->operands ? " " : "", command->operands);
    print_wrapped(command->description, 0);
    printf("\nOptions:\n");
    each_option(command, print_option, &heading);
    if (command->example) {
        printf("\nExample%s:\n  ", strchr(command->example, '\n') ? "s" : "");
        for (const char *c = command->example; *c; c++)
            fputs(*c == '\n' ? "\n  " : (char[]){*c, 0}, stdout);
        putchar('\n');
    }
}

static void print_overview(void)
{
    printf("esra looks through glass: it separates what is behind a glass from what it reflects.\n\n"
           "usage: esra COMMAND [options]\n       esra --version\n\nCommands:\n");
    for (const struct command *const *c = commands; *c; c++)
        print_entry((*c)->name, (*c)->summary);
    printf("\n'esra help COMMAND' tells more, and so does 'man esra'.\n\nExit codes:\n");
#define ROW(name, code, text)                                                                                          \
    printf("  %-4d", code);                                                                                            \
    print_wrapped(text, 6);
    EXIT_TABLE(ROW)
#undef ROW
}

static enum exit_code print_help(const char *topic)
{
    const struct command *command = topic ? find_command(topic) : NULL;
    if (topic && !command)
        return complain(EXIT_USAGE, NAME, "there is no command '%s'; 'esra help' lists them", topic);
    if (command)
        print_command(command);
    else
        print_overview();
    return EXIT_DONE;
}

static enum exit_code work(void *values, const struct parsed *parsed)
{
    const struct help_options *given = values;
    enum exit_code code = EXIT_DONE;
    if (!given->format || strcmp(given->format, "text") == 0)
        code = print_help(parsed->operand_count > 0 ? parsed->operands[0] : NULL);
    else if (!print_format(given->format))
        code = complain(EXIT_USAGE, NAME, "--format takes one of %s, not '%s'", options[0].value, given->format);
    return finish_stdout(code, NAME);
}

const struct command help_command = {
    .name = NAME,
    .summary = "describe esra or one of its commands",
    .operands = "[COMMAND]",
    .max_operands = 1,
    .description = "Without a command, lists the commands and the exit codes.",
    .example = "esra help --format=bash > esra.bash",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .job_size = sizeof(struct help_options),
    .work = work,
};
