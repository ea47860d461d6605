/* io/tags.c - numbers and entries of TIFF's structure, found in bytes from strangers. */
#include "io/tags.h"

#include <string.h>

uint64_t esra_tags_load(const unsigned char *from, int size, bool big)
{
    uint64_t value = 0;
    for (int n = 0; n < size; n++)
        value = value << 8 | from[big ? n : size - 1 - n];
    return value;
}

void esra_tags_save(unsigned char *to, uint64_t value, int size, bool big)
{
    for (int n = 0; n < size; n++, value >>= 8)
        to[big ? size - 1 - n : n] = (unsigned char)(value & 0xff);
}

bool esra_tags_within(const struct source *source, int64_t at, uint64_t size)
{
    return at >= 0 && at <= source->size && size <= (uint64_t)(source->size - at);
}

bool esra_tags_fetch(struct source *source, int64_t at, void *to, size_t size)
{
    size_t got = 0;
    if (source->status != ESRA_OK || !esra_tags_within(source, at, size))
        return false;
    if (!source->input) {
        memcpy(to, source->data + at, size);
        return true;
    }
    source->status = esra_input_seek(source->input, at, source->message);
    if (source->status == ESRA_OK)
        source->status = esra_input_take(source->input, to, size, &got, source->message);
    return source->status == ESRA_OK && got == size;
}

bool esra_tags_fetch_number(struct source *source, int64_t at, int size, uint64_t *value)
{
    unsigned char bytes[8];
    if (!esra_tags_fetch(source, at, bytes, (size_t)size))
        return false;
    *value = esra_tags_load(bytes, size, source->big);
    return true;
}

int64_t esra_tags_offset(uint64_t value)
{
    return value > INT64_MAX ? -1 : (int64_t)value;
}

bool esra_tags_open(struct source *source, int64_t *first)
{
    unsigned char head[16] = {0};
    if (!esra_tags_fetch(source, 0, head, 8))
        return false;
    source->big = head[0] == 'M';
    uint64_t version = esra_tags_load(head + 2, 2, source->big);
    if (head[0] != head[1] || (head[0] != 'I' && head[0] != 'M') || (version != 42 && version != 43))
        return false;
    source->wide = version == 43;
    if (source->wide && !esra_tags_fetch(source, 0, head, 16))
        return false;
    *first = esra_tags_offset(source->wide ? esra_tags_load(head + 8, 8, source->big)
                                           : esra_tags_load(head + 4, 4, source->big));
    return true;
}

int esra_tags_type_size(int type)
{
    static const int sizes[] = {1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1, 1, 8, 8, 8};
    return type >= 0 && type < (int)(sizeof sizes / sizeof sizes[0]) ? sizes[type] : 1;
}

int esra_tags_entry_size(const struct source *source)
{
    return source->wide ? 20 : 12;
}

bool esra_tags_count(struct source *source, int64_t directory, int *count)
{
    uint64_t number;
    if (!esra_tags_fetch_number(source, directory, source->wide ? 8 : 2, &number) || number > MAX_ENTRIES)
        return false;
    *count = (int)number;
    return true;
}

bool esra_tags_read(struct source *source, int64_t directory, int index, struct entry *entry)
{
    unsigned char bytes[20];
    int inside = source->wide ? 8 : 4; /* bytes of a value that stands in the entry itself */
    entry->at = directory + (source->wide ? 8 : 2) + (int64_t)index * esra_tags_entry_size(source);
    if (!esra_tags_fetch(source, entry->at, bytes, (size_t)esra_tags_entry_size(source)))
        return false;
    entry->tag = (int)esra_tags_load(bytes, 2, source->big);
    entry->type = (int)esra_tags_load(bytes + 2, 2, source->big);
    entry->count = esra_tags_load(bytes + 4, inside, source->big);
    if (__builtin_mul_overflow(entry->count, (uint64_t)esra_tags_type_size(entry->type), &entry->size))
        entry->size = UINT64_MAX;
    entry->value_at = entry->size <= (uint64_t)inside
                          ? entry->at + 4 + inside
                          : esra_tags_offset(esra_tags_load(bytes + 4 + inside, inside, source->big));
    return true;
}

bool esra_tags_find(struct source *source, int64_t directory, int tag, struct entry *entry)
{
    int count;
    if (!esra_tags_count(source, directory, &count))
        return false;
    for (int n = 0; n < count; n++) {
        if (!esra_tags_read(source, directory, n, entry))
            return false;
        if (entry->tag == tag)
            return esra_tags_within(source, entry->value_at, entry->size);
    }
    return false;
}

bool esra_tags_number(struct source *source, const struct entry *entry, uint64_t *value)
{
    bool whole = entry->type == TYPE_SHORT || entry->type == TYPE_LONG || entry->type == 13 || entry->type == 16 ||
                 entry->type == 18;
    return whole && entry->count >= 1 &&
           esra_tags_fetch_number(source, entry->value_at, esra_tags_type_size(entry->type), value);
}

bool esra_tags_find_number(struct source *source, int64_t directory, int tag, uint64_t *value)
{
    struct entry entry;
    return esra_tags_find(source, directory, tag, &entry) && esra_tags_number(source, &entry, value);
}

bool esra_tags_open_block(const struct bytes *exif, struct source *source, int64_t *first)
{
    int count;
    *source = (struct source){.data = exif->data, .size = (int64_t)exif->size};
    return exif->data && esra_tags_open(source, first) && !source->wide && esra_tags_count(source, *first, &count);
}
