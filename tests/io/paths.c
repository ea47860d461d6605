/* tests/io/paths.c - lists of file names. */
#include "io/paths.h"

#include "made.h"

static void lists_are_expanded(void)
{
    struct paths paths;
    struct message message;
    char list[128];
    made_write(made_path("list.txt"), "one.png\r\n\ntwo with space.jpg\n@three\nlast", 40);
    snprintf(list, sizeof list, "@%s", made_path("list.txt"));
    const char *arguments[] = {"first.png", list, "-"};
    CHECK(esra_paths_expand(&paths, arguments, 3, 6, &message) == ESRA_OK);
    static const char *const wanted[] = {"first.png", "one.png", "two with space.jpg", "@three", "last", "-"};
    if (CHECK(paths.count == 6))
        for (int n = 0; n < 6; n++)
            CHECK_TEXT(paths.items[n], wanted[n]);
    esra_paths_free(&paths);
    CHECK(esra_paths_expand(&paths, arguments, 3, 5, &message) == ESRA_OVER_LIMIT);
    CHECK(paths.count == 0 && !paths.items);
}

static void other_lists_are_refused(void)
{
    struct paths paths;
    struct message message;
    static char noise[10000];
    char list[128];
    snprintf(list, sizeof list, "@%s", made_path("noise"));
    const char *arguments[] = {list};
    CHECK(esra_paths_expand(&paths, arguments, 1, 5, &message) == ESRA_NO_INPUT);
    memset(noise, 'x', sizeof noise);
    made_write(made_path("noise"), noise, sizeof noise);
    CHECK(esra_paths_expand(&paths, arguments, 1, 5, &message) == ESRA_BAD_DATA);
    made_write(made_path("noise"), "a\0b\n", 4);
    CHECK(esra_paths_expand(&paths, arguments, 1, 5, &message) == ESRA_BAD_DATA);
    made_write(made_path("noise"), "", 0);
    CHECK(esra_paths_expand(&paths, arguments, 1, 5, &message) == ESRA_OK && paths.count == 0);
    esra_paths_free(&paths);
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(lists_are_expanded);
    RUN(other_lists_are_refused);
    made_end();
    return check_report();
}
