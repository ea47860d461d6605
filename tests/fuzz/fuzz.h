/* tests/fuzz/fuzz.h - what the fuzz targets share. A target is the one function below; built with clang (preset fuzz)
 * libFuzzer calls it with bytes of its own making, otherwise replay.c with the files kept in corpus/. */
#ifndef ESRA_TESTS_FUZZ_H
#define ESRA_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* What must hold of any input; abort() is what libFuzzer notices. */
#define MUST(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Bytes to be taken from the front; zeros once they are used up. */
struct feed {
    const uint8_t *at;
    size_t left;
};

static inline void feed_bytes(struct feed *feed, void *to, size_t size)
{
    size_t count = size < feed->left ? size : feed->left;
    memset(to, 0, size);
    if (count)
        memcpy(to, feed->at, count);
    feed->at += count;
    feed->left -= count;
}

static inline int feed_byte(struct feed *feed)
{
    uint8_t byte;
    feed_bytes(feed, &byte, 1);
    return byte;
}

/* lowest..highest, both included. */
static inline int feed_int(struct feed *feed, int lowest, int highest)
{
    return lowest + feed_byte(feed) % (highest - lowest + 1);
}

/* Mostly a level in [0,1] of one byte; a byte of 255 is followed by the four of any float there is. */
static inline float feed_float(struct feed *feed)
{
    float any;
    int byte = feed_byte(feed);
    if (byte < 255)
        return (float)byte / 254;
    feed_bytes(feed, &any, sizeof any);
    return any;
}

static inline double feed_double(struct feed *feed)
{
    double any;
    int byte = feed_byte(feed);
    if (byte < 255)
        return byte / 254.0;
    feed_bytes(feed, &any, sizeof any);
    return any;
}

#endif
