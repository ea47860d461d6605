/* tools/esra/exit.c - how the program ends. */
#include "exit.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "text.h"

enum exit_code exit_code_of(esra_status status)
{
    switch (status) {
    case ESRA_OK: return EXIT_DONE;
    case ESRA_BAD_ARGUMENT:
    case ESRA_BAD_DATA: return EXIT_DATA;
    case ESRA_OUT_OF_MEMORY:
    case ESRA_OVER_LIMIT: return EXIT_LIMIT;
    case ESRA_NO_INPUT: return EXIT_NO_INPUT;
    case ESRA_CANNOT_CREATE: return EXIT_CREATE;
    case ESRA_IO_ERROR: return EXIT_IO;
    }
    return EXIT_DATA;
}

enum exit_code complain(enum exit_code code, const char *command, const char *format, ...)
{
    char line[MESSAGE_SIZE + 1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    /* File names may hold anything; a terminal must not be steered by them. */
    text_make_plain(line);
    fprintf(stderr, "esra%s%s: %s\n", command ? " " : "", command ? command : "", line);
    return code;
}

enum exit_code finish_stdout(enum exit_code code, const char *command)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    return complain(EXIT_IO, command, "writing standard output broke off: %s", strerror(errno));
}
