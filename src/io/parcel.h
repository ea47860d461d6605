/* io/parcel.h - a photo decoded in a jail, and handed over by a pipe. */
#ifndef ESRA_IO_PARCEL_H
#define ESRA_IO_PARCEL_H

#include "io/jail.h"
#include "io/photo.h"

/* As esra_photo_read_input(), with the decoding done in a jail: what comes out is checked as if an enemy had sent it.
 */
esra_status esra_parcel_read(struct photo *photo, struct input *input, const struct read_options *options,
                             struct message *message);

/* What goes through the pipe first; then the profile, the EXIF block, the curves, and the planes of samples. */
struct parcel {
    uint32_t mark;
    int32_t status; /* an esra_status; unless it is ESRA_OK only the message counts, and nothing follows */
    int32_t width, height, channels, depth;
    int32_t format; /* a row of the codec table */
    int32_t orientation, incomplete;
    int32_t curves;     /* 1: there are any */
    uint64_t icc, exif; /* bytes */
    char profile_name[80];
    double primaries[9];
    char message[MESSAGE_SIZE];
};
#define PARCEL_MARK 0x31617265u

/* The receiving side alone. */
esra_status esra_parcel_receive(struct photo *photo, struct jail *jail, const struct read_options *options,
                                struct message *message);

#endif
