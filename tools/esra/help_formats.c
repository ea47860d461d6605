/* tools/esra/help_formats.c - the man page and the completions, from the same tables as the help. */
#include <stdio.h>
#include <string.h>

#include "help.h"

/* ---- The options as texts ---- */

static void tell_own(const struct command *command, void (*tell)(const struct option_text *, void *), void *context)
{
    for (int n = 0; n < command->option_count; n++) {
        const struct option *option = &command->options[n];
        char flag[80], letter[8] = "";
        snprintf(flag, sizeof flag, "--%s", option->name);
        if (option->letter)
            snprintf(letter, sizeof letter, "-%c, ", option->letter);
        struct option_text text = {
            letter, flag, option->value ? option->value : "", "", option->help, option->type == OPTION_FILE, NULL};
        tell(&text, context);
    }
}

static void tell_row(const struct table_option *option, void (*tell)(const struct option_text *, void *), void *context)
{
    char flag[80], letter[8] = "", standard[40];
    const char *value = table_option_value(option);
    snprintf(flag, sizeof flag, "--%s", option->flag);
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    table_option_default(option, standard, sizeof standard);
    struct option_text text = {
        letter, flag, value ? value : "", standard, option->row->help, false, option->table->heading};
    tell(&text, context);
}

void each_option(const struct command *command, void (*tell)(const struct option_text *, void *), void *context)
{
    struct table_option options[TABLE_OPTIONS_MOST];
    int count = table_options(command, options);
    tell_own(command, tell, context);
    for (int n = 0; n < count; n++)
        if (!options[n].table->heading)
            tell_row(&options[n], tell, context);
    struct option_text help = {"-h, ", "--help", "", "", "show this help", false, NULL};
    tell(&help, context);
    for (int n = 0; n < count; n++)
        if (options[n].table->heading)
            tell_row(&options[n], tell, context);
}

void option_help(const struct option_text *option, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s%s", option->help, *option->standard ? " (default " : "", option->standard,
             *option->standard ? ")" : "");
}

/* ---- Man page ---- */

/* Text for troff: hyphens that are minus signs, no line that starts as a request. */
static void print_roff(const char *text)
{
    for (const char *c = text; *c; c++) {
        if (*c == '-')
            fputs("\\-", stdout);
        else if (*c == '\\')
            fputs("\\e", stdout);
        else if (*c == '\n' && c[1] == '\n')
            fputs("\n.PP", stdout);
        else if (*c == '\'' && (c == text || c[-1] == '\n'))
            fputs("\\(aq", stdout);
        else
            putchar(*c);
    }
}

static void man_option(const struct option_text *option, void *context)
{
    char help[1024];
    (void)context;
    option_help(option, help, sizeof help);
    printf(".TP\n\\fB");
    print_roff(option->letter);
    print_roff(option->flag);
    printf("\\fR");
    if (*option->value) {
        printf(" \\fI");
        print_roff(option->value);
        printf("\\fR");
    }
    putchar('\n');
    print_roff(help);
    putchar('\n');
}

static void man_command(const struct command *command)
{
    printf(".SS esra %s [options]%s%s\n", command->name, *command->operands ? " " : "", command->operands);
    print_roff(command->description);
    putchar('\n');
    each_option(command, man_option, NULL);
}

static void print_man(void)
{
    printf(".TH ESRA 1 \"\" \"esra %s\" \"User Commands\"\n.SH NAME\nesra \\- looks through glass\n.SH SYNOPSIS\n",
           esra_version());
    for (const struct command *const *c = commands; *c; c++)
        printf(".B esra %s\n[options]%s%s\n.br\n", (*c)->name, *(*c)->operands ? " " : "", (*c)->operands);
    printf(
        ".B esra \\-\\-version\n.SH DESCRIPTION\nSeparates what is behind a glass from what it reflects, with a proven "
        "bound on how far the result is from the optimum of its objective.\n.SH COMMANDS\n");
    for (const struct command *const *c = commands; *c; c++)
        man_command(*c);
    printf(".SH EXIT STATUS\n");
#define ROW(name, code, text)                                                                                          \
    printf(".TP\n.B %d\n", code);                                                                                      \
    print_roff(text);                                                                                                  \
    putchar('\n');
    EXIT_TABLE(ROW)
#undef ROW
    printf(".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nwhen it is not empty, the progress bar has no colour\n"
           ".TP\n.B SLURM_ARRAY_TASK_ID\nand the like: the share that esra batch does by itself in an array of Slurm\n"
           ".SH EXAMPLES\n");
    for (const struct command *const *c = commands; *c; c++)
        if ((*c)->example) {
            printf(".EX\n");
            print_roff((*c)->example);
            printf("\n.EE\n");
        }
}

/* ---- Completions ---- */

static void bash_flag(const struct option_text *option, void *context)
{
    (void)context;
    if (*option->letter)
        printf(" %.2s", option->letter);
    printf(" %s", option->flag);
}

/* Words to offer after an option that takes one of a few. */
static void bash_choice(const struct option_text *option, void *context)
{
    (void)context;
    if (!strchr(option->value, '|'))
        return;
    printf("        ");
    if (*option->letter)
        printf("%.2s|", option->letter);
    printf("%s) COMPREPLY=($(compgen -W \"", option->flag);
    for (const char *c = option->value; *c; c++)
        putchar(*c == '|' ? ' ' : *c);
    printf("\" -- \"$word\")); return ;;\n");
}

static void print_bash(void)
{
    printf("# bash completion for esra\n_esra() {\n    local word=${COMP_WORDS[COMP_CWORD]} "
           "before=${COMP_WORDS[COMP_CWORD-1]}\n    case ${COMP_WORDS[1]} in\n");
    for (const struct command *const *c = commands; *c; c++) {
        printf("    %s)\n        case $before in\n", (*c)->name);
        each_option(*c, bash_choice, NULL);
        printf("        esac\n        [[ $word == -* ]] && COMPREPLY=($(compgen -W \"");
        each_option(*c, bash_flag, NULL);
        printf("\" -- \"$word\")) && return\n        ;;\n");
    }
    printf("    esac\n    if [[ $COMP_CWORD -eq 1 ]]; then\n        COMPREPLY=($(compgen -W \"");
    for (const struct command *const *c = commands; *c; c++)
        printf("%s ", (*c)->name);
    printf("--version\" -- \"$word\"))\n    else\n        COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n}\n"
           "complete -o filenames -F _esra esra\n");
}

/* Single-quoted for a shell, without the characters that _arguments gives a meaning to. */
static void print_quoted(const char *text)
{
    for (; *text; text++)
        if (strchr("'[]:", *text))
            putchar(' ');
        else
            putchar(*text);
}

static void zsh_option(const struct option_text *option, void *context)
{
    (void)context;
    if (*option->letter)
        printf(" \\\n            '(%.2s %s)'{%.2s,%s}'[", option->letter, option->flag, option->letter, option->flag);
    else
        printf(" \\\n            '%s[", option->flag);
    print_quoted(option->help);
    printf("]");
    if (option->file)
        printf(":file:_files");
    else if (strchr(option->value, '|')) {
        printf(":value:(");
        for (const char *c = option->value; *c; c++)
            putchar(*c == '|' ? ' ' : *c);
        printf(")");
    } else if (*option->value)
        printf(":value:");
    printf("'");
}

static void print_zsh(void)
{
    printf("#compdef esra\n_esra() {\n    if (( CURRENT == 2 )); then\n        _values command");
    for (const struct command *const *c = commands; *c; c++) {
        printf(" '%s[", (*c)->name);
        print_quoted((*c)->summary);
        printf("]'");
    }
    printf("\n        return\n    fi\n    case $words[2] in\n");
    for (const struct command *const *c = commands; *c; c++) {
        printf("    %s)\n        shift words; (( CURRENT-- ))\n        _arguments", (*c)->name);
        each_option(*c, zsh_option, NULL);
        printf(" \\\n            '*:file:_files'\n        ;;\n");
    }
    printf("    esac\n}\n_esra \"$@\"\n");
}

static void fish_option(const struct option_text *option, void *context)
{
    const struct command *command = context;
    printf("complete -c esra -n '__fish_seen_subcommand_from %s' -l %s", command->name, option->flag + 2);
    if (*option->letter)
        printf(" -s %c", option->letter[1]);
    if (*option->value)
        printf(option->file ? " -rF" : " -x");
    if (strchr(option->value, '|')) {
        printf(" -a '");
        for (const char *c = option->value; *c; c++)
            putchar(*c == '|' ? ' ' : *c);
        printf("'");
    }
    printf(" -d '");
    print_quoted(option->help);
    printf("'\n");
}

static void print_fish(void)
{
    printf("# fish completion for esra\n");
    for (const struct command *const *c = commands; *c; c++) {
        printf("complete -c esra -f -n __fish_use_subcommand -a %s -d '", (*c)->name);
        print_quoted((*c)->summary);
        printf("'\n");
        each_option(*c, fish_option, (void *)*c);
    }
}

bool print_format(const char *format)
{
    static const struct {
        const char *name;
        void (*print)(void);
    } formats[] = {{"man", print_man}, {"bash", print_bash}, {"zsh", print_zsh}, {"fish", print_fish}};
    for (size_t n = 0; n < sizeof formats / sizeof formats[0]; n++)
        if (strcmp(formats[n].name, format) == 0) {
            formats[n].print();
            return true;
        }
    return false;
}
