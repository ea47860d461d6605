/* tools/esra/exit.h - how the program ends: one table for the code, the help and the man page. Numbers from 64 up are
 * those of sysexits.h. */
#ifndef ESRA_TOOL_EXIT_H
#define ESRA_TOOL_EXIT_H

#include <esra/esra.h>

#define EXIT_TABLE(ROW)                                                                                                \
    ROW(EXIT_DONE, 0, "done")                                                                                          \
    ROW(EXIT_GAP, 10, "finished, but the gap asked for was not reached; the output is written")                        \
    ROW(EXIT_NOT_ALIGNED, 11,                                                                                          \
        "the photos could not be aligned, or their layers told apart; then the photo itself is written")               \
    ROW(EXIT_SOME_FAILED, 12, "batch: a scene failed; the others are done")                                            \
    ROW(EXIT_UNFINISHED, 13, "batch --status: scenes are left, or at work")                                            \
    ROW(EXIT_USAGE, 64, "the command line is wrong")                                                                   \
    ROW(EXIT_DATA, 65, "an input is damaged, does not fit the others, or is out of range")                             \
    ROW(EXIT_NO_INPUT, 66, "an input does not exist or may not be read")                                               \
    ROW(EXIT_CREATE, 73, "an output cannot be created")                                                                \
    ROW(EXIT_IO, 74, "reading or writing broke off, or the disk is full")                                              \
    ROW(EXIT_LIMIT, 75, "out of memory, or over a limit")                                                              \
    ROW(EXIT_INTERRUPTED, 130, "interrupted; with --keep-partial the best layers so far are written")                  \
    ROW(EXIT_TERMINATED, 143, "terminated; likewise")

enum exit_code {
#define ROW(name, code, text) name = code,
    EXIT_TABLE(ROW)
#undef ROW
};

enum exit_code exit_code_of(esra_status status);

/* One line on stderr, "esra: ..." or "esra command: ...", whatever the text holds; returns code. command may be NULL.
 */
enum exit_code complain(enum exit_code code, const char *command, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Flushes stdout; a failure there (closed pipe, full disk) is EXIT_IO instead of code. */
enum exit_code finish_stdout(enum exit_code code, const char *command);

#endif
