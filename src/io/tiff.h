/* io/tiff.h - what the files of the TIFF codec share. */
#ifndef ESRA_IO_TIFF_H
#define ESRA_IO_TIFF_H

#include <tiffio.h>

#include "io/codec.h"
#include "io/samples.h"

/* Zeroed to begin with. */
struct tiff_file {
    TIFF *tiff;
    TIFFOpenOptions *options;
    esra_status status; /* of what libtiff asked for, its message set */
    char words[128];    /* libtiff's first error, or warning that pixels are damaged */
};

/* Makes the options, in which errors and damage go to file->words and other warnings nowhere; false where memory is
 * short. */
bool esra_tiff_prepare(struct tiff_file *file);

/* Nothing to be done: for TIFFClientOpenExt(). */
int esra_tiff_on_close(thandle_t handle);

/* libtiff says so only in words. */
bool esra_tiff_memory_was_short(const struct tiff_file *file);

/* Harmless on a zeroed file. */
void esra_tiff_close(struct tiff_file *file);

/* Red, green, blue and one alpha. */
#define TIFF_CHANNELS 4

/* A photo that is being read, its head once known. */
struct tiff_reading {
    struct tiff_file file;
    struct decoding *decoding;
    uint32_t width, height;
    uint16_t bits, channels, planar, photometric;
    enum sample type;
    bool alpha, palette;
    uint16_t *map[3]; /* the palette's red, green and blue, and what they have for 1 */
    float map_full;
    unsigned char *buffer;
    int rows_done;
};

/* The file is damaged, or memory was short: with the message for it. */
esra_status esra_tiff_damaged(struct tiff_reading *job);

/* tiff_pixels.c: the pixels, or with tolerate_truncated what there is of them. */
esra_status esra_tiff_read_pixels(struct tiff_reading *job);

#endif
