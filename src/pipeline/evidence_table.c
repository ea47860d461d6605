/* pipeline/evidence_table.c - the rows of evidence.def in one table: the series', a way's for each way, and a photo's.
 */
#include "pipeline/evidence_table.h"

#include <string.h>

#define SERIES_EVIDENCE(name, meaning) {#name, meaning, 0},
#define WAY_EVIDENCE(name, meaning)
#define PHOTO_EVIDENCE(name, meaning)
static const esra_evidence_row rows[] = {
#include "pipeline/evidence.def"
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning) {"flat." #name, meaning, 0},
#define PHOTO_EVIDENCE(name, meaning)
#include "pipeline/evidence.def"
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning) {"depth." #name, meaning, 0},
#define PHOTO_EVIDENCE(name, meaning)
#include "pipeline/evidence.def"
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning) {"farther." #name, meaning, 0},
#define PHOTO_EVIDENCE(name, meaning)
#include "pipeline/evidence.def"
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning) {"nearer." #name, meaning, 0},
#define PHOTO_EVIDENCE(name, meaning)
#include "pipeline/evidence.def"
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning) {"delivered." #name, meaning, 0},
#define PHOTO_EVIDENCE(name, meaning)
#include "pipeline/evidence.def"
#define SERIES_EVIDENCE(name, meaning)
#define WAY_EVIDENCE(name, meaning)
#define PHOTO_EVIDENCE(name, meaning) {#name, meaning, 1},
#include "pipeline/evidence.def"
};

/* The structs are doubles and nothing else, in the order of the table. */
#define DOUBLES(type) ((int)(sizeof(type) / sizeof(double)))
#define WAYS          5 /* flat, depth, farther, nearer, delivered */
#define SERIES_ROWS   ((int)(offsetof(struct evidence, flat) / sizeof(double)))

const int esra_evidence_rows = SERIES_ROWS + WAYS * DOUBLES(struct way_evidence);
const int esra_photo_evidence_rows = DOUBLES(struct photo_evidence);

_Static_assert(sizeof rows / sizeof rows[0] ==
                   (size_t)(SERIES_ROWS + WAYS * DOUBLES(struct way_evidence) + DOUBLES(struct photo_evidence)),
               "every number has its row");

const esra_evidence_row *esra_evidence_table(size_t *count)
{
    *count = sizeof rows / sizeof rows[0];
    return rows;
}

void esra_evidence_to_numbers(const struct evidence *evidence, double *numbers, double *photos)
{
    if (numbers)
        memcpy(numbers, evidence, (size_t)esra_evidence_rows * sizeof *numbers);
    if (photos)
        memcpy(photos, evidence->photo, (size_t)evidence->photos * sizeof *evidence->photo);
}

void esra_evidence_from_numbers(struct evidence *evidence, const double *numbers, const double *photos)
{
    memcpy(evidence, numbers, (size_t)esra_evidence_rows * sizeof *numbers);
    memcpy(evidence->photo, photos, (size_t)evidence->photos * sizeof *evidence->photo);
}
