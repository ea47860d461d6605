/* io/jail.c - work in a child process that can do nothing else. */
#define _GNU_SOURCE
#include "io/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timer.h"
#include "io/jail_filter.h"

/* How a child ends that could not be locked in, for want of seccomp, or of files and limits; it has not looked at its
 * input then. */
#define EXIT_UNLOCKED 3
#define EXIT_SHORT    4

/* Sanitizers map terabytes of addresses that they never touch. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ADDRESSES_COUNT 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define ADDRESSES_COUNT 0
#endif
#endif
#ifndef ADDRESSES_COUNT
#define ADDRESSES_COUNT 1
#endif

/* ---- The child ---- */

/* Bytes of addresses in use. */
static int64_t addresses_now(void)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file || fscanf(file, "%lld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

static bool limit(int what, int64_t most)
{
    struct rlimit now;
    if (getrlimit(what, &now))
        return false;
    if ((rlim_t)most < now.rlim_max)
        now.rlim_cur = now.rlim_max = (rlim_t)most;
    return setrlimit(what, &now) == 0;
}

/* The soft limit's signal tells the reason; the hard limit, a second later, only kills. */
static bool limit_seconds(int seconds)
{
    struct rlimit now;
    if (getrlimit(RLIMIT_CPU, &now))
        return false;
    if ((rlim_t)seconds + 1 < now.rlim_max)
        now.rlim_max = (rlim_t)seconds + 1;
    now.rlim_cur = (rlim_t)seconds < now.rlim_max ? (rlim_t)seconds : now.rlim_max;
    return setrlimit(RLIMIT_CPU, &now) == 0;
}

static bool set_limits(const struct jail_limits *limits)
{
    bool good = limit(RLIMIT_CORE, 0) && limit(RLIMIT_FSIZE, 0);
    if (ADDRESSES_COUNT && limits->memory > 0)
        good = good && limit(RLIMIT_AS, addresses_now() + limits->memory);
    if (limits->seconds > 0)
        good = good && limit_seconds(limits->seconds);
    /* Last, since reading the addresses opens a file: none can be opened from here on, whatever the filter says. */
    return good && limit(RLIMIT_NOFILE, 0);
}

static void close_from(int first)
{
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0U, 0U) == 0)
        return;
#endif
    for (long fd = first, most = sysconf(_SC_OPEN_MAX); fd < most; fd++)
        close((int)fd);
}

/* The two files take their numbers, all others go. */
static bool take_files(int input, int reply)
{
    int in = fcntl(input, F_DUPFD, JAIL_REPLY + 1), out = fcntl(reply, F_DUPFD, JAIL_REPLY + 1);
    if (in < 0 || out < 0 || dup2(in, JAIL_INPUT) < 0 || dup2(out, JAIL_REPLY) < 0)
        return false;
    for (int fd = 0; fd < JAIL_INPUT; fd++)
        close(fd);
    close_from(JAIL_REPLY + 1);
    return true;
}

/* The program's signal handlers are not for the child: it ends with its parent. */
static void ignore_signals(const sigset_t *mask)
{
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    pthread_sigmask(SIG_SETMASK, mask, NULL);
}

static void live(int input, int reply, pid_t parent, const struct jail_limits *limits, jail_work *work, void *user)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* Another arena of malloc for each thread would take 128 MiB of addresses. */
    mallopt(M_ARENA_MAX, 1);
    if (getppid() != parent || !take_files(input, reply) || !set_limits(limits))
        _exit(EXIT_SHORT);
    if (!esra_jail_filter())
        _exit(EXIT_UNLOCKED);
    work(user, JAIL_INPUT, JAIL_REPLY);
    _exit(0);
}

bool esra_jail_reply(int reply, const void *bytes, size_t size)
{
    const char *from = bytes;
    while (size > 0) {
        ssize_t written = write(reply, from, size);
        if (written < 0 && errno != EINTR)
            return false;
        from += written > 0 ? written : 0;
        size -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

/* ---- The parent ---- */

esra_status esra_jail_start(struct jail *jail, struct jail_input input, const struct jail_limits *limits,
                            jail_work *work, void *user, struct message *message)
{
    int ends[2];
    pid_t parent = getpid();
    *jail = (struct jail){.pipe = -1, .name = input.name, .seconds = limits->seconds};
    if (pipe2(ends, O_CLOEXEC))
        return esra_fail(message, ESRA_OVER_LIMIT, "cannot decode %s apart: %s", input.name, strerror(errno));
    jail->deadline_s = esra_timer_now_s() + limits->seconds;
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    jail->child = fork();
    int reason = errno;
    if (jail->child == 0) {
        ignore_signals(&mask);
        live(input.fd, ends[1], parent, limits, work, user);
    }
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    close(ends[1]);
    jail->pipe = ends[0];
    if (jail->child > 0)
        return ESRA_OK;
    jail->child = 0;
    esra_jail_end(jail);
    return esra_fail(message, ESRA_OVER_LIMIT, "cannot decode %s apart: %s", input.name, strerror(reason));
}

/* Waits for the child to go, and tells how it went. */
static int reap(struct jail *jail)
{
    int state = 0;
    while (jail->child > 0 && waitpid(jail->child, &state, 0) < 0 && errno == EINTR)
        continue;
    jail->child = 0;
    return state;
}

void esra_jail_end(struct jail *jail)
{
    if (jail->child > 0) {
        kill(jail->child, SIGKILL);
        reap(jail);
    }
    if (jail->pipe > 0)
        close(jail->pipe);
    *jail = (struct jail){.pipe = -1};
}

static esra_status too_long(const struct jail *jail, struct message *message)
{
    return esra_fail(message, ESRA_BAD_DATA,
                     "decoding %s took longer than %d s; if it can be trusted, lift the limits with --no-limits",
                     jail->name, jail->seconds);
}

/* The answer broke off. */
static esra_status explain_end(struct jail *jail, struct message *message)
{
    int state = reap(jail);
    if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_UNLOCKED)
        return esra_fail(message, ESRA_IO_ERROR,
                         "cannot decode %s apart: this system has no seccomp; do without --untrusted", jail->name);
    if (WIFEXITED(state) && WEXITSTATUS(state) == EXIT_SHORT)
        return esra_fail(message, ESRA_OVER_LIMIT,
                         "cannot decode %s apart: too few files may be open, or its limits cannot be set; allow more "
                         "(ulimit -n)",
                         jail->name);
    if (WIFSIGNALED(state) && WTERMSIG(state) == SIGXCPU)
        return too_long(jail, message);
    if (WIFSIGNALED(state))
        return esra_fail(message, ESRA_BAD_DATA, "%s cannot be decoded: the decoder died of it (%s)", jail->name,
                         strsignal(WTERMSIG(state)));
    return esra_fail(message, ESRA_BAD_DATA, "%s cannot be decoded: the decoder ended without an answer", jail->name);
}

/* Milliseconds left, at most a minute at a time, for poll(). */
static int left_ms(const struct jail *jail)
{
    double left = jail->seconds > 0 ? jail->deadline_s - esra_timer_now_s() : 60;
    return left <= 0 ? 0 : left > 60 ? 60000 : (int)(left * 1000) + 1;
}

/* Up to size bytes, 0 at the end. */
static esra_status receive_some(struct jail *jail, void *bytes, size_t size, size_t *got, struct message *message)
{
    for (;;) {
        struct pollfd ready = {.fd = jail->pipe, .events = POLLIN};
        int wait_ms = left_ms(jail);
        int count = poll(&ready, 1, wait_ms);
        if (count == 0 && wait_ms == 0)
            return too_long(jail, message);
        ssize_t taken = count > 0 ? read(jail->pipe, bytes, size) : -1;
        if (taken >= 0) {
            *got = (size_t)taken;
            return ESRA_OK;
        }
        if (count != 0 && errno != EINTR)
            return esra_fail(message, ESRA_IO_ERROR, "decoding %s broke off: %s", jail->name, strerror(errno));
    }
}

esra_status esra_jail_receive(struct jail *jail, void *bytes, size_t size, struct message *message)
{
    for (size_t done = 0; done < size;) {
        size_t got;
        esra_status status = receive_some(jail, (char *)bytes + done, size - done, &got, message);
        if (status != ESRA_OK)
            return status;
        if (got == 0)
            return explain_end(jail, message);
        done += got;
    }
    return ESRA_OK;
}

esra_status esra_jail_finish(struct jail *jail, struct message *message)
{
    char byte;
    size_t got;
    esra_status status = receive_some(jail, &byte, 1, &got, message);
    if (status == ESRA_OK && got != 0)
        return esra_fail(message, ESRA_BAD_DATA, "%s cannot be decoded: the decoder's answer does not end", jail->name);
    return status;
}
