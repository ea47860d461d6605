/* tools/esra/separate_ending.c - what esra separate and esra align say at their end, to people. */
#include <stdio.h>

#include "separate.h"
#include "text.h"

/* The first of them, where they are many. */
#define MOST_NAMED 8

static void print_left_out(const struct job *job)
{
    int left = 0;
    for (int i = 0; i < job->scene.paths.count; i++)
        if (!job->facts[i].aligned && left++ < MOST_NAMED) {
            fputs(left == 1 ? " Left out: " : ", ", stderr);
            print_plain(stderr, job->scene.paths.items[i]);
        }
    if (left > MOST_NAMED)
        fprintf(stderr, " and %d more", left - MOST_NAMED);
    fputs(left ? "." : "", stderr);
}

static void print_incomplete(const struct job *job)
{
    for (int i = 0; i < job->scene.paths.count; i++)
        if (job->scene.photos[i].incomplete) {
            fputs("warning: ", stderr);
            print_plain(stderr, job->scene.paths.items[i]);
            fputs(" is damaged: what could not be decoded is black.\n", stderr);
        }
}

void job_print_warnings(const struct job *job)
{
    size_t count;
    const esra_warning_row *table = esra_warning_table(&count);
    print_incomplete(job);
    for (const esra_warning_row *row = table; row < table + count; row++) {
        if (!(job->separation.warnings & row->bit))
            continue;
        fprintf(stderr, "warning: %s", row->text);
        if (row->bit == ESRA_WARN_NOT_ALIGNED)
            print_left_out(job);
        fprintf(stderr, " %s\n", row->advice);
    }
}

bool job_short_of_gap(const struct job *job)
{
    return job->separation.method != ESRA_METHOD_NONE && job->info.outcome != ESRA_OPTIMAL && job->settings.gap > 0;
}

void job_print_summary(const struct job *job)
{
    const esra_separation *s = &job->separation;
    job_print_warnings(job);
    if (s->method == ESRA_METHOD_NONE && job->info.outcome == ESRA_STOPPED)
        fprintf(stderr, "interrupted before there were layers: what is written is the photo as it was\n");
    else if (s->method == ESRA_METHOD_NONE && job->write_transmitted) {
        fprintf(stderr, "the layers could not be told apart: ");
        print_plain(stderr, job->options.output);
        fprintf(stderr, "/transmitted.%s is the photo as it was\n", job_picture_format(job));
    } else if (s->method == ESRA_METHOD_NONE)
        fprintf(stderr, "the layers could not be told apart\n");
    else {
        if (s->scale < 1)
            fprintf(stderr, "a draft: separated at 1/%.0f of the size, and enlarged\n", 1 / s->scale);
        fprintf(stderr, "separated in %.1f s, certified gap %.2g; look at ", s->total_s, job->info.gap);
        print_plain(stderr, job->options.output);
        fprintf(stderr, "/%s\n", job->options.no_report ? "" : "report.html");
    }
    if (job_short_of_gap(job) && !signals_seen())
        fprintf(stderr, "the gap asked for, %g, was not reached: allow more --max-iterations or --time-limit\n",
                job->settings.gap);
}
