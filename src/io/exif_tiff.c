/* io/exif_tiff.c - EXIF out of TIFF files and into them: there its tags are the file's own directories. */
#include <stdlib.h>
#include <string.h>

#include "io/exif.h"
#include "io/tags.h"

#define PHOTOMETRIC_COLOUR_FILTER_ARRAY 32803

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

/* Copies the entries that are wanted and sound, up to one that cannot be read; false where memory is short. *left, the
 * bytes that may still be taken, keeps entries that all point at one long value from multiplying it. */
static bool load_directory(struct source *source, int64_t at, bool (*wanted)(int tag), struct directory **directory,
                           uint64_t *left)
{
    int count;
    struct entry entry;
    *directory = calloc(1, sizeof **directory);
    if (!*directory)
        return false;
    if (!esra_tags_count(source, at, &count))
        return true;
    for (int n = 0; n < count && esra_tags_read(source, at, n, &entry); n++) {
        if (!wanted(entry.tag) || entry.size > *left || !esra_tags_within(source, entry.value_at, entry.size))
            continue;
        struct item *item = &(*directory)->items[(*directory)->count];
        item->value.data = malloc(entry.size ? (size_t)entry.size : 1);
        if (!item->value.data)
            return false;
        if (!esra_tags_fetch(source, entry.value_at, item->value.data, (size_t)entry.size)) {
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
    esra_tags_save(to, (uint64_t)tag, 2, big);
    esra_tags_save(to + 2, (uint64_t)type, 2, big);
    esra_tags_save(to + 4, count, 4, big);
    memset(to + 8, 0, 4);
}

/* Stores a directory at offset `at` of `base`, then entries of `more` (tag, offset) pairs, then the values. */
static void store_directory(unsigned char *base, size_t at, const struct directory *directory,
                            const uint32_t (*more)[2], int more_count, bool big)
{
    unsigned char *to = base + at;
    size_t values = at + 2 + 12 * (size_t)(directory->count + more_count) + 4;
    esra_tags_save(to, (uint64_t)(directory->count + more_count), 2, big);
    to += 2;
    for (int n = 0; n < directory->count; n++, to += 12) {
        const struct item *item = &directory->items[n];
        store_entry(to, item->tag, item->type, item->count, big);
        if (item->value.size <= 4) {
            memcpy(to + 8, item->value.data, item->value.size);
            continue;
        }
        esra_tags_save(to + 8, values, 4, big);
        memcpy(base + values, item->value.data, item->value.size);
        values += padded(item->value.size);
    }
    for (int n = 0; n < more_count; n++, to += 12) {
        store_entry(to, (int)more[n][0], TYPE_LONG, 1, big);
        esra_tags_save(to + 8, more[n][1], 4, big);
    }
    esra_tags_save(to, 0, 4, big);
}

/* ---- From a TIFF file ---- */

/* Where the numbers of a directory are as many as its strips, they are no metadata. */
static bool is_storage(int tag)
{
    return tag == TAG_STRIP_OFFSETS || tag == TAG_STRIP_BYTES || tag == TAG_TILE_OFFSETS || tag == TAG_TILE_BYTES;
}

/* What cannot be read is not missing: whoever reads it again may find it there. */
static esra_status truncated(struct decoding *decoding, const struct source *source)
{
    return source->status != ESRA_OK ? source->status : esra_decoding_truncated(decoding);
}

static esra_status check_directory(struct decoding *decoding, struct source *source, int64_t at)
{
    int count;
    int64_t metadata = 0;
    struct entry entry;
    if (!esra_tags_within(source, at, 2))
        return truncated(decoding, source);
    if (!esra_tags_count(source, at, &count))
        return source->status != ESRA_OK ? source->status
                                         : esra_decoding_damaged(decoding, "its directory is no directory");
    for (int n = 0; n < count; n++) {
        if (!esra_tags_read(source, at, n, &entry))
            return truncated(decoding, source);
        bool storage = is_storage(entry.tag);
        if (!storage && __builtin_add_overflow(metadata, esra_tags_offset(entry.size), &metadata))
            metadata = INT64_MAX;
        if (!storage && entry.size > INT64_MAX)
            metadata = INT64_MAX;
        esra_status status = esra_decoding_check_metadata(decoding, metadata);
        if (status != ESRA_OK)
            return status;
        if (!esra_tags_within(source, entry.value_at, entry.size))
            return truncated(decoding, source);
    }
    int link = source->wide ? 8 : 4; /* the offset of the next directory, which is not followed but must be there */
    int64_t end = at + (source->wide ? 8 : 2) + (int64_t)count * esra_tags_entry_size(source);
    return esra_tags_within(source, end, (uint64_t)link) ? ESRA_OK : truncated(decoding, source);
}

/* DNG says so itself; NEF, ARW and their like begin with a preview and keep the sensor's data in a sub-directory. */
static bool tags_are_raw(struct source *source, int64_t first)
{
    struct entry entry;
    uint64_t value;
    if (esra_tags_find(source, first, TAG_DNG_VERSION, &entry))
        return true;
    if (esra_tags_find_number(source, first, TAG_PHOTOMETRIC, &value) && value == PHOTOMETRIC_COLOUR_FILTER_ARRAY)
        return true;
    return esra_tags_find_number(source, first, TAG_SUBFILE_TYPE, &value) && (value & 1) &&
           esra_tags_find(source, first, TAG_SUB_DIRECTORIES, &entry);
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
    esra_tags_save(exif->data + 2, 42, 2, big);
    esra_tags_save(exif->data + 4, 8, 4, big);
    store_directory(exif->data, 8, parts[0], (const uint32_t(*)[2])more, more_count, big);
    for (int n = 1; n < 3; n++)
        if (parts[n])
            store_directory(exif->data, places[n], parts[n], NULL, 0, big);
    return ESRA_OK;
}

static esra_status load_and_store(struct decoding *decoding, struct source *source, int64_t first, struct bytes *exif)
{
    struct directory *parts[3] = {NULL};
    uint64_t at, left = (uint64_t)decoding->options->limits.metadata;
    esra_status status = ESRA_OK;
    bool strict = !decoding->options->tolerate_truncated;
    if (left > UINT32_MAX / 2) /* offsets have 32 bits */
        left = UINT32_MAX / 2;
    bool good = load_directory(source, first, describes_photo, &parts[0], &left);
    for (int n = 1; n < 3 && good && status == ESRA_OK; n++) {
        if (!esra_tags_find_number(source, first, n == 1 ? TAG_PHOTO_DIRECTORY : TAG_GPS_DIRECTORY, &at))
            continue;
        if (strict)
            status = check_directory(decoding, source, esra_tags_offset(at));
        if (status == ESRA_OK)
            good = load_directory(source, esra_tags_offset(at), can_be_moved, &parts[n], &left);
    }
    if (!good)
        status = esra_fail_memory(decoding->message);
    if (status == ESRA_OK)
        status = source->status;
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
    if (!esra_tags_open(&source, &first))
        return truncated(decoding, &source);
    status = check_directory(decoding, &source, first);
    if (status == ESRA_BAD_DATA && decoding->options->tolerate_truncated)
        status = ESRA_OK;
    if (status != ESRA_OK)
        return status;
    *is_raw = tags_are_raw(&source, first);
    if (!source.wide && !*is_raw)
        TRY(load_and_store(decoding, &source, first, exif));
    TRY(source.status);
done:
    return status;
}

/* ---- Into a TIFF file ---- */

/* Makes room for so many bytes, zeroed, at the file's end; they begin at an even offset. */
static esra_status extend(struct bytes *tiff, size_t bytes, size_t *at, struct message *message)
{
    *at = padded(tiff->size);
    size_t size = *at + bytes;
    unsigned char *larger = size <= UINT32_MAX ? realloc(tiff->data, size) : NULL;
    if (!larger)
        return esra_fail_memory(message);
    memset(larger + tiff->size, 0, size - tiff->size);
    *tiff = (struct bytes){larger, size};
    return ESRA_OK;
}

/* The entry of a classic file's first directory. */
static bool find_place(const struct bytes *tiff, int tag, struct entry *entry, bool *big)
{
    struct source source = {.data = tiff->data, .size = (int64_t)tiff->size};
    int64_t first;
    bool found = esra_tags_open(&source, &first) && !source.wide && esra_tags_find(&source, first, tag, entry);
    *big = source.big;
    return found;
}

/* Appends one directory and makes the file's entry point at it. */
static esra_status append_directory(struct bytes *tiff, int tag, const struct directory *directory,
                                    struct message *message)
{
    struct entry place;
    bool big;
    size_t at;
    esra_status status = ESRA_OK;
    if (!find_place(tiff, tag, &place, &big))
        return ESRA_OK;
    TRY(extend(tiff, stored_size(directory, 0), &at, message));
    store_directory(tiff->data, at, directory, NULL, 0, big);
    esra_tags_save(tiff->data + place.at + 2, TYPE_LONG, 2, big);
    esra_tags_save(tiff->data + place.at + 8, at, 4, big);
done:
    return status;
}

/* A copyright may have two parts, the photographer's and the editor's, each with a zero byte at its end. libtiff writes
 * the first alone: the whole is appended, and the entry made to point at it. */
static esra_status append_copyright(struct bytes *tiff, const struct bytes *exif, struct source *source, int64_t first,
                                    struct message *message)
{
    struct entry whole, place;
    bool big;
    size_t at;
    esra_status status = ESRA_OK;
    if (!esra_tags_find(source, first, TAG_COPYRIGHT, &whole) || whole.type != TYPE_ASCII || whole.size <= 4 ||
        !find_place(tiff, TAG_COPYRIGHT, &place, &big) || place.size >= whole.size)
        return ESRA_OK;
    TRY(extend(tiff, (size_t)whole.size, &at, message));
    memcpy(tiff->data + at, exif->data + whole.value_at, (size_t)whole.size);
    esra_tags_save(tiff->data + place.at + 4, whole.size, 4, big);
    esra_tags_save(tiff->data + place.at + 8, at, 4, big);
done:
    return status;
}

esra_status esra_exif_into_tiff(const struct bytes *exif, struct bytes *tiff, struct message *message)
{
    static const int tags[] = {TAG_PHOTO_DIRECTORY, TAG_GPS_DIRECTORY};
    struct source source;
    int64_t first;
    uint64_t at, left = exif->size;
    esra_status status = ESRA_OK;
    if (!esra_tags_open_block(exif, &source, &first))
        return ESRA_OK;
    status = append_copyright(tiff, exif, &source, first, message);
    for (int n = 0; n < 2 && status == ESRA_OK; n++) {
        struct directory *directory = NULL;
        if (!esra_tags_find_number(&source, first, tags[n], &at))
            continue;
        status = load_directory(&source, esra_tags_offset(at), can_be_moved, &directory, &left)
                     ? append_directory(tiff, tags[n], directory, message)
                     : esra_fail_memory(message);
        free_directory(&directory);
    }
    return status;
}
