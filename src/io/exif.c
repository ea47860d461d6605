/* io/exif.c - the EXIF block (CIPA DC-008) and its like in TIFF files (TIFF 6.0, section 2): a header "II*\0" or
 * "MM\0*" with the offset of the first directory; a directory is a count, that many entries of tag, type, count and
 * value (or the value's offset where it has more than four bytes), and the offset of the next directory. BigTIFF is the
 * same with wider numbers.
 *
 * A block that stays a block is only patched in place, and so keeps what no library would write back: maker notes and
 * unknown tags, whose offsets stay right because nothing moves. Blocks come from strangers: no byte is read without a
 * look at the size. */
#include "io/exif.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

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
    TAG_WIDTH = 0xa002,
    TAG_HEIGHT = 0xa003,
    TAG_INTEROPERABILITY = 0xa005,
    TAG_DNG_VERSION = 0xc612,
};

#define TYPE_ASCII 2
#define TYPE_SHORT 3
#define TYPE_LONG  4

#define PHOTOMETRIC_COLOUR_FILTER_ARRAY 32803

/* Entries of a directory that is believed; the richest cameras write about a hundred. */
#define MAX_ENTRIES 4096

/* Either bytes in memory or an input. */
struct source {
    const unsigned char *data;
    struct input *input;
    int64_t size;
    bool big, wide; /* big endian; BigTIFF */
    struct message *message;
};

struct entry {
    int tag, type;
    uint64_t count;
    int64_t at;       /* where the entry stands */
    int64_t value_at; /* where its value stands */
    uint64_t size;    /* bytes of the value */
};

/* ---- Numbers ---- */

static uint64_t load(const unsigned char *from, int size, bool big)
{
    uint64_t value = 0;
    for (int n = 0; n < size; n++)
        value = value << 8 | from[big ? n : size - 1 - n];
    return value;
}

static void save(unsigned char *to, uint64_t value, int size, bool big)
{
    for (int n = 0; n < size; n++, value >>= 8)
        to[big ? size - 1 - n : n] = (unsigned char)(value & 0xff);
}

static bool within(const struct source *source, int64_t at, uint64_t size)
{
    return at >= 0 && at <= source->size && size <= (uint64_t)(source->size - at);
}

static bool fetch(const struct source *source, int64_t at, void *to, size_t size)
{
    size_t got = 0;
    if (!within(source, at, size))
        return false;
    if (!source->input) {
        memcpy(to, source->data + at, size);
        return true;
    }
    return esra_input_seek(source->input, at, source->message) == ESRA_OK &&
           esra_input_take(source->input, to, size, &got, source->message) == ESRA_OK && got == size;
}

static bool fetch_number(const struct source *source, int64_t at, int size, uint64_t *value)
{
    unsigned char bytes[8];
    if (!fetch(source, at, bytes, (size_t)size))
        return false;
    *value = load(bytes, size, source->big);
    return true;
}

/* ---- Directories ---- */

/* Offsets past INT64_MAX become -1, which is within nothing. */
static int64_t offset_of(uint64_t value)
{
    return value > INT64_MAX ? -1 : (int64_t)value;
}

/* Reads the header; *first is the offset of the first directory. */
static bool open_source(struct source *source, int64_t *first)
{
    unsigned char head[16] = {0};
    if (!fetch(source, 0, head, 8))
        return false;
    source->big = head[0] == 'M';
    uint64_t version = load(head + 2, 2, source->big);
    if (head[0] != head[1] || (head[0] != 'I' && head[0] != 'M') || (version != 42 && version != 43))
        return false;
    source->wide = version == 43;
    if (source->wide && !fetch(source, 0, head, 16))
        return false;
    *first = offset_of(source->wide ? load(head + 8, 8, source->big) : load(head + 4, 4, source->big));
    return true;
}

static int type_size(int type)
{
    static const int sizes[] = {1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1, 1, 8, 8, 8};
    return type >= 0 && type < (int)(sizeof sizes / sizeof sizes[0]) ? sizes[type] : 1;
}

static int entry_size(const struct source *source)
{
    return source->wide ? 20 : 12;
}

static bool count_entries(const struct source *source, int64_t directory, int *count)
{
    uint64_t number;
    if (!fetch_number(source, directory, source->wide ? 8 : 2, &number) || number > MAX_ENTRIES)
        return false;
    *count = (int)number;
    return true;
}

static bool read_entry(const struct source *source, int64_t directory, int index, struct entry *entry)
{
    unsigned char bytes[20];
    int inside = source->wide ? 8 : 4; /* bytes of a value that stands in the entry itself */
    entry->at = directory + (source->wide ? 8 : 2) + (int64_t)index * entry_size(source);
    if (!fetch(source, entry->at, bytes, (size_t)entry_size(source)))
        return false;
    entry->tag = (int)load(bytes, 2, source->big);
    entry->type = (int)load(bytes + 2, 2, source->big);
    entry->count = load(bytes + 4, inside, source->big);
    if (__builtin_mul_overflow(entry->count, (uint64_t)type_size(entry->type), &entry->size))
        entry->size = UINT64_MAX;
    entry->value_at = entry->size <= (uint64_t)inside ? entry->at + 4 + inside
                                                      : offset_of(load(bytes + 4 + inside, inside, source->big));
    return true;
}

static bool find_entry(const struct source *source, int64_t directory, int tag, struct entry *entry)
{
    int count;
    if (!count_entries(source, directory, &count))
        return false;
    for (int n = 0; n < count; n++) {
        if (!read_entry(source, directory, n, entry))
            return false;
        if (entry->tag == tag)
            return within(source, entry->value_at, entry->size);
    }
    return false;
}

/* The first number of an entry, SHORT or LONG. */
static bool entry_number(const struct source *source, const struct entry *entry, uint64_t *value)
{
    bool whole = entry->type == TYPE_SHORT || entry->type == TYPE_LONG || entry->type == 13 || entry->type == 16 ||
                 entry->type == 18;
    return whole && entry->count >= 1 && fetch_number(source, entry->value_at, type_size(entry->type), value);
}

static bool find_number(const struct source *source, int64_t directory, int tag, uint64_t *value)
{
    struct entry entry;
    return find_entry(source, directory, tag, &entry) && entry_number(source, &entry, value);
}

/* ---- Blocks in memory ---- */

static bool open_block(const struct bytes *exif, struct source *source, int64_t *first)
{
    int count;
    *source = (struct source){.data = exif->data, .size = (int64_t)exif->size};
    return exif->data && open_source(source, first) && !source->wide && count_entries(source, *first, &count);
}

/* The thumbnail shows what the photo was before; its directory is unlinked and its picture wiped. */
static void drop_thumbnail(struct bytes *exif, const struct source *source, int64_t first)
{
    int count = 0;
    uint64_t next, at, size;
    count_entries(source, first, &count);
    int64_t link = first + 2 + (int64_t)count * 12;
    if (!fetch_number(source, link, 4, &next) || next == 0)
        return;
    if (find_number(source, (int64_t)next, TAG_THUMBNAIL, &at) &&
        find_number(source, (int64_t)next, TAG_THUMBNAIL_BYTES, &size) && within(source, (int64_t)at, size) &&
        (int64_t)at >= link + 4)
        memset(exif->data + at, 0, size);
    save(exif->data + link, 0, 4, source->big);
}

int esra_exif_settle(struct bytes *exif)
{
    struct source source;
    struct entry entry;
    int64_t first;
    uint64_t orientation = 1;
    if (!open_block(exif, &source, &first)) {
        esra_bytes_free(exif);
        return 1;
    }
    if (find_entry(&source, first, TAG_ORIENTATION, &entry) && entry_number(&source, &entry, &orientation))
        save(exif->data + entry.value_at, 1, type_size(entry.type), source.big);
    drop_thumbnail(exif, &source, first);
    return orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
}

void esra_exif_swap_sides(struct bytes *exif)
{
    struct source source;
    struct entry width, height;
    int64_t first;
    uint64_t photo, w, h;
    if (!open_block(exif, &source, &first) || !find_number(&source, first, TAG_PHOTO_DIRECTORY, &photo) ||
        !find_entry(&source, (int64_t)photo, TAG_WIDTH, &width) ||
        !find_entry(&source, (int64_t)photo, TAG_HEIGHT, &height) || width.type != height.type ||
        !entry_number(&source, &width, &w) || !entry_number(&source, &height, &h))
        return;
    save(exif->data + width.value_at, h, type_size(width.type), source.big);
    save(exif->data + height.value_at, w, type_size(height.type), source.big);
}

bool esra_exif_big_endian(const struct bytes *exif)
{
    return exif->size > 0 && exif->data[0] == 'M';
}

static bool has_directory(const struct bytes *exif, int tag)
{
    struct source source;
    int64_t first;
    uint64_t at;
    return open_block(exif, &source, &first) && find_number(&source, first, tag, &at);
}

bool esra_exif_has_photo(const struct bytes *exif)
{
    return has_directory(exif, TAG_PHOTO_DIRECTORY);
}

bool esra_exif_has_gps(const struct bytes *exif)
{
    return has_directory(exif, TAG_GPS_DIRECTORY);
}

void esra_exif_text(const struct bytes *exif, int tag, char *text, size_t size)
{
    struct source source;
    struct entry entry;
    int64_t first;
    text[0] = '\0';
    if (!open_block(exif, &source, &first) || !find_entry(&source, first, tag, &entry) || entry.type != TYPE_ASCII)
        return;
    size_t length = entry.size < size ? (size_t)entry.size : size - 1;
    memcpy(text, exif->data + entry.value_at, length);
    text[length] = '\0';
}

/* ---- Directories copied from one place to another ---- */

struct item {
    int tag, type;
    uint32_t count;
    struct bytes value;
};

struct directory {
    struct item items[MAX_ENTRIES];
    int count;
};

/* The tags of a TIFF file's own directory that speak of the photo and not of its storage. */
static bool describes_photo(int tag)
{
    return tag == TAG_DESCRIPTION || tag == TAG_MAKE || tag == TAG_MODEL || tag == TAG_SOFTWARE || tag == TAG_DATE ||
           tag == TAG_ARTIST || tag == TAG_COPYRIGHT;
}

/* Of an EXIF or GPS directory all, less the one tag that points elsewhere. */
static bool can_be_moved(int tag)
{
    return tag != TAG_INTEROPERABILITY;
}

static void free_directory(struct directory **directory)
{
    for (int n = 0; *directory && n < (*directory)->count; n++)
        esra_bytes_free(&(*directory)->items[n].value);
    free(*directory);
    *directory = NULL;
}

/* Copies the entries that are wanted and sound; false where memory is short. *left, the bytes that may still be taken,
 * keeps entries that all point at one long value from multiplying it. */
static bool load_directory(const struct source *source, int64_t at, bool (*wanted)(int tag),
                           struct directory **directory, uint64_t *left)
{
    int count;
    struct entry entry;
    *directory = calloc(1, sizeof **directory);
    if (!*directory)
        return false;
    if (!count_entries(source, at, &count))
        return true;
    for (int n = 0; n < count && read_entry(source, at, n, &entry); n++) {
        if (!wanted(entry.tag) || entry.size > *left || !within(source, entry.value_at, entry.size))
            continue;
        struct item *item = &(*directory)->items[(*directory)->count];
        item->value.data = malloc(entry.size ? (size_t)entry.size : 1);
        if (!item->value.data)
            return false;
        if (!fetch(source, entry.value_at, item->value.data, (size_t)entry.size)) {
            esra_bytes_free(&item->value);
            continue;
        }
        *left -= entry.size;
        item->value.size = (size_t)entry.size;
        item->tag = entry.tag;
        item->type = entry.type;
        item->count = (uint32_t)entry.count;
        (*directory)->count++;
    }
    return true;
}

/* A value stands at an even offset. */
static size_t padded(size_t size)
{
    return (size + 1) & ~(size_t)1;
}

/* Bytes of a directory with its values, and with `more` entries to come. */
static size_t stored_size(const struct directory *directory, int more)
{
    size_t size = 2 + 12 * (size_t)(directory->count + more) + 4;
    for (int n = 0; n < directory->count; n++)
        if (directory->items[n].value.size > 4)
            size += padded(directory->items[n].value.size);
    return size;
}

static void store_entry(unsigned char *to, int tag, int type, uint32_t count, bool big)
{
    save(to, (uint64_t)tag, 2, big);
    save(to + 2, (uint64_t)type, 2, big);
    save(to + 4, count, 4, big);
    memset(to + 8, 0, 4);
}

/* Stores a directory at offset `at` of `base`, then entries of `more` (tag, offset) pairs, then the values. */
static void store_directory(unsigned char *base, size_t at, const struct directory *directory,
                            const uint32_t (*more)[2], int more_count, bool big)
{
    unsigned char *to = base + at;
    size_t values = at + 2 + 12 * (size_t)(directory->count + more_count) + 4;
    save(to, (uint64_t)(directory->count + more_count), 2, big);
    to += 2;
    for (int n = 0; n < directory->count; n++, to += 12) {
        const struct item *item = &directory->items[n];
        store_entry(to, item->tag, item->type, item->count, big);
        if (item->value.size <= 4) {
            memcpy(to + 8, item->value.data, item->value.size);
            continue;
        }
        save(to + 8, values, 4, big);
        memcpy(base + values, item->value.data, item->value.size);
        values += padded(item->value.size);
    }
    for (int n = 0; n < more_count; n++, to += 12) {
        store_entry(to, (int)more[n][0], TYPE_LONG, 1, big);
        save(to + 8, more[n][1], 4, big);
    }
    save(to, 0, 4, big);
}

/* ---- From a TIFF file ---- */

/* Where the numbers of a directory are as many as its strips, they are no metadata. */
static bool is_storage(int tag)
{
    return tag == TAG_STRIP_OFFSETS || tag == TAG_STRIP_BYTES || tag == TAG_TILE_OFFSETS || tag == TAG_TILE_BYTES;
}

static esra_status check_directory(struct decoding *decoding, const struct source *source, int64_t at)
{
    int count;
    int64_t metadata = 0;
    struct entry entry;
    if (!within(source, at, 2))
        return esra_decoding_truncated(decoding);
    if (!count_entries(source, at, &count))
        return esra_decoding_damaged(decoding, "its directory is no directory");
    for (int n = 0; n < count; n++) {
        if (!read_entry(source, at, n, &entry))
            return esra_decoding_truncated(decoding);
        bool storage = is_storage(entry.tag);
        if (!storage && __builtin_add_overflow(metadata, offset_of(entry.size), &metadata))
            metadata = INT64_MAX;
        if (!storage && entry.size > INT64_MAX)
            metadata = INT64_MAX;
        esra_status status = esra_decoding_check_metadata(decoding, metadata);
        if (status != ESRA_OK)
            return status;
        if (!within(source, entry.value_at, entry.size))
            return esra_decoding_truncated(decoding);
    }
    int link = source->wide ? 8 : 4; /* the offset of the next directory, which is not followed but must be there */
    int64_t end = at + (source->wide ? 8 : 2) + (int64_t)count * entry_size(source);
    return within(source, end, (uint64_t)link) ? ESRA_OK : esra_decoding_truncated(decoding);
}

/* DNG says so itself; NEF, ARW and their like begin with a preview and keep the sensor's data in a sub-directory. */
static bool tags_are_raw(const struct source *source, int64_t first)
{
    struct entry entry;
    uint64_t value;
    if (find_entry(source, first, TAG_DNG_VERSION, &entry))
        return true;
    if (find_number(source, first, TAG_PHOTOMETRIC, &value) && value == PHOTOMETRIC_COLOUR_FILTER_ARRAY)
        return true;
    return find_number(source, first, TAG_SUBFILE_TYPE, &value) && (value & 1) &&
           find_entry(source, first, TAG_SUB_DIRECTORIES, &entry);
}

/* Header, own directory, EXIF directory, GPS directory. */
static esra_status store_block(struct bytes *exif, struct directory *const parts[3], bool big, struct message *message)
{
    uint32_t more[2][2];
    int more_count = 0;
    size_t at = 8 + stored_size(parts[0], (parts[1] != NULL) + (parts[2] != NULL)), places[3] = {8, 0, 0};
    for (int n = 1; n < 3; n++)
        if (parts[n]) {
            more[more_count][0] = n == 1 ? TAG_PHOTO_DIRECTORY : TAG_GPS_DIRECTORY;
            more[more_count++][1] = (uint32_t)at;
            places[n] = at;
            at += stored_size(parts[n], 0);
        }
    exif->data = calloc(at, 1);
    if (!exif->data)
        return esra_fail_memory(message);
    exif->size = at;
    memcpy(exif->data, big ? "MM" : "II", 2);
    save(exif->data + 2, 42, 2, big);
    save(exif->data + 4, 8, 4, big);
    store_directory(exif->data, 8, parts[0], (const uint32_t(*)[2])more, more_count, big);
    for (int n = 1; n < 3; n++)
        if (parts[n])
            store_directory(exif->data, places[n], parts[n], NULL, 0, big);
    return ESRA_OK;
}

static esra_status load_and_store(struct decoding *decoding, const struct source *source, int64_t first,
                                  struct bytes *exif)
{
    struct directory *parts[3] = {NULL};
    uint64_t at, left = (uint64_t)decoding->options->limits.metadata;
    esra_status status = ESRA_OK;
    bool strict = !decoding->options->tolerate_truncated;
    if (left > UINT32_MAX / 2) /* offsets have 32 bits */
        left = UINT32_MAX / 2;
    bool good = load_directory(source, first, describes_photo, &parts[0], &left);
    for (int n = 1; n < 3 && good && status == ESRA_OK; n++) {
        if (!find_number(source, first, n == 1 ? TAG_PHOTO_DIRECTORY : TAG_GPS_DIRECTORY, &at))
            continue;
        if (strict)
            status = check_directory(decoding, source, offset_of(at));
        if (status == ESRA_OK)
            good = load_directory(source, offset_of(at), can_be_moved, &parts[n], &left);
    }
    if (!good)
        status = esra_fail_memory(decoding->message);
    if (status == ESRA_OK && (parts[0]->count || parts[1] || parts[2]))
        status = store_block(exif, parts, source->big, decoding->message);
    for (int n = 0; n < 3; n++)
        free_directory(&parts[n]);
    return status;
}

esra_status esra_exif_from_tiff(struct decoding *decoding, struct bytes *exif, bool *is_raw)
{
    struct source source = {.input = decoding->input, .message = decoding->message};
    int64_t first;
    esra_status status;
    TRY(esra_input_measure(decoding->input, decoding->message));
    source.size = decoding->input->size;
    if (!open_source(&source, &first))
        return esra_decoding_truncated(decoding);
    status = check_directory(decoding, &source, first);
    if (status == ESRA_BAD_DATA && decoding->options->tolerate_truncated)
        status = ESRA_OK;
    if (status != ESRA_OK)
        return status;
    *is_raw = tags_are_raw(&source, first);
    if (!source.wide && !*is_raw)
        TRY(load_and_store(decoding, &source, first, exif));
fail:
    return status;
}

/* ---- Into a TIFF file ---- */

/* Appends one directory and makes the file's entry point at it. */
static esra_status append_directory(struct bytes *tiff, int tag, const struct directory *directory,
                                    struct message *message)
{
    struct source source = {.data = tiff->data, .size = (int64_t)tiff->size};
    struct entry entry;
    int64_t first;
    if (!open_source(&source, &first) || source.wide || !find_entry(&source, first, tag, &entry))
        return ESRA_OK;
    size_t at = padded(tiff->size), size = at + stored_size(directory, 0);
    unsigned char *larger = size <= UINT32_MAX ? realloc(tiff->data, size) : NULL;
    if (!larger)
        return esra_fail_memory(message);
    memset(larger + tiff->size, 0, size - tiff->size);
    *tiff = (struct bytes){larger, size};
    store_directory(tiff->data, at, directory, NULL, 0, source.big);
    save(tiff->data + entry.at + 2, TYPE_LONG, 2, source.big);
    save(tiff->data + entry.at + 8, at, 4, source.big);
    return ESRA_OK;
}

esra_status esra_exif_into_tiff(const struct bytes *exif, struct bytes *tiff, struct message *message)
{
    static const int tags[] = {TAG_PHOTO_DIRECTORY, TAG_GPS_DIRECTORY};
    struct source source;
    int64_t first;
    uint64_t at, left = exif->size;
    esra_status status = ESRA_OK;
    if (!open_block(exif, &source, &first))
        return ESRA_OK;
    for (int n = 0; n < 2 && status == ESRA_OK; n++) {
        struct directory *directory = NULL;
        if (!find_number(&source, first, tags[n], &at))
            continue;
        status = load_directory(&source, offset_of(at), can_be_moved, &directory, &left)
                     ? append_directory(tiff, tags[n], directory, message)
                     : esra_fail_memory(message);
        free_directory(&directory);
    }
    return status;
}
