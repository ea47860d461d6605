/* io/bytes.h - bytes in memory. */
#ifndef ESRA_IO_BYTES_H
#define ESRA_IO_BYTES_H

#include "base/status.h"

/* Owned unless it says lent; data NULL where size is 0. */
struct bytes {
    unsigned char *data;
    size_t size;
};

/* A copy of size bytes. */
esra_status esra_bytes_copy(struct bytes *bytes, const void *from, size_t size, struct message *message);

void esra_bytes_free(struct bytes *bytes);

#endif
