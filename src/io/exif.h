/* io/exif.h - the EXIF block: a TIFF structure of tags without pixels, that begins with its own header. */
#ifndef ESRA_IO_EXIF_H
#define ESRA_IO_EXIF_H

#include "io/codec.h"

/* Resets the orientation to 1 and cuts off the thumbnail, in place, all other bytes as they were. Returns the
 * orientation that stood there, 1 where none did. A block that is not EXIF is emptied. */
int esra_exif_settle(struct bytes *exif);

/* Exchanges the width and height that the block tells, for a picture turned by a quarter. */
void esra_exif_swap_sides(struct bytes *exif);

/* Gathers the tags of a TIFF file's first directory that describe the photo, its EXIF and its GPS directory, into a
 * block. Checks on the way that all of the directory lies within the file and metadata within its limit. BigTIFF is
 * checked, and gives no block. *is_raw is set where the tags are those of camera RAW. */
esra_status esra_exif_from_tiff(struct decoding *decoding, struct bytes *exif, bool *is_raw);

/* Appends the block's tags to a classic TIFF file in memory that was written in the block's byte order, and whose first
 * directory has entries EXIFIFD and, if the block has one, GPSIFD, and of the copyright at least the beginning. */
esra_status esra_exif_into_tiff(const struct bytes *exif, struct bytes *tiff, struct message *message);

bool esra_exif_big_endian(const struct bytes *exif);

/* Which directories the block has. */
bool esra_exif_has_photo(const struct bytes *exif);
bool esra_exif_has_gps(const struct bytes *exif);

/* The text of an ASCII tag in the block's first directory, cut to size; "" where there is none. */
void esra_exif_text(const struct bytes *exif, int tag, char *text, size_t size);

/* When the shutter opened, "2024:05:17 14:03:22.125" with as many digits of the second as there are; "" where the block
 * does not say. Texts of one camera sort as the photos were taken. */
void esra_exif_taken(const struct bytes *exif, char *text, size_t size);

#endif
