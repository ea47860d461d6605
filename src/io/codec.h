/* io/codec.h - the codec table: what a format brings, and what decoders and encoders share. */
#ifndef ESRA_IO_CODEC_H
#define ESRA_IO_CODEC_H

#include "io/input.h"
#include "io/photo.h"

/* What a decoder works on. The photo is zeroed at first; on failure the caller frees it. */
struct decoding {
    struct input *input; /* at its first byte */
    const struct read_options *options;
    struct photo *photo;
    struct message *message;
    bool in_part;    /* what there is of a damaged file can be kept */
    int orientation; /* 1..8 as in EXIF where the decoder found it elsewhere; 0: EXIF decides; 1: already applied */
};

struct encoding {
    struct output *output;
    const struct photo *photo;
    int depth, quality;
    struct message *message;
};

struct codec {
    const char *name;
    const char *extensions; /* separated by spaces; the first is the usual one */
    const char *magic;      /* alternatives separated by '|'; '?' is any byte, '0' a zero byte */
    const char *needs;      /* "library (package)" of an optional module; NULL for those always built */
    esra_status (*decode)(struct decoding *);
    esra_status (*encode)(const struct encoding *);
    int depths;   /* that can be written, a sum of 8, 16, 32 */
    bool in_part; /* heeds tolerate_truncated */
    /* Refuses a photo whose sides, profile or EXIF a file of that name could not hold; NULL: any fits. */
    esra_status (*check)(const struct photo *, const char *name, struct message *);
};

esra_status esra_png_decode(struct decoding *decoding);
esra_status esra_png_encode(const struct encoding *encoding);
esra_status esra_jpeg_decode(struct decoding *decoding);
esra_status esra_jpeg_encode(const struct encoding *encoding);
esra_status esra_jpeg_check(const struct photo *photo, const char *name, struct message *message);
esra_status esra_tiff_decode(struct decoding *decoding);
esra_status esra_tiff_encode(const struct encoding *encoding);
esra_status esra_array_decode(struct decoding *decoding);
esra_status esra_array_encode(const struct encoding *encoding);
esra_status esra_heif_decode(struct decoding *decoding);
esra_status esra_raw_decode(struct decoding *decoding);

/* The row of a name, and its name; -1 and NULL where there is none. */
int esra_codec_number(const char *name);
const char *esra_codec_name(int number);

/* The row whose magic fits a file's first bytes, and that of a name or extension; NULL where there is none. */
const struct codec *esra_codec_of_head(const unsigned char *head, size_t size);
const struct codec *esra_codec_of_word(const char *word);

/* Decodes with that row, or explains which library is missing. */
esra_status esra_codec_decode(const struct codec *codec, struct decoding *decoding);

/* The same with the row of that name: for a container that turns out to hold something else. */
esra_status esra_codec_decode_as(const char *name, struct decoding *decoding);

/* Refuses what is over the limit or not a size at all. */
esra_status esra_decoding_check_size(struct decoding *decoding, int64_t width, int64_t height);

/* Takes memory for the pixels, unless the size is over the limit, not a size at all, or not accepted. The memory is not
 * touched: decoders write every sample, save that with tolerate_truncated it is zero, and what they leave out is black.
 * With head_only nothing is taken, and decoders go no further than this and the metadata. */
esra_status esra_decoding_claim(struct decoding *decoding, int64_t width, int64_t height, int channels);

/* "... is damaged": the library's own words in brackets. */
esra_status esra_decoding_damaged(struct decoding *decoding, const char *words);

esra_status esra_decoding_truncated(struct decoding *decoding);

/* "NAME is WHAT; ADVICE". */
esra_status esra_decoding_refuse(struct decoding *decoding, const char *what, const char *advice);

esra_status esra_decoding_transparent(struct decoding *decoding);

/* Refuses more metadata than allowed. */
esra_status esra_decoding_check_metadata(struct decoding *decoding, int64_t bytes);

/* The rest of the input, however much that is. */
esra_status esra_input_slurp(struct input *input, struct bytes *bytes, struct message *message);

/* The same within the limits, for libraries that want all of a file in memory. */
esra_status esra_decoding_slurp(struct decoding *decoding, struct bytes *bytes);

#endif
