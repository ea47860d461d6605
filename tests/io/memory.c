/* tests/io/memory.c - photos from and to memory: what comes of a file's bytes is what comes of the file, whole or cut
 * off anywhere, and what is encoded is what is written. */
#define _GNU_SOURCE
#include "tried.h"

static bool same_photo(const struct photo *a, const struct photo *b)
{
    size_t count = (size_t)a->pixels.width * (size_t)a->pixels.height * (size_t)a->pixels.channels;
    if (a->pixels.width != b->pixels.width || a->pixels.height != b->pixels.height ||
        a->pixels.channels != b->pixels.channels || a->depth != b->depth || strcmp(a->format, b->format) != 0)
        return false;
    return memcmp(a->pixels.data, b->pixels.data, count * sizeof(float)) == 0 && made_same(&a->icc, &b->icc) &&
           made_same(&a->exif, &b->exif) && a->incomplete == b->incomplete && a->orientation == b->orientation;
}

/* The same verdict in the same words, and the same photo. */
static bool compare(const unsigned char *bytes, size_t size, const struct read_options *options)
{
    struct photo from_file, from_memory;
    struct message file_message = {""}, memory_message = {""};
    const char *path = in_memory(bytes, size);
    /* Just as long as what is told, so that a sanitizer sees a step past its end. */
    unsigned char *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    esra_status file = esra_photo_read(&from_file, path, options, &file_message);
    esra_status memory = esra_photo_decode(&from_memory, copy, size, path, options, &memory_message);
    bool same = file == memory && strcmp(file_message.text, memory_message.text) == 0 &&
                (file != ESRA_OK || same_photo(&from_file, &from_memory));
    if (!same)
        printf("    of %zu bytes: '%s' from a file, '%s' from memory\n", size, file_message.text, memory_message.text);
    free(copy);
    esra_photo_free(&from_file);
    esra_photo_free(&from_memory);
    return same;
}

static void try_every_length(const char *name, const unsigned char *bytes, size_t size)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    options.limits.pixels = 1000000;
    for (size_t length = 0; length <= size; length++) {
        options.tolerate_truncated = length % 2;
        if (!CHECK(compare(bytes, length, &options))) {
            printf("    %s, cut off\n", name);
            break;
        }
    }
}

static void any_length_has_the_same_verdict(void)
{
    for (int n = 0; n < SAMPLES; n++)
        try_every_length(samples[n].name, samples[n].bytes.data, samples[n].bytes.size);
}

/* A window larger than any is read at once. */
static void large_photos_are_the_same(void)
{
    static const char *const formats[] = {"png", "jpg", "tif", "npy"};
    struct photo photo = made_photo(301, 233, 3, 16);
    for (int n = 0; n < 4; n++) {
        struct write_options options = WRITE_OPTIONS_DEFAULT;
        struct read_options read = READ_OPTIONS_DEFAULT;
        struct bytes file = {0};
        struct message message = {""};
        options.format = formats[n];
        CHECK(esra_photo_encode(&photo, &options, &file, &message) == ESRA_OK && file.size > 1 << 16);
        CHECK(compare(file.data, file.size, &read));
        CHECK(compare(file.data, file.size / 2, &read));
        esra_bytes_free(&file);
    }
    esra_photo_free(&photo);
}

static void bytes_are_those_of_the_file(void)
{
    static const char *const formats[] = {"png", "jpg", "tif", "npy"};
    struct photo photo = made_photo(13, 9, 3, 8);
    struct message message = {""};
    photo.icc = made_profile(3, cmsBuildGamma(NULL, 2.2));
    photo.exif = made_exif(1, false);
    for (int n = 0; n < 4; n++) {
        struct write_options options = WRITE_OPTIONS_DEFAULT;
        struct bytes memory = {0}, file;
        options.format = formats[n];
        CHECK(esra_photo_encode(&photo, &options, &memory, &message) == ESRA_OK);
        CHECK(esra_photo_write(&photo, made_path("written"), &options, &message) == ESRA_OK);
        file = made_load(made_path("written"));
        CHECK(made_same(&memory, &file));
        esra_bytes_free(&memory);
        esra_bytes_free(&file);
    }
    esra_photo_free(&photo);
}

static void formats_are_asked_for(void)
{
    struct photo photo = made_photo(3, 3, 1, 8);
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    struct bytes file = {0};
    struct message message = {""};
    CHECK(esra_photo_encode(&photo, &options, &file, &message) == ESRA_BAD_ARGUMENT && !file.data);
    options.format = "heic";
    CHECK(esra_photo_encode(&photo, &options, &file, &message) == ESRA_BAD_ARGUMENT &&
          strstr(message.text, "cannot be written"));
    esra_photo_free(&photo);
}

/* The jail is given a descriptor, whatever the photo came from. */
static void untrusted_bytes_are_decoded_apart(void)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    struct photo photo;
    struct message message = {""};
    options.untrusted = true;
    esra_status status =
        esra_photo_decode(&photo, samples[0].bytes.data, samples[0].bytes.size, "lent", &options, &message);
    CHECK(status == (esra_photo_can_distrust() ? ESRA_OK : ESRA_BAD_ARGUMENT));
    CHECK(status != ESRA_OK || (photo.pixels.height == 13 && photo.icc.size > 0));
    esra_photo_free(&photo);
    if (!esra_photo_can_distrust())
        return;
    CHECK(esra_photo_decode(&photo, "hello", 5, "lent", &options, &message) == ESRA_BAD_DATA &&
          strstr(message.text, "lent is no"));
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    make_samples();
    RUN(any_length_has_the_same_verdict);
    RUN(large_photos_are_the_same);
    RUN(bytes_are_those_of_the_file);
    RUN(formats_are_asked_for);
    RUN(untrusted_bytes_are_decoded_apart);
    free_samples();
    made_end();
    return check_report();
}
