/* tests/fuzz/journals.c - journals of a batch that anybody may have written: two of them, divided by a line "--", about
 * a scene "a". Read in two pieces they must say what they say when read whole. */
#include <stdio.h>
#include <unistd.h>

#include "batch.h"
#include "fuzz.h"

#define JOURNALS 2
static const char *const names[JOURNALS] = {"journal.jsonl", "journal-1of2-x-1.jsonl"};
static char folder[] = "/tmp/esra-journals-XXXXXX";

/* What the history needs of other files: the scene has no inputs, and no journal is of this machine. */
const char *batch_input(const struct batch_scene *scene, int n)
{
    return scene->words[n];
}

void batch_host_name(char host[BATCH_HOST_SIZE])
{
    snprintf(host, BATCH_HOST_SIZE, "here");
}

static void remove_all(void)
{
    char path[128];
    for (int n = 0; n < JOURNALS; n++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[n]);
        unlink(path);
    }
    rmdir(folder);
}

static void put(int journal, const char *mode, const uint8_t *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, names[journal]);
    FILE *file = fopen(path, mode);
    MUST(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
}

static int state(struct batch_history *history, struct batch_scene *scene)
{
    struct message message = {""};
    struct batch_told told;
    MUST(batch_history_read(history, &message) == ESRA_OK);
    MUST(batch_history_find(history, scene, &told, &message) == ESRA_OK);
    MUST(told.state == BATCH_LEFT || (told.line && told.source >= 0 && told.source < JOURNALS));
    json_t *before = batch_history_before(history, scene);
    MUST(json_object_size(before) <= JOURNALS);
    json_decref(before);
    return (int)told.state;
}

/* The state after reading; halves: first only half of each is there. */
static int read_all(const uint8_t *const bytes[JOURNALS], const size_t sizes[JOURNALS], int halves)
{
    struct batch_history history;
    struct message message = {""};
    struct batch_scene scene = {.line = 1, .output = "a", .job = json_pack("{s:s}", "output", "a")};
    MUST(scene.job && batch_history_begin(&history, folder, &message) == ESRA_OK);
    for (int n = 0; n < JOURNALS; n++)
        put(n, "w", bytes[n], halves ? sizes[n] / 2 : sizes[n]);
    int found = state(&history, &scene);
    if (halves) {
        for (int n = 0; n < JOURNALS; n++)
            put(n, "a", bytes[n] + sizes[n] / 2, sizes[n] - sizes[n] / 2);
        found = state(&history, &scene);
    }
    batch_history_free(&history);
    json_decref(scene.job);
    json_decref(scene.inputs);
    return found;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static int made;
    if (!made) {
        MUST(mkdtemp(folder));
        atexit(remove_all);
        made = 1;
    }
    const uint8_t *const end = bytes + size;
    const uint8_t *middle = bytes;
    while (end - middle > 3 && memcmp(middle, "\n--\n", 4) != 0)
        middle++;
    int divided = end - middle > 3;
    const uint8_t *const parts[JOURNALS] = {bytes, divided ? middle + 4 : end};
    const size_t sizes[JOURNALS] = {divided ? (size_t)(middle + 1 - bytes) : size, (size_t)(end - parts[1])};
    MUST(read_all(parts, sizes, 0) == read_all(parts, sizes, 1));
    return 0;
}
