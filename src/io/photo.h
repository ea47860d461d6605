/* io/photo.h - photos in and out of files and memory: the codec table's front. */
#ifndef ESRA_IO_PHOTO_H
#define ESRA_IO_PHOTO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/image.h"
#include "io/bytes.h"
#include "io/input.h"
#include "io/output.h"

struct photo {
    struct image pixels; /* code values as stored, 0..1 (a float file's may lie outside), 1 (grey) or 3 (RGB) channels,
                            upright: the orientation has been applied */
    int depth;           /* bits a sample in the file: 8, 16, or 32 for float */
    const char *format;  /* a name of the codec table, "PNG" */
    struct bytes icc;    /* the colour profile of the pixels; empty: none was given */
    struct bytes exif;   /* from its TIFF header on; orientation 1, no thumbnail, which would show the old picture */
    int orientation;     /* that has been applied, 1..8 as in EXIF; 1 also where the decoder turns the picture itself */
    bool incomplete;     /* damaged, and kept by tolerate_truncated: what is missing is black */
    /* With read_options.profile: */
    char profile_name[80]; /* its own description in plain ASCII, or "" */
    double *curves; /* owned: CURVE_CODES for each of curve_channels, the light in 0..1 of every 16-bit code; NULL:
                       the profile has no such curves */
    int curve_channels;
    double primaries[9]; /* with curves of three channels: X, Y, Z of linear R, G and B, as colour/primaries.h has them;
                            a stranger's numbers, not yet found usable */
};

#define CURVE_CODES 65536

/* Refused before memory is taken. */
struct limits {
    int64_t pixels;   /* of a photo */
    int64_t side;     /* pixels of its width, and of its height: decoders take memory for whole rows */
    int scans;        /* of a JPEG */
    int64_t metadata; /* bytes of all that is not pixels (profile, EXIF, XMP, text) */
    int64_t stream;   /* bytes kept of a pipe, or of a file whose library wants it whole; 0: no limit */
    int photos;       /* of a command */
    int seconds;      /* of decoding a photo that is not trusted; 0: no limit */
};

/* 200 MP: the largest that phones take have 199.8; a million a side: libpng's number; 100 scans: that of libtiff's
 * JPEG, and encoders use about ten; 16 MiB: profiles of printers have up to a few; 1 GiB; 256 photos: more than anyone
 * takes of one glass; 120 s: ten times what the largest takes. */
#define LIMITS_DEFAULT                                                                                                 \
    {                                                                                                                  \
        200 * INT64_C(1000000), 1000000, 100, INT64_C(16) << 20, INT64_C(1) << 30, 256, 120                            \
    }

/* What --no-limits sets: only addresses limit. */
#define LIMITS_NONE                                                                                                    \
    {                                                                                                                  \
        INT64_MAX, INT32_MAX, INT32_MAX, INT64_MAX, 0, INT32_MAX, 0                                                    \
    }

/* Asked before memory is taken for pixels, of an image without them: its size as it is stored, which the orientation
 * may still turn. Anything but ESRA_OK, the message set, refuses the photo. */
typedef esra_status photo_accept(void *user, const struct image *size, struct message *message);

struct read_options {
    struct limits limits;
    bool tolerate_truncated; /* keep what can be decoded of a damaged file */
    bool head_only;          /* all but the pixels, whose data stays NULL */
    bool profile;            /* look into the colour profile */
    bool untrusted;          /* decode in a process that can do nothing else (doc/trust.md) */
    bool offers_tolerance;   /* who reads a message may ask for tolerate_truncated: it then says so */
    photo_accept *accept;    /* NULL: any size within the limits will do */
    void *accept_user;
};
#define READ_OPTIONS_DEFAULT                                                                                           \
    {                                                                                                                  \
        LIMITS_DEFAULT, false, false, false, false, false, NULL, NULL                                                  \
    }

/* Whether this build can read what is not trusted: it needs libseccomp. */
bool esra_photo_can_distrust(void);

/* Reads the file ("-": standard input), whatever its name says it is: its first bytes decide. */
esra_status esra_photo_read(struct photo *photo, const char *path, const struct read_options *options,
                            struct message *message);

/* The same from a file's bytes in memory, which are only borrowed; name stands in messages for that of the file. */
esra_status esra_photo_decode(struct photo *photo, const void *bytes, size_t size, const char *name,
                              const struct read_options *options, struct message *message);

/* The same from an input that is open and at its first byte. It stays open. */
esra_status esra_photo_read_input(struct photo *photo, struct input *input, const struct read_options *options,
                                  struct message *message);

/* Light in 0..1 of a 16-bit code in 0..1 by the curves of a struct photo, as colour/light.h's light_curve. */
double esra_photo_curve(const void *photo, int channel, double code);

/* Frees and zeroes; harmless on a zeroed photo. */
void esra_photo_free(struct photo *photo);

struct write_options {
    const char *format; /* a name or an extension of the codec table, any case; NULL: the path's extension decides */
    int depth;          /* 8, 16, 32 (float: TIFF and NPY alone); 0: the photo's own or, where the format has no such
                           depth, the nearest it has */
    int quality;        /* of JPEG, 1..100 */
};
/* 95: the highest that libjpeg's manual recommends. */
#define WRITE_OPTIONS_DEFAULT                                                                                          \
    {                                                                                                                  \
        NULL, 0, 95                                                                                                    \
    }

/* ESRA_BAD_ARGUMENT, saying why, where the photo cannot be written to this path in this way; to be asked before work
 * begins. */
esra_status esra_photo_check_write(const char *path, const struct write_options *options, struct message *message);

/* ESRA_BAD_DATA, saying why, where a file of that format cannot hold so many pixels a side, or the profile or the EXIF
 * of this photo, whose pixels need not be there yet. */
esra_status esra_photo_check_fits(const struct photo *photo, const char *path, const struct write_options *options,
                                  struct message *message);

/* Encodes pixels (clipped to 0..1 unless float), profile and EXIF. The file at path appears whole or not at all. */
esra_status esra_photo_write(const struct photo *photo, const char *path, const struct write_options *options,
                             struct message *message);

/* Encodes to the bytes of such a file, for esra_bytes_free(); options->format must be given. */
esra_status esra_photo_encode(const struct photo *photo, const struct write_options *options, struct bytes *file,
                              struct message *message);

/* Encodes to an output that is open; path only decides the format. Nothing is committed. */
esra_status esra_photo_write_output(const struct photo *photo, struct output *output, const char *path,
                                    const struct write_options *options, struct message *message);

/* "png, jpg, ..." of what can be read (or with writing: written) by this build, for help texts. */
void esra_photo_formats(bool writing, char *text, size_t size);

#endif
