/* io/tags.h - the structure that EXIF blocks (CIPA DC-008) and TIFF files (TIFF 6.0, section 2) share: a header "II*\0"
 * or "MM\0*" with the offset of the first directory; a directory is a count, that many entries of tag, type, count and
 * value (or the value's offset where it has more than four bytes), and the offset of the next directory. BigTIFF is the
 * same with wider numbers. No byte is read without a look at the size. */
#ifndef ESRA_IO_TAGS_H
#define ESRA_IO_TAGS_H

#include "io/codec.h"

enum tag {
    TAG_SUBFILE_TYPE = 254,
    TAG_PHOTOMETRIC = 262,
    TAG_DESCRIPTION = 270,
    TAG_MAKE = 271,
    TAG_MODEL = 272,
    TAG_STRIP_OFFSETS = 273,
    TAG_ORIENTATION = 274,
    TAG_STRIP_BYTES = 279,
    TAG_SOFTWARE = 305,
    TAG_DATE = 306,
    TAG_ARTIST = 315,
    TAG_TILE_OFFSETS = 324,
    TAG_TILE_BYTES = 325,
    TAG_SUB_DIRECTORIES = 330,
    TAG_THUMBNAIL = 0x0201,
    TAG_THUMBNAIL_BYTES = 0x0202,
    TAG_COPYRIGHT = 0x8298,
    TAG_PHOTO_DIRECTORY = 0x8769,
    TAG_GPS_DIRECTORY = 0x8825,
    TAG_TAKEN = 0x9003,
    TAG_TAKEN_PARTS = 0x9291,
    TAG_WIDTH = 0xa002,
    TAG_HEIGHT = 0xa003,
    TAG_INTEROPERABILITY = 0xa005,
    TAG_DNG_VERSION = 0xc612,
};

#define TYPE_ASCII 2
#define TYPE_SHORT 3
#define TYPE_LONG  4

/* Entries of a directory that is believed; the richest cameras write about a hundred. */
#define MAX_ENTRIES 4096

/* Either bytes in memory or an input: data or input, size and message are set by the caller, the rest by opening. */
struct source {
    const unsigned char *data;
    struct input *input;
    int64_t size;
    bool big, wide; /* big endian; BigTIFF */
    struct message *message;
    esra_status status; /* of the first reading that failed, its message set; none is tried after it */
};

struct entry {
    int tag, type;
    uint64_t count;
    int64_t at;       /* where the entry stands */
    int64_t value_at; /* where its value stands */
    uint64_t size;    /* bytes of the value */
};

/* A number of so many bytes. */
uint64_t esra_tags_load(const unsigned char *from, int size, bool big);
void esra_tags_save(unsigned char *to, uint64_t value, int size, bool big);

/* Whether that many bytes stand there. */
bool esra_tags_within(const struct source *source, int64_t at, uint64_t size);

/* False, here and below, where bytes are missing or make no sense, or where source->status says that they could not be
 * read. */
bool esra_tags_fetch(struct source *source, int64_t at, void *to, size_t size);
bool esra_tags_fetch_number(struct source *source, int64_t at, int size, uint64_t *value);

/* Offsets past INT64_MAX become -1, which is within nothing. */
int64_t esra_tags_offset(uint64_t value);

/* Reads the header; *first is the offset of the first directory. */
bool esra_tags_open(struct source *source, int64_t *first);

/* The same of a block in memory, which is never BigTIFF and has a directory. */
bool esra_tags_open_block(const struct bytes *exif, struct source *source, int64_t *first);

/* Bytes of a value's element, and of an entry. */
int esra_tags_type_size(int type);
int esra_tags_entry_size(const struct source *source);

/* Entries of a directory, by number and by tag; what is found by tag has its value within the source. */
bool esra_tags_count(struct source *source, int64_t directory, int *count);
bool esra_tags_read(struct source *source, int64_t directory, int index, struct entry *entry);
bool esra_tags_find(struct source *source, int64_t directory, int tag, struct entry *entry);

/* The first number of an entry, SHORT or LONG. */
bool esra_tags_number(struct source *source, const struct entry *entry, uint64_t *value);
bool esra_tags_find_number(struct source *source, int64_t directory, int tag, uint64_t *value);

#endif
