/* tests/fuzz/replay.c - feeds the files of a folder to a fuzz target: what was once found stays found, with any
 * compiler. usage: replay FOLDER */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static uint8_t *load(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    struct stat stat;
    MUST(file && fstat(fileno(file), &stat) == 0);
    *size = (size_t)stat.st_size;
    /* Just as long as the file, so that a sanitizer sees a step past its end. */
    uint8_t *bytes = malloc(*size ? *size : 1);
    MUST(bytes && fread(bytes, 1, *size, file) == *size);
    fclose(file);
    return bytes;
}

int main(int argc, char **argv)
{
    struct dirent **names;
    char path[4096];
    int fed = 0, count = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1;
    if (count < 0) {
        fprintf(stderr, "usage: replay FOLDER, of files to be fed to the target\n");
        return 64;
    }
    for (int n = 0; n < count; n++) {
        if (names[n]->d_name[0] != '.') {
            size_t size;
            snprintf(path, sizeof path, "%s/%s", argv[1], names[n]->d_name);
            uint8_t *bytes = load(path, &size);
            printf("%s (%zu bytes)\n", names[n]->d_name, size);
            fflush(stdout);
            LLVMFuzzerTestOneInput(bytes, size);
            free(bytes);
            fed++;
        }
        free(names[n]);
    }
    free(names);
    printf("%d inputs did no harm\n", fed);
    return fed == 0;
}
