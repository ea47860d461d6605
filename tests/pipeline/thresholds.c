/* tests/pipeline/thresholds.c - every table of thresholds is sound: values in their ranges, texts that say something.
 */
#include "check.h"
#include "pipeline/threshold_tables.h"

static void check_row(const struct threshold_table *table, int n)
{
    const struct threshold_row *row = &table->rows[n];
    bool good = CHECK(isfinite(row->value) && row->lowest < row->highest) &&
                CHECK(row->value >= row->lowest && row->value <= row->highest) &&
                CHECK(table->values[n] == row->value) && CHECK(strlen(row->decides) > 0 && strlen(row->origin) > 0) &&
                CHECK(esra_threshold_find(table, row->name) == n);
    if (!good)
        printf("    %s.%s\n", table->room, row->name);
}

static void rows_are_sound(void)
{
    for (const struct threshold_table *const *table = esra_threshold_tables; *table; table++)
        for (int n = 0; n < (*table)->count; n++)
            check_row(*table, n);
}

static void rooms_are_named_once(void)
{
    for (const struct threshold_table *const *a = esra_threshold_tables; *a; a++)
        for (const struct threshold_table *const *b = a + 1; *b; b++)
            CHECK(strcmp((*a)->room, (*b)->room) != 0);
}

static void unknown_names_are_not_found(void)
{
    CHECK(esra_threshold_find(esra_threshold_tables[0], "no_such_threshold") == -1);
}

int main(void)
{
    RUN(rows_are_sound);
    RUN(rooms_are_named_once);
    RUN(unknown_names_are_not_found);
    return check_report();
}
