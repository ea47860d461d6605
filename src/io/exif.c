/* io/exif.c - EXIF blocks in memory. A block that stays a block is only patched in place, and so keeps what no library
 * would write back: maker notes and unknown tags, whose offsets stay right because nothing moves. */
#include "io/exif.h"

#include <stdio.h>
#include <string.h>

#include "io/tags.h"

/* ---- The thumbnail ---- */

/* The header and the directories that stay: IFD0, EXIF, interoperability, GPS. */
struct kept {
    int64_t at[5], end[5];
    int count;
};

static void keep_directory(struct kept *kept, struct source *source, int64_t at)
{
    int entries;
    if (!esra_tags_count(source, at, &entries))
        return;
    kept->at[kept->count] = at;
    kept->end[kept->count++] = at + 2 + (int64_t)entries * 12 + 4;
}

static struct kept kept_directories(struct source *source, int64_t first)
{
    struct kept kept = {.end = {8}, .count = 1};
    uint64_t photo, other;
    keep_directory(&kept, source, first);
    if (esra_tags_find_number(source, first, TAG_PHOTO_DIRECTORY, &photo)) {
        keep_directory(&kept, source, (int64_t)photo);
        if (esra_tags_find_number(source, (int64_t)photo, TAG_INTEROPERABILITY, &other))
            keep_directory(&kept, source, (int64_t)other);
    }
    if (esra_tags_find_number(source, first, TAG_GPS_DIRECTORY, &other))
        keep_directory(&kept, source, (int64_t)other);
    return kept;
}

/* Zeroes the bytes of [at, end) between what is kept. */
static void wipe(struct bytes *exif, const struct kept *kept, int64_t at, int64_t end)
{
    while (at < end) {
        int64_t stop = end, over = at;
        for (int n = 0; n < kept->count; n++) {
            if (kept->at[n] <= at && kept->end[n] > over)
                over = kept->end[n];
            if (kept->at[n] > at && kept->at[n] < stop)
                stop = kept->at[n];
        }
        if (over == at)
            memset(exif->data + at, 0, (size_t)(stop - at));
        at = over == at ? stop : over;
    }
}

static bool number_of(struct source *source, struct entry entry, uint64_t index, uint64_t *value)
{
    entry.value_at += (int64_t)index * esra_tags_type_size(entry.type);
    return esra_tags_number(source, &entry, value);
}

/* The pieces whose places one tag tells and whose sizes another. Together they have no more bytes than the block: what
 * overlaps is no picture, and could be made to cost hours. */
static void wipe_pieces(struct bytes *exif, struct source *source, int64_t directory, const struct kept *kept,
                        int places_tag, int sizes_tag)
{
    struct entry places, sizes;
    uint64_t at, size, left = exif->size;
    if (!esra_tags_find(source, directory, places_tag, &places) ||
        !esra_tags_find(source, directory, sizes_tag, &sizes))
        return;
    for (uint64_t n = 0; n < places.count && n < sizes.count; n++) {
        if (!number_of(source, places, n, &at) || !number_of(source, sizes, n, &size) || size > left)
            return;
        left -= size;
        if (esra_tags_within(source, esra_tags_offset(at), size))
            wipe(exif, kept, (int64_t)at, (int64_t)(at + size));
    }
}

/* The thumbnail shows what the photo was before; its directory is unlinked and its picture, JPEG or strips, wiped. */
static void drop_thumbnail(struct bytes *exif, struct source *source, int64_t first)
{
    int count = 0;
    uint64_t next;
    esra_tags_count(source, first, &count);
    int64_t link = first + 2 + (int64_t)count * 12;
    if (!esra_tags_fetch_number(source, link, 4, &next) || next == 0)
        return;
    const struct kept kept = kept_directories(source, first);
    wipe_pieces(exif, source, (int64_t)next, &kept, TAG_THUMBNAIL, TAG_THUMBNAIL_BYTES);
    wipe_pieces(exif, source, (int64_t)next, &kept, TAG_STRIP_OFFSETS, TAG_STRIP_BYTES);
    esra_tags_save(exif->data + link, 0, 4, source->big);
}

/* ---- The whole ---- */

int esra_exif_settle(struct bytes *exif)
{
    struct source source;
    struct entry entry;
    int64_t first;
    uint64_t orientation = 1;
    if (!esra_tags_open_block(exif, &source, &first)) {
        esra_bytes_free(exif);
        return 1;
    }
    if (esra_tags_find(&source, first, TAG_ORIENTATION, &entry) && esra_tags_number(&source, &entry, &orientation))
        esra_tags_save(exif->data + entry.value_at, 1, esra_tags_type_size(entry.type), source.big);
    drop_thumbnail(exif, &source, first);
    return orientation >= 1 && orientation <= 8 ? (int)orientation : 1;
}

void esra_exif_swap_sides(struct bytes *exif)
{
    struct source source;
    struct entry width, height;
    int64_t first;
    uint64_t photo, w, h;
    if (!esra_tags_open_block(exif, &source, &first) ||
        !esra_tags_find_number(&source, first, TAG_PHOTO_DIRECTORY, &photo) ||
        !esra_tags_find(&source, (int64_t)photo, TAG_WIDTH, &width) ||
        !esra_tags_find(&source, (int64_t)photo, TAG_HEIGHT, &height) || width.type != height.type ||
        !esra_tags_number(&source, &width, &w) || !esra_tags_number(&source, &height, &h))
        return;
    esra_tags_save(exif->data + width.value_at, h, esra_tags_type_size(width.type), source.big);
    esra_tags_save(exif->data + height.value_at, w, esra_tags_type_size(height.type), source.big);
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
    return esra_tags_open_block(exif, &source, &first) && esra_tags_find_number(&source, first, tag, &at);
}

bool esra_exif_has_photo(const struct bytes *exif)
{
    return has_directory(exif, TAG_PHOTO_DIRECTORY);
}

bool esra_exif_has_gps(const struct bytes *exif)
{
    return has_directory(exif, TAG_GPS_DIRECTORY);
}

/* Text of an ASCII entry of a directory, cut to size; "" where there is none. */
static void text_in(const struct bytes *exif, struct source *source, int64_t directory, int tag, char *text,
                    size_t size)
{
    struct entry entry;
    text[0] = '\0';
    if (!esra_tags_find(source, directory, tag, &entry) || entry.type != TYPE_ASCII)
        return;
    size_t length = entry.size < size ? (size_t)entry.size : size - 1;
    memcpy(text, exif->data + entry.value_at, length);
    text[length] = '\0';
}

void esra_exif_text(const struct bytes *exif, int tag, char *text, size_t size)
{
    struct source source;
    int64_t first;
    text[0] = '\0';
    if (esra_tags_open_block(exif, &source, &first))
        text_in(exif, &source, first, tag, text, size);
}

void esra_exif_taken(const struct bytes *exif, char *text, size_t size)
{
    struct source source;
    int64_t first;
    uint64_t photo;
    char date[24], parts[12];
    text[0] = '\0';
    if (!esra_tags_open_block(exif, &source, &first) ||
        !esra_tags_find_number(&source, first, TAG_PHOTO_DIRECTORY, &photo))
        return;
    text_in(exif, &source, esra_tags_offset(photo), TAG_TAKEN, date, sizeof date);
    text_in(exif, &source, esra_tags_offset(photo), TAG_TAKEN_PARTS, parts, sizeof parts);
    snprintf(text, size, "%s%s%s", date, date[0] && parts[0] ? "." : "", date[0] ? parts : "");
}
