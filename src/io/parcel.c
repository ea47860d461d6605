/* io/parcel.c - a photo decoded in a jail, and handed over by a pipe. The decoder may have been taken over by the file
 * it read: nothing that it sends is believed. Sizes are checked against the limits before memory is taken, words
 * against their tables, samples against their range. */
#define _GNU_SOURCE
#include "io/parcel.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/codec.h"

/* Bytes that a decoder may take for each pixel: 12 for the samples, 12 while turning them, and up to 40 of its own
 * (RAW: sensor, four interpolated planes, result). */
#define BYTES_PER_PIXEL 64

/* ... and for whatever it decodes: code, tables, stacks of threads. */
#define BYTES_ANYWAY (INT64_C(1) << 30)

/* ---- Sending ---- */

struct order {
    struct input *input;
    const struct read_options *options;
};

static size_t sample_count(const struct image *pixels)
{
    return (size_t)pixels->width * (size_t)pixels->height * (size_t)pixels->channels;
}

static struct parcel describe(const struct photo *photo, esra_status status, const struct message *message)
{
    struct parcel parcel = {.mark = PARCEL_MARK, .status = (int32_t)status};
    memcpy(parcel.message, message->text, sizeof parcel.message);
    if (status != ESRA_OK)
        return parcel;
    parcel.width = photo->pixels.width;
    parcel.height = photo->pixels.height;
    parcel.channels = photo->pixels.channels;
    parcel.depth = photo->depth;
    parcel.format = esra_codec_number(photo->format);
    parcel.orientation = photo->orientation;
    parcel.incomplete = photo->incomplete;
    parcel.curves = photo->curves != NULL;
    parcel.icc = photo->icc.size;
    parcel.exif = photo->exif.size;
    memcpy(parcel.profile_name, photo->profile_name, sizeof parcel.profile_name);
    memcpy(parcel.primaries, photo->primaries, sizeof parcel.primaries);
    return parcel;
}

static void decode_and_send(void *user, int input, int reply)
{
    struct order *order = user;
    struct read_options options = *order->options;
    struct photo photo;
    struct message message = {""};
    order->input->fd = input;
    options.accept = NULL; /* the receiver asks: it may need what a jail forbids */
    esra_status status = esra_photo_read_input(&photo, order->input, &options, &message);
    struct parcel parcel = describe(&photo, status, &message);
    bool sent = esra_jail_reply(reply, &parcel, sizeof parcel);
    sent = sent && esra_jail_reply(reply, photo.icc.data, photo.icc.size);
    sent = sent && esra_jail_reply(reply, photo.exif.data, photo.exif.size);
    if (sent && photo.curves)
        sent = esra_jail_reply(reply, photo.curves, (size_t)parcel.channels * CURVE_CODES * sizeof *photo.curves);
    if (sent && photo.pixels.data)
        esra_jail_reply(reply, photo.pixels.data, sample_count(&photo.pixels) * sizeof(float));
}

/* ---- Receiving ---- */

static esra_status nonsense(const struct jail *jail, struct message *message)
{
    return esra_fail(message, ESRA_BAD_DATA, "%s cannot be decoded: the decoder's answer makes no sense", jail->name);
}

/* What an honest decoder may report. */
static bool is_failure(int32_t status)
{
    return status == ESRA_BAD_DATA || status == ESRA_OUT_OF_MEMORY || status == ESRA_OVER_LIMIT ||
           status == ESRA_IO_ERROR;
}

static bool ends(const char *text, size_t size)
{
    return memchr(text, '\0', size) != NULL;
}

/* Ends, and has nothing that would steer a terminal. (Messages, which name files, may hold any bytes: complain() sees
 * to that.) */
static bool is_plain(const char *text, size_t size)
{
    for (size_t n = 0; n < size && (text[n] == '\0' || (text[n] >= ' ' && text[n] <= '~')); n++)
        if (text[n] == '\0')
            return true;
    return false;
}

static bool is_flag(int32_t value)
{
    return value == 0 || value == 1;
}

static bool size_fits(const struct parcel *parcel, const struct limits *limits)
{
    return parcel->width >= 1 && parcel->height >= 1 && parcel->width <= limits->side &&
           parcel->height <= limits->side && parcel->width <= limits->pixels / parcel->height &&
           (parcel->channels == 1 || parcel->channels == 3);
}

static bool metadata_fits(const struct parcel *parcel, const struct limits *limits)
{
    uint64_t most = (uint64_t)limits->metadata;
    return parcel->icc <= most && parcel->exif <= most - parcel->icc &&
           is_plain(parcel->profile_name, sizeof parcel->profile_name);
}

static bool is_possible(const struct parcel *parcel, const struct read_options *options)
{
    return size_fits(parcel, &options->limits) && metadata_fits(parcel, &options->limits) &&
           (parcel->depth == 8 || parcel->depth == 16 || parcel->depth == 32) && esra_codec_name(parcel->format) &&
           parcel->orientation >= 1 && parcel->orientation <= 8 && is_flag(parcel->incomplete) &&
           is_flag(parcel->curves) && (!parcel->incomplete || options->tolerate_truncated) &&
           (!parcel->curves || (options->profile && parcel->icc > 0));
}

static esra_status receive_bytes(struct bytes *bytes, uint64_t size, struct jail *jail, struct message *message)
{
    if (size == 0)
        return ESRA_OK;
    bytes->data = malloc(size);
    if (!bytes->data)
        return esra_fail_memory(message);
    bytes->size = size;
    return esra_jail_receive(jail, bytes->data, size, message);
}

static esra_status receive_curves(struct photo *photo, int channels, struct jail *jail, struct message *message)
{
    size_t size = (size_t)channels * CURVE_CODES * sizeof *photo->curves;
    photo->curves = malloc(size);
    photo->curve_channels = channels;
    return photo->curves ? esra_jail_receive(jail, photo->curves, size, message) : esra_fail_memory(message);
}

/* Integers become 0..1; floats may lie outside, but are numbers. */
static bool samples_are_possible(const float *samples, size_t count, int depth)
{
    size_t wrong = 0;
    for (size_t n = 0; n < count; n++)
        wrong += depth == 32 ? !isfinite(samples[n]) : !(samples[n] >= 0 && samples[n] <= 1);
    return wrong == 0;
}

static esra_status receive_samples(struct photo *photo, struct jail *jail, struct message *message)
{
    struct image *pixels = &photo->pixels;
    size_t count = sample_count(pixels);
    esra_status status;
    pixels->data = esra_allocate_untouched((size_t)pixels->width * (size_t)pixels->height,
                                           (size_t)pixels->channels * sizeof *pixels->data);
    if (!pixels->data)
        return esra_fail_memory(message);
    TRY(esra_jail_receive(jail, pixels->data, count * sizeof *pixels->data, message));
    if (!samples_are_possible(pixels->data, count, photo->depth))
        return nonsense(jail, message);
done:
    return status;
}

static esra_status receive_head(struct parcel *parcel, struct jail *jail, const struct read_options *options,
                                struct message *message)
{
    esra_status status;
    TRY(esra_jail_receive(jail, parcel, sizeof *parcel, message));
    if (parcel->mark != PARCEL_MARK)
        return nonsense(jail, message);
    if (is_failure(parcel->status) && ends(parcel->message, sizeof parcel->message))
        return esra_fail(message, (esra_status)parcel->status, "%s", parcel->message);
    if (parcel->status != ESRA_OK || !is_possible(parcel, options))
        return nonsense(jail, message);
done:
    return status;
}

esra_status esra_parcel_receive(struct photo *photo, struct jail *jail, const struct read_options *options,
                                struct message *message)
{
    struct parcel parcel;
    esra_status status;
    *photo = (struct photo){0};
    TRY(receive_head(&parcel, jail, options, message));
    photo->pixels = (struct image){.width = parcel.width, .height = parcel.height, .channels = parcel.channels};
    photo->depth = parcel.depth;
    photo->format = esra_codec_name(parcel.format);
    photo->orientation = parcel.orientation;
    photo->incomplete = parcel.incomplete;
    memcpy(photo->profile_name, parcel.profile_name, sizeof photo->profile_name);
    memcpy(photo->primaries, parcel.primaries, sizeof photo->primaries);
    if (options->accept)
        TRY(options->accept(options->accept_user, &photo->pixels, message));
    TRY(receive_bytes(&photo->icc, parcel.icc, jail, message));
    TRY(receive_bytes(&photo->exif, parcel.exif, jail, message));
    if (parcel.curves)
        TRY(receive_curves(photo, parcel.channels, jail, message));
    if (!options->head_only)
        TRY(receive_samples(photo, jail, message));
    TRY(esra_jail_finish(jail, message));
    return ESRA_OK;
done:
    esra_photo_free(photo);
    return status;
}

/* ---- The whole ---- */

static esra_status decode_apart(struct photo *photo, struct input *input, const struct read_options *options,
                                int64_t memory, struct message *message)
{
    struct order order = {input, options};
    struct jail_limits limits = {memory, options->limits.seconds};
    struct jail jail;
    struct jail_input file = {input->fd, input->name};
    esra_status status = esra_jail_start(&jail, file, &limits, decode_and_send, &order, message);
    if (status == ESRA_OK)
        status = esra_parcel_receive(photo, &jail, options, message);
    esra_jail_end(&jail);
    return status;
}

/* All of the pipe, piece by piece, so that it is never in memory twice. */
static esra_status pour(struct input *pipe, struct input *file, struct message *message)
{
    const unsigned char *bytes;
    size_t count;
    esra_status status;
    for (;;) {
        TRY(esra_input_borrow(pipe, &bytes, &count, message));
        if (count == 0)
            break;
        file->size += (int64_t)count;
        TRY(esra_input_check_kept(pipe, file->size, message));
        if (!esra_jail_reply(file->fd, bytes, count))
            return esra_fail(message, ESRA_IO_ERROR, "reading %s broke off: %s", pipe->name, strerror(errno));
    }
done:
    return status;
}

/* What is not a file is emptied into one in memory: a pipe can then be read twice, and the clock of the jail does not
 * run while somebody types; a caller's bytes become a descriptor that the jail may read. */
static esra_status spool(struct input *input, const struct limits *limits, struct message *message)
{
    struct input file = {.fd = memfd_create("photo", MFD_CLOEXEC), .name = input->name};
    if (file.fd < 0)
        return esra_fail(message, ESRA_IO_ERROR, "reading %s broke off: %s", input->name, strerror(errno));
    input->keep_limit = limits->stream;
    esra_status status = pour(input, &file, message);
    esra_input_close(input);
    *input = file;
    return status;
}

/* The head first, in a jail of its own, since it says how much memory the rest may take. */
esra_status esra_parcel_read(struct photo *photo, struct input *input, const struct read_options *options,
                             struct message *message)
{
    struct read_options head = *options;
    esra_status status;
    *photo = (struct photo){0};
    if (input->pipe || input->in_memory)
        TRY(spool(input, &options->limits, message));
    bool limited = options->limits.seconds > 0; /* --no-limits lifts this one too */
    int64_t memory = limited ? BYTES_ANYWAY + 2 * input->size : 0;
    head.head_only = true;
    TRY(decode_apart(photo, input, &head, memory, message));
    if (options->head_only)
        return ESRA_OK;
    if (limited)
        memory += (int64_t)BYTES_PER_PIXEL * photo->pixels.width * photo->pixels.height;
    esra_photo_free(photo);
    TRY(decode_apart(photo, input, options, memory, message));
done:
    return status;
}
