/* base/status.c - status names and failure messages. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

const char *esra_status_name(esra_status status)
{
    switch (status) {
    case ESRA_OK: return "ok";
    case ESRA_BAD_ARGUMENT: return "bad argument";
    case ESRA_BAD_DATA: return "bad data";
    case ESRA_OUT_OF_MEMORY: return "out of memory";
    case ESRA_OVER_LIMIT: return "over a limit";
    case ESRA_NO_INPUT: return "no such input";
    case ESRA_CANNOT_CREATE: return "cannot create output";
    case ESRA_IO_ERROR: return "input/output error";
    }
    return "unknown status";
}

const char *esra_outcome_name(esra_outcome outcome)
{
    switch (outcome) {
    case ESRA_OPTIMAL: return "optimal";
    case ESRA_INACCURATE: return "inaccurate";
    case ESRA_STOPPED: return "stopped";
    }
    return "unknown outcome";
}

esra_status esra_fail(struct message *message, esra_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message->text, sizeof message->text, format, arguments);
    va_end(arguments);
    return status;
}

esra_status esra_fail_memory(struct message *message)
{
    return esra_fail(message, ESRA_OUT_OF_MEMORY, "out of memory: free some, or solve a smaller problem");
}
