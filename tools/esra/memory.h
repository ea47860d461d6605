/* tools/esra/memory.h - how much memory a command will take, takes, and may take. */
#ifndef ESRA_TOOL_MEMORY_H
#define ESRA_TOOL_MEMORY_H

#include "base/status.h"
#include "command.h"

/* The row of a table of options; AT is the offset of its text. */
#define MEMORY_OPTION(AT)                                                                                              \
    {                                                                                                                  \
        "max-memory", 0, OPTION_TEXT, "SIZE", AT, false,                                                               \
            "refuse at once what would take more memory than this, such as 8G or 500M (default: no limit)"             \
    }

struct memory_shape {
    int photos, width, height, channels;
    bool gradients; /* the layers' are given, and held beside the photos */
};

/* "8G", "500M", "64k", or a number of bytes; K, M, G and T count by 1024. NULL gives 0. EXIT_USAGE, said in a line,
 * where it is none of these. */
enum exit_code memory_take(const char *text, const char *command, double *bytes);

/* "1.4G". */
void memory_tell(double bytes, char *text, size_t size);

/* Everything that esra separate holds at its peak; plan is the library's part. ESRA_OVER_LIMIT where nothing could. */
esra_status memory_plan_separate(const struct memory_shape *shape, const esra_settings *settings, esra_plan *plan,
                                 double *bytes);

/* ESRA_OVER_LIMIT, saying how much is needed and what would help, where that is more than most; 0 is no limit. */
esra_status memory_check_separate(const struct memory_shape *shape, const esra_settings *settings, double most,
                                  struct message *message);

/* Likewise esra solve; given are the floats of a pixel in its arrays. */
esra_status memory_check_solve(const struct memory_shape *shape, double given, const esra_settings *settings,
                               double most, struct message *message);

/* The most memory that the process has had so far; 0 where the system does not tell. */
double memory_peak(void);

#endif
