/* tests/io/bomb.h - files made to take much memory or time, and reading them within bounds. */
#ifndef ESRA_TESTS_IO_BOMB_H
#define ESRA_TESTS_IO_BOMB_H

#include "made.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include <zlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* Of the processor: what else the machine does is not counted. */
static inline double seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static inline long peak_kib(int who)
{
    struct rusage usage;
    getrusage(who, &usage);
    return usage.ru_maxrss;
}

enum { OVER_MEMORY = 100, OVER_TIME = 101 };

/* The status of reading it, or which bound that broke: half a second, and 64 MiB on top of what the test itself has.
 * Neither is asked where a tool slows the program down (ESRA_TEST_UNTIMED). */
static inline int read_bomb(const struct read_options *options, const char *what, bool limits)
{
    struct photo photo;
    struct message message = {""};
    double begin = seconds();
    long start = peak_kib(RUSAGE_SELF);
    esra_status status = esra_photo_read(&photo, made_path("bomb"), options, &message);
    long taken = peak_kib(RUSAGE_SELF) - start;
    double took = seconds() - begin;
    printf("  %-34s %3.0f ms %3ld MiB: %s\n", what, 1e3 * took, taken >> 10, message.text);
    fflush(stdout);
    esra_photo_free(&photo);
    return limits && taken > 64 << 10 ? OVER_MEMORY : limits && took > .5 ? OVER_TIME : (int)status;
}

/* In a child, whose memory is its own; its exit code is the answer. WebAssembly has no processes, and cannot tell the
 * most that it took. */
static inline int read_bomb_apart(const struct read_options *options, const char *what)
{
#ifdef __wasm__
    return read_bomb(options, what, false);
#else
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(read_bomb(options, what, !SANITIZED && !getenv("ESRA_TEST_UNTIMED")));
    int state = 0;
    CHECK(waitpid(child, &state, 0) == child);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
#endif
}

static inline void survive_bomb_with(const struct read_options *options, const char *what, esra_status wanted)
{
    int code = read_bomb_apart(options, what);
#ifdef __wasm__ /* with addresses of 32 bits some are refused earlier, as damaged or for want of memory */
    code = wanted != ESRA_OK && code != ESRA_OK ? (int)wanted : code;
#endif
    if (!CHECK(code == (int)wanted))
        printf("    %s: %s\n", what,
               code == OVER_MEMORY ? "more than 64 MiB"
               : code == OVER_TIME ? "more than half a second"
                                   : "another status than wanted");
}

static inline void survive_bomb(const char *what, esra_status wanted)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    survive_bomb_with(&options, what, wanted);
}

static inline void put(FILE *file, const void *bytes, size_t size)
{
    CHECK(fwrite(bytes, 1, size, file) == size);
}

static inline void put_chunk(FILE *file, const char *type, const void *data, size_t size)
{
    unsigned char head[8], sum[4];
    made_number(head, (uint32_t)size, 4, true);
    memcpy(head + 4, type, 4);
    uLong crc = crc32(crc32(0, head + 4, 4), data, (unsigned)size);
    made_number(sum, (uint32_t)crc, 4, true);
    put(file, head, 8);
    put(file, data, size);
    put(file, sum, 4);
}

static inline FILE *begin_png(uint32_t width, uint32_t height, bool interlaced)
{
    unsigned char head[13] = {[8] = 8, [9] = 2, [12] = interlaced};
    FILE *file = fopen(made_path("bomb"), "wb");
    made_number(head, width, 4, true);
    made_number(head + 4, height, 4, true);
    put(file, "\x89PNG\r\n\x1a\n", 8);
    put_chunk(file, "IHDR", head, sizeof head);
    return file;
}

/* Zeros, compressed as far as deflate goes: a thousand to one. */
static inline struct bytes packed_zeros(size_t size)
{
    struct bytes packed = {malloc(compressBound(size)), compressBound(size)};
    unsigned char *zeros = calloc(size, 1);
    CHECK(compress2(packed.data, &packed.size, zeros, size, 9) == Z_OK);
    free(zeros);
    return packed;
}

#endif
