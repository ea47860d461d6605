/* tests/fuzz/memory_file.h - bytes as a file that can be named, without a disk. */
#ifndef ESRA_TESTS_FUZZ_MEMORY_FILE_H
#define ESRA_TESTS_FUZZ_MEMORY_FILE_H

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz.h"

/* One at a time: the next call replaces it. */
static inline const char *memory_file(const void *bytes, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzzed", MFD_CLOEXEC);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    MUST(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size);
    return path;
}

#endif
