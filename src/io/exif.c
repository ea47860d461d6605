/* io/exif.c - EXIF blocks in memory. A block that stays a block is only patched in place, and so keeps what no library
 * would write back: maker notes and unknown tags, whose offsets stay right because nothing moves. */
#include "io/exif.h"

#include <string.h>

#include "io/tags.h"

/* The thumbnail shows what the photo was before; its directory is unlinked and its picture wiped. */
static void drop_thumbnail(struct bytes *exif, struct source *source, int64_t first)
{
    int count = 0;
    uint64_t next, at, size;
    esra_tags_count(source, first, &count);
    int64_t link = first + 2 + (int64_t)count * 12;
    if (!esra_tags_fetch_number(source, link, 4, &next) || next == 0)
        return;
    if (esra_tags_find_number(source, (int64_t)next, TAG_THUMBNAIL, &at) &&
        esra_tags_find_number(source, (int64_t)next, TAG_THUMBNAIL_BYTES, &size) &&
        esra_tags_within(source, (int64_t)at, size) && (int64_t)at >= link + 4)
        memset(exif->data + at, 0, size);
    esra_tags_save(exif->data + link, 0, 4, source->big);
}

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

void esra_exif_text(const struct bytes *exif, int tag, char *text, size_t size)
{
    struct source source;
    struct entry entry;
    int64_t first;
    text[0] = '\0';
    if (!esra_tags_open_block(exif, &source, &first) || !esra_tags_find(&source, first, tag, &entry) ||
        entry.type != TYPE_ASCII)
        return;
    size_t length = entry.size < size ? (size_t)entry.size : size - 1;
    memcpy(text, exif->data + entry.value_at, length);
    text[length] = '\0';
}
