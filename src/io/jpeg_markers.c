/* io/jpeg_markers.c - a look over a JPEG's markers before libjpeg sees the file: a progressive file costs a pass over
 * all pixels for each of its scans, which may have a few bytes each. */
#include <stdio.h>
#include <string.h>

#include "io/jpeg.h"

struct walk {
    struct decoding *decoding;
    const unsigned char *at;
    size_t left;
    int64_t metadata;
    int scans;
};

/* The next byte, or -1 at the end. */
static esra_status next_byte(struct walk *walk, int *byte)
{
    *byte = -1;
    if (walk->left == 0) {
        esra_status status = esra_input_borrow(walk->decoding->input, &walk->at, &walk->left, walk->decoding->message);
        if (status != ESRA_OK || walk->left == 0)
            return status;
    }
    *byte = *walk->at++;
    walk->left--;
    return ESRA_OK;
}

static esra_status skip(struct walk *walk, int count)
{
    struct input *input = walk->decoding->input;
    if ((size_t)count <= walk->left) {
        walk->at += count;
        walk->left -= (size_t)count;
        return ESRA_OK;
    }
    int64_t position = input->position + count - (int64_t)walk->left;
    walk->left = 0;
    return esra_input_seek(input, position, walk->decoding->message);
}

/* Goes on to the next 0xff at hand, or past all that is. */
static void skip_to_mark(struct walk *walk)
{
    if (walk->left == 0)
        return;
    const unsigned char *found = memchr(walk->at, 0xff, walk->left);
    size_t passed = found ? (size_t)(found - walk->at) : walk->left;
    walk->at += passed;
    walk->left -= passed;
}

/* Goes on to the next marker: 0xff and a byte that is neither 0 (a stuffed byte) nor 0xff (filling); -1 at the end. */
static esra_status next_marker(struct walk *walk, int *marker)
{
    int before = 0;
    esra_status status = next_byte(walk, marker);
    while (status == ESRA_OK && *marker >= 0 && !(before == 0xff && *marker != 0 && *marker != 0xff)) {
        if (*marker != 0xff)
            skip_to_mark(walk);
        before = *marker;
        status = next_byte(walk, marker);
    }
    return status;
}

static esra_status check_scans(const struct walk *walk)
{
    int limit = walk->decoding->options->limits.scans;
    if (walk->scans <= limit)
        return ESRA_OK;
    return esra_fail(walk->decoding->message, ESRA_OVER_LIMIT,
                     "%s has more than %d scans; if it can be trusted, lift the limits with --no-limits",
                     walk->decoding->input->name, limit);
}

static esra_status visit_segment(struct walk *walk, int marker)
{
    int high, low;
    esra_status status;
    TRY(next_byte(walk, &high));
    TRY(next_byte(walk, &low));
    if (high < 0 || low < 0 || (high << 8 | low) < 2)
        return ESRA_OK;
    int length = (high << 8 | low) - 2;
    bool is_metadata = (marker >= 0xe0 && marker <= 0xef) || marker == JPEG_COM;
    walk->metadata += is_metadata ? length + 4 : 0;
    walk->scans += marker == 0xda;
    TRY(check_scans(walk));
    TRY(esra_decoding_check_metadata(walk->decoding, walk->metadata));
    TRY(skip(walk, length));
done:
    return status;
}

esra_status esra_jpeg_check_markers(struct decoding *decoding)
{
    struct walk walk = {.decoding = decoding};
    int marker;
    esra_status status;
    for (;;) {
        TRY(next_marker(&walk, &marker));
        if (marker < 0 || marker == JPEG_EOI)
            break;
        bool alone = marker == 0x01 || (marker >= JPEG_RST0 && marker <= 0xd8);
        if (!alone)
            TRY(visit_segment(&walk, marker));
    }
    TRY(esra_input_seek(decoding->input, 0, decoding->message));
done:
    return status;
}
