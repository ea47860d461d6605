/* base/thresholds.c - finding and, for sweeps, changing a row of a table. */
#include "base/thresholds.h"

#include <string.h>

int esra_threshold_find(const struct threshold_table *table, const char *name)
{
    for (int n = 0; n < table->count; n++)
        if (strcmp(table->rows[n].name, name) == 0)
            return n;
    return -1;
}

#ifdef ESRA_TUNING
esra_status esra_threshold_set(const struct threshold_table *table, const char *name, double value)
{
    int n = esra_threshold_find(table, name);
    if (n < 0 || !(value >= table->rows[n].lowest && value <= table->rows[n].highest))
        return ESRA_BAD_ARGUMENT;
    table->values[n] = value;
    return ESRA_OK;
}
#endif
