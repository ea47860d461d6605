/* tests/fault/shim.c - linked into the command line in place of the calls that can fail (the linker's --wrap), so that
 * they do, when and how the environment says:
 *
 *     ESRA_FAULT=CALL:WHEN:HOW[,...]   CALL  alloc, thread, tmpfile, read, write, sync, link, rename; io is any of the
 *                                            last five
 *                                      WHEN  7: the seventh call; 7+: it and all after it; 7*: every seventh;
 *                                            each: every call, once and from then on, in a child of its own forked
 *                                            there, while the parent goes on; for runs with threads refused
 *                                      HOW   an errno such as ENOSPC; short: half of the bytes; kill: SIGKILL;
 *                                            interrupt: SIGINT, and the call is made
 *     ESRA_FAULT=disk:BYTES            as a disk with so many bytes left
 *     ESRA_FAULT_TELL=FILE             where to write down how many calls there were, "CALL COUNT" a line, and how many
 *                                      children ended with which code, "exit75 COUNT"; of files put in place without a
 *                                      temporary name, which of the bytes written were theirs, "begin:NAME COUNT" and
 *                                      "end:NAME COUNT"
 *
 * Calls from esra's own code are reached, and jansson's for memory. What the decoders under it do with a failed
 * allocation is their affair, and not all of it is good (libtiff 4.5 writes through the null pointer). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

enum call { ALLOC, THREAD, TMPFILE, READ, WRITE, SYNC, LINK, RENAME, IO, CALLS };
static const char *const names[CALLS] = {"alloc", "thread", "tmpfile", "read", "write", "sync", "link", "rename", "io"};

enum how { FAIL, SHORT, KILL, INTERRUPT };

struct fault {
    enum call call;
    long number;
    char when; /* '+', '*', 'e' for each, or 0 */
    enum how how;
    int error;
};

static struct fault faults[8];
static int fault_count;
static atomic_long counts[CALLS];
static long disk_left = -1; /* bytes; -1: no end of them */
static long disk_used;
static struct span {
    long begin, end;
    char name[128];
} spans[64];                   /* of disk_used, by descriptor */
static bool is_branch;         /* its open files are the parent's as well, so it writes none and puts none in place */
static long branch_exits[256]; /* 255: by a signal */

static int error_of(const char *name)
{
    static const struct {
        const char *name;
        int error;
    } errors[] = {{"ENOMEM", ENOMEM}, {"EAGAIN", EAGAIN}, {"EINTR", EINTR},   {"EIO", EIO},
                  {"ENOSPC", ENOSPC}, {"EPIPE", EPIPE},   {"EACCES", EACCES}, {"EOPNOTSUPP", EOPNOTSUPP}};
    for (size_t n = 0; n < sizeof errors / sizeof errors[0]; n++)
        if (strcmp(name, errors[n].name) == 0)
            return errors[n].error;
    return 0;
}

/* A test that asks for nonsense must not pass for want of faults. */
static void refuse(const char *what)
{
    fprintf(stderr, "ESRA_FAULT: '%s' is not understood\n", what);
    _exit(99);
}

static void take_fault(const char *word)
{
    char call[16], when[16], how[16];
    struct fault *fault = &faults[fault_count];
    if (fault_count == 8 || sscanf(word, "%15[a-z]:%15[a-z0-9+*]:%15[a-zA-Z]", call, when, how) != 3)
        refuse(word);
    char *end = NULL;
    fault->number = strcmp(when, "each") == 0 ? 1 : strtol(when, &end, 10);
    fault->when = strcmp(when, "each") == 0 ? 'e' : *end;
    fault->how = strcmp(how, "short") == 0       ? SHORT
                 : strcmp(how, "kill") == 0      ? KILL
                 : strcmp(how, "interrupt") == 0 ? INTERRUPT
                                                 : FAIL;
    fault->error = error_of(how);
    fault->call = CALLS;
    for (int n = 0; n < CALLS; n++)
        if (strcmp(call, names[n]) == 0)
            fault->call = (enum call)n;
    if (fault->call == CALLS || fault->number < 1 || (fault->how == FAIL && !fault->error))
        refuse(word);
    fault_count++;
}

/* Runs before the destructors of lower priority, gcov's among them, whose calls are not esra's: nothing fails from here
 * on. */
__attribute__((destructor)) static void tell(void)
{
    fault_count = 0;
    disk_left = -1;
    const char *path = getenv("ESRA_FAULT_TELL");
    FILE *file = path && !is_branch ? fopen(path, "w") : NULL;
    for (int n = 0; file && n < CALLS; n++)
        fprintf(file, "%s %ld\n", names[n], (long)counts[n]);
    for (int n = 0; file && n < 256; n++)
        if (branch_exits[n] > 0)
            fprintf(file, "exit%d %ld\n", n, branch_exits[n]);
    for (int fd = 0; file && fd < 64; fd++)
        if (spans[fd].name[0])
            fprintf(file, "begin:%s %ld\nend:%s %ld\n", spans[fd].name, spans[fd].begin, spans[fd].name, spans[fd].end);
    if (file) {
        fprintf(file, "disk %ld\n", disk_used);
        fclose(file);
    }
}

/* Forks a child in which the call fails; true there. The parent waits for its end. */
static bool branch(struct fault *fault, long number, char when)
{
    int code;
    pid_t child = fork();
    if (child == 0) {
        is_branch = true;
        fault->number = number;
        fault->when = when;
        return true;
    }
    bool ended = child > 0 && waitpid(child, &code, 0) == child && WIFEXITED(code);
    branch_exits[ended ? WEXITSTATUS(code) : 255]++;
    return false;
}

/* The fault that befalls this call, or NULL. */
static const struct fault *strike(enum call call)
{
    long number = ++counts[call];
    for (int n = 0; n < fault_count; n++) {
        struct fault *fault = &faults[n];
        if (fault->when == 'e' && (fault->call != call || (!branch(fault, number, 0) && !branch(fault, number, '+'))))
            continue;
        bool due = fault->when == '*'   ? number % fault->number == 0
                   : fault->when == '+' ? number >= fault->number
                                        : number == fault->number;
        if (fault->call != call || !due)
            continue;
        if (fault->how == KILL || fault->how == INTERRUPT)
            raise(fault->how == KILL ? SIGKILL : SIGINT);
        if (fault->how == INTERRUPT)
            return NULL;
        errno = fault->error;
        return fault;
    }
    return NULL;
}

static const struct fault *strike_io(enum call call)
{
    const struct fault *own = strike(call), *any = strike(IO);
    return own ? own : any;
}

#define WRAPPED(type, name, ...)                                                                                       \
    type __real_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__);                                                                                   \
    type __wrap_##name(__VA_ARGS__)

/* ---- Memory and threads ---- */

WRAPPED(void *, malloc, size_t size)
{
    return strike(ALLOC) ? NULL : __real_malloc(size);
}

WRAPPED(void *, calloc, size_t count, size_t size)
{
    return strike(ALLOC) ? NULL : __real_calloc(count, size);
}

WRAPPED(void *, realloc, void *block, size_t size)
{
    return strike(ALLOC) ? NULL : __real_realloc(block, size);
}

WRAPPED(void *, aligned_alloc, size_t alignment, size_t size)
{
    return strike(ALLOC) ? NULL : __real_aligned_alloc(alignment, size);
}

WRAPPED(char *, strdup, const char *text)
{
    return strike(ALLOC) ? NULL : __real_strdup(text);
}

WRAPPED(char *, realpath, const char *path, char *to)
{
    return strike(ALLOC) ? NULL : __real_realpath(path, to);
}

int __wrap_asprintf(char **text, const char *format, ...);
int __wrap_asprintf(char **text, const char *format, ...)
{
    va_list arguments;
    if (strike(ALLOC))
        return -1;
    va_start(arguments, format);
    int length = vasprintf(text, format, arguments);
    va_end(arguments);
    return length;
}

WRAPPED(int, pthread_create, pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
        void *argument)
{
    const struct fault *fault = strike(THREAD);
    return fault ? fault->error : __real_pthread_create(thread, attributes, start, argument);
}

/* ---- Files ---- */

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
    mode_t mode = 0;
    bool nameless = (flags & O_TMPFILE) == O_TMPFILE;
    if (nameless || (flags & O_CREAT)) {
        va_list arguments;
        va_start(arguments, flags);
        mode = va_arg(arguments, mode_t);
        va_end(arguments);
    }
    if (nameless && strike(TMPFILE))
        return -1;
    return __real_open(path, flags, mode);
}

/* How many of the bytes get through; -1: none, with errno. */
static ssize_t let_through(const struct fault *fault, size_t size)
{
    if (!fault)
        return (ssize_t)size;
    return fault->how == SHORT && size > 1 ? (ssize_t)(size / 2) : fault->how == SHORT ? (ssize_t)size : -1;
}

WRAPPED(ssize_t, read, int fd, void *bytes, size_t size)
{
    ssize_t most = let_through(strike_io(READ), size);
    return most < 0 ? -1 : __real_read(fd, bytes, (size_t)most);
}

WRAPPED(ssize_t, pread, int fd, void *bytes, size_t size, off_t at)
{
    ssize_t most = let_through(strike_io(READ), size);
    return most < 0 ? -1 : __real_pread(fd, bytes, (size_t)most, at);
}

static void note_bytes(int fd, ssize_t size)
{
    if (fd >= 0 && fd < 64) {
        spans[fd].begin = spans[fd].end > 0 ? spans[fd].begin : disk_used;
        spans[fd].end = disk_used + size;
    }
    disk_used += size;
}

WRAPPED(ssize_t, write, int fd, const void *bytes, size_t size)
{
    ssize_t most = let_through(strike_io(WRITE), size);
    if (most < 0)
        return -1;
    note_bytes(fd, most);
    if (disk_left >= 0 && most > disk_left)
        most = disk_left;
    if (disk_left == 0 && most == 0 && size > 0) {
        errno = ENOSPC;
        return -1;
    }
    disk_left -= disk_left >= 0 ? most : 0;
    return is_branch && fd > STDERR_FILENO ? most : __real_write(fd, bytes, (size_t)most);
}

WRAPPED(int, fsync, int fd)
{
    return strike_io(SYNC) ? -1 : __real_fsync(fd);
}

WRAPPED(int, linkat, int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    int fd;
    if (sscanf(from, "/proc/self/fd/%d", &fd) == 1 && fd >= 0 && fd < 64)
        snprintf(spans[fd].name, sizeof spans[fd].name, "%s", to);
    return strike_io(LINK) ? -1 : is_branch ? 0 : __real_linkat(from_folder, from, to_folder, to, flags);
}

WRAPPED(int, rename, const char *from, const char *to)
{
    return strike_io(RENAME) ? -1 : is_branch ? 0 : __real_rename(from, to);
}

__attribute__((constructor)) static void begin(void)
{
    const char *text = getenv("ESRA_FAULT");
    char copy[256], *rest = NULL;
    snprintf(copy, sizeof copy, "%s", text ? text : "");
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        if (strncmp(word, "disk:", 5) == 0)
            disk_left = atol(word + 5);
        else
            take_fault(word);
    json_set_alloc_funcs(__wrap_malloc, free);
}
