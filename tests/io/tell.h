/* tests/io/tell.h - reading and writing photos in tests: what goes wrong is told. */
#ifndef ESRA_TESTS_IO_TELL_H
#define ESRA_TESTS_IO_TELL_H

#include "made.h"

static inline bool read_photo(struct photo *photo, const char *path)
{
    struct message message = {""};
    esra_status status = esra_photo_read(photo, path, &strict, &message);
    if (status != ESRA_OK)
        printf("    %s\n", message.text);
    return CHECK(status == ESRA_OK);
}

static inline esra_status refused(const char *path, const char *words)
{
    struct photo photo;
    struct message message = {""};
    esra_status status = esra_photo_read(&photo, path, &strict, &message);
    if (!CHECK(status != ESRA_OK && strstr(message.text, words)))
        printf("    %s\n", message.text);
    esra_photo_free(&photo);
    return status;
}

static inline bool write_photo(const struct photo *photo, const char *path, int depth)
{
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    struct message message = {""};
    options.depth = depth;
    esra_status status = esra_photo_write(photo, path, &options, &message);
    if (status != ESRA_OK)
        printf("    %s\n", message.text);
    return CHECK(status == ESRA_OK);
}

#endif
