/* bench/threshold.h - thresholds set on a command line; for programs that link esra_core_tuning. */
#ifndef ESRA_BENCH_THRESHOLD_H
#define ESRA_BENCH_THRESHOLD_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "pipeline/threshold_tables.h"

/* "room.name=value"; false: says why on standard error. */
static inline bool threshold_take(const char *text)
{
    char room[64], name[64], end;
    double value;
    if (sscanf(text, "%63[^.].%63[^=]=%lf%c", room, name, &value, &end) == 3)
        for (const struct threshold_table *const *table = esra_threshold_tables; *table; table++)
            if (strcmp((*table)->room, room) == 0 && esra_threshold_set(*table, name, value) == ESRA_OK)
                return true;
    fprintf(stderr, "-s %s: no such threshold, or out of its range (separate --thresholds lists them)\n", text);
    return false;
}

#endif
