/* io/photo_file.c - a photo into a file of that name, which appears whole or not at all. */
#include "io/photo.h"

esra_status esra_photo_write(const struct photo *photo, const char *path, const struct write_options *options,
                             struct message *message)
{
    struct output output = {.fd = -1};
    esra_status status;
    TRY(esra_photo_check_write(path, options, message));
    TRY(esra_output_open(&output, path, message));
    TRY(esra_photo_write_output(photo, &output, path, options, message));
    TRY(esra_output_commit(&output, message));
    return ESRA_OK;
done:
    esra_output_discard(&output);
    return status;
}
