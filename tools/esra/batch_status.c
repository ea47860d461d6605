/* tools/esra/batch_status.c - esra batch --status: what all journals of a folder say, and how long the rest will take.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "json.h"
#include "text.h"

#define NAME "batch"

/* Failures that people are shown; JSON has all. */
#define MOST_SHOWN 20

/* A writer with scenes in its hands. */
struct at_work {
    struct batch_share share;
    bool perhaps;
    int scenes; /* begun */
    int left;   /* of its share, besides these */
};

struct sum {
    struct batch_told *told; /* of each scene */
    struct at_work *writers; /* of each source */
    int done, failed, begun, perhaps, left;
    int unattended;     /* left, and in the share of nobody who is at work */
    double mean_s;      /* of a scene that is done; 0: none is */
    double remaining_s; /* until the last share is done; NaN where it cannot be told */
};

/* ---- Counting ---- */

static void count_begun(struct sum *sum, const struct batch_history *history, int source)
{
    struct at_work *writer = &sum->writers[source];
    if (writer->scenes++ == 0) {
        batch_journal_share(history->sources[source].name, &writer->share);
        writer->perhaps = batch_history_writer(history, source) != WRITER_AT_WORK;
    }
    sum->begun++;
    sum->perhaps += writer->perhaps;
}

static void count(struct sum *sum, const struct batch *batch)
{
    double seconds = 0;
    for (int n = 0; n < batch->jobs.count; n++) {
        const struct batch_told *told = &sum->told[n];
        sum->done += told->state == BATCH_DONE;
        sum->failed += told->state == BATCH_FAILED;
        sum->left += told->state == BATCH_LEFT;
        if (told->state == BATCH_BEGUN)
            count_begun(sum, &batch->history, told->source);
        double took = json_number_value(json_object_get(told->line, "seconds"));
        if (told->state == BATCH_DONE && took > 0)
            seconds += took;
    }
    sum->mean_s = sum->done > 0 ? seconds / sum->done : 0;
}

/* Whose share a scene that is left is in; with shares of different sizes at work it may be in several. */
static void attend(struct sum *sum, const struct batch *batch, int scene)
{
    bool attended = false;
    for (int w = 0; w < batch->history.source_count; w++) {
        struct at_work *writer = &sum->writers[w];
        if (writer->scenes > 0 && batch_share_has(&writer->share, scene)) {
            writer->left++;
            attended = true;
        }
    }
    sum->unattended += !attended;
}

/* Every writer goes on with as many scenes at once as now, each of which takes the mean of those done; what is at work
 * is half-way. The last to end counts, and what nobody works on cannot be told. */
static void foresee(struct sum *sum, const struct batch *batch)
{
    for (int n = 0; n < batch->jobs.count; n++)
        if (sum->told[n].state == BATCH_LEFT)
            attend(sum, batch, n);
    double longest = 0;
    for (int w = 0; w < batch->history.source_count; w++) {
        const struct at_work *writer = &sum->writers[w];
        if (writer->scenes > 0)
            longest = fmax(longest, .5 + ceil((double)writer->left / writer->scenes));
    }
    sum->remaining_s = sum->unattended > 0 || (sum->mean_s <= 0 && sum->begun > 0) ? NAN : sum->mean_s * longest;
}

/* ---- Telling ---- */

/* "40 s", "12 min", "3.5 h", "2.1 days". */
static const char *words_for(double seconds, char words[32])
{
    static const struct {
        double below, unit;
        const char *name;
    } units[] = {{120, 1, "s"}, {7200, 60, "min"}, {172800, 3600, "h"}, {INFINITY, 86400, "days"}};
    int n = 0;
    while (seconds >= units[n].below && n < 3)
        n++;
    double value = seconds / units[n].unit;
    snprintf(words, 32, "%.*f %s", value < 10 ? 1 : 0, value, units[n].name);
    return words;
}

static const char *message_of(const struct batch_told *told)
{
    const char *text = json_string_value(json_object_get(told->line, "message"));
    return text ? text : "";
}

static int exit_of(const struct batch_told *told)
{
    return (int)json_integer_value(json_object_get(told->line, "exit"));
}

static void print_failures(const struct sum *sum, const struct batch *batch)
{
    int shown = 0;
    for (int n = 0; n < batch->jobs.count; n++) {
        const struct batch_scene *scene = &batch->jobs.scenes[n];
        if (sum->told[n].state != BATCH_FAILED || shown++ >= MOST_SHOWN)
            continue;
        printf("line %d: ", scene->line);
        print_plain(stdout, scene->output);
        printf(": failed with exit code %d: ", exit_of(&sum->told[n]));
        print_plain(stdout, message_of(&sum->told[n]));
        putchar('\n');
    }
    if (shown > MOST_SHOWN)
        printf("and %d more failures; --json names all\n", shown - MOST_SHOWN);
}

static void print_remaining(const struct sum *sum)
{
    char mean[32], rest[32];
    if (sum->left + sum->begun == 0)
        return;
    if (sum->mean_s <= 0) {
        printf("how long the rest takes cannot be told before a scene is done\n");
        return;
    }
    words_for(sum->mean_s, mean);
    if (sum->unattended > 0)
        printf("nobody is at work on the shares of %d scenes: %s of work, by the %s that a scene took\n",
               sum->unattended, words_for(sum->mean_s * sum->unattended, rest), mean);
    else
        printf("about %s to go, with as many at work as now and %s a scene, the mean of %d\n",
               words_for(sum->remaining_s, rest), mean, sum->done);
}

static void print_text(const struct sum *sum, const struct batch *batch)
{
    printf("%d scenes: %d done, %d failed, %d at work, %d left\n", batch->jobs.count, sum->done, sum->failed,
           sum->begun, sum->left);
    if (sum->perhaps > 0)
        printf("%d at work are so perhaps: begun on another machine, of which it cannot be told whether it was "
               "killed\n",
               sum->perhaps);
    print_failures(sum, batch);
    print_remaining(sum);
}

static json_t *failures_to_json(const struct sum *sum, const struct batch *batch)
{
    json_t *list = json_array();
    for (int n = 0; n < batch->jobs.count; n++)
        if (sum->told[n].state == BATCH_FAILED)
            json_append(&list, json_pack("{s:i, s:s, s:i, s:s}", "line", batch->jobs.scenes[n].line, "output",
                                         batch->jobs.scenes[n].output, "exit", exit_of(&sum->told[n]), "message",
                                         message_of(&sum->told[n])));
    return list;
}

static enum exit_code print_json(const struct sum *sum, const struct batch *batch, enum exit_code code)
{
    int damaged = 0;
    for (int n = 0; n < batch->history.source_count; n++)
        damaged += batch->history.sources[n].damaged;
    json_t *object = json_pack(
        "{s:s, s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:i, s:i}", "schema", "esra-batch-status-1", "scenes",
        batch->jobs.count, "done", sum->done, "failed", sum->failed, "at_work", sum->begun, "at_work_perhaps",
        sum->perhaps, "left", sum->left, "unattended", sum->unattended, "scene_s",
        number_to_json(sum->mean_s > 0 ? sum->mean_s : NAN), "remaining_s", number_to_json(sum->remaining_s),
        "failures", failures_to_json(sum, batch), "journals", batch->history.source_count, "damaged_lines", damaged);
    return print_object(object, JSON_STYLE, NAME, code);
}

/* ---- All of it ---- */

static esra_status sum_up(struct sum *sum, struct batch *batch)
{
    esra_status status = ESRA_OK;
    sum->told = calloc((size_t)batch->jobs.count, sizeof *sum->told);
    sum->writers = calloc((size_t)batch->history.source_count + 1, sizeof *sum->writers);
    if (!sum->told || !sum->writers)
        return esra_fail_memory(&batch->message);
    for (int n = 0; n < batch->jobs.count; n++)
        TRY(batch_history_find(&batch->history, &batch->jobs.scenes[n], &sum->told[n], &batch->message));
    count(sum, batch);
    foresee(sum, batch);
done:
    return status;
}

enum exit_code batch_status(struct batch *batch)
{
    struct sum sum = {0};
    enum exit_code code = EXIT_DONE;
    if (sum_up(&sum, batch) != ESRA_OK)
        code = complain(EXIT_LIMIT, NAME, "%s", batch->message.text);
    else {
        code = sum.left + sum.begun > 0 ? EXIT_UNFINISHED : sum.failed > 0 ? EXIT_SOME_FAILED : EXIT_DONE;
        if (batch->options.json)
            code = print_json(&sum, batch, code);
        else {
            print_text(&sum, batch);
            code = finish_stdout(code, NAME);
        }
    }
    free(sum.told);
    free(sum.writers);
    return code;
}
