/* base/thresholds.h - numbers that decide a result or a warning, as one table a room.
 *
 * ROOM/thresholds.def has a row for each, and ends with #undef THRESHOLD:
 *
 *     THRESHOLD(name, value, lowest, highest, "what it decides", "where it comes from")
 *
 * ROOM/thresholds.h makes of it a struct of doubles and the one object of that type, ROOM_thresholds; ROOM/thresholds.c
 * makes the table for listing. pipeline/threshold_tables.c names the tables of all rooms.
 *
 * In the library the object is a constant of each file that includes the header: the compiler folds its fields, and
 * there is no mutable state. With -DESRA_TUNING (a second build of the core, for bench programs alone) it is one
 * variable, whose fields esra_threshold_set() changes before work begins, so that a sweep needs no recompiling. */
#ifndef ESRA_BASE_THRESHOLDS_H
#define ESRA_BASE_THRESHOLDS_H

#include <esra/esra.h>

#ifdef ESRA_TUNING
#define THRESHOLDS_CONST
#else
#define THRESHOLDS_CONST const
#endif

/* What THRESHOLD is defined as while a .def is included. */
#define THRESHOLD_FIELD(name, value, lowest, highest, decides, origin) double name;
#define THRESHOLD_VALUE(name, value, lowest, highest, decides, origin) .name = (value),
#define THRESHOLD_ROW(name, value, lowest, highest, decides, origin)   {#name, value, lowest, highest, decides, origin},

struct threshold_row {
    const char *name;
    double value, lowest,
        highest;         /* the value as written; the range that keeps the code sound and the number sensible */
    const char *decides; /* what it decides, with its unit */
    const char *origin;  /* where it comes from: a formula, or a command with scenes and figures */
};

struct threshold_table {
    const char *room;
    const struct threshold_row *rows;
    int count;
    THRESHOLDS_CONST double *values; /* [count]: the object itself, whose fields are all doubles */
};

/* The row's number, or -1. */
int esra_threshold_find(const struct threshold_table *table, const char *name);

#ifdef ESRA_TUNING
/* ESRA_BAD_ARGUMENT where there is no such row, or the value is out of its range. */
esra_status esra_threshold_set(const struct threshold_table *table, const char *name, double value);
#endif

#endif
