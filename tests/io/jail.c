/* tests/io/jail.c - what a jailed decoder cannot do, and how it is told when it ends or does not. */
#define _GNU_SOURCE
#include "made.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timer.h"
#include "io/jail.h"
#include "io/jail_filter.h"

static const struct jail_limits roomy = {INT64_C(1) << 30, 20};

/* An input with a few bytes to read. */
static int some_file(void)
{
    made_write(made_path("input"), "0123456789", 10);
    return open(made_path("input"), O_RDONLY | O_CLOEXEC);
}

/* ---- What the filter refuses ---- */

struct attempt {
    const char *what;
    long (*call)(void);
    bool refused; /* should be */
};

static long try_open(void)
{
    return open("/etc/passwd", O_RDONLY);
}
static long try_openat(void)
{
    return syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY);
}
static long try_create(void)
{
    return creat("/tmp/esra-escaped", 0600);
}
static long try_unlink(void)
{
    return unlink(made_path("input"));
}
static long try_socket(void)
{
    return socket(AF_INET, SOCK_STREAM, 0);
}

static long try_connect(void)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    return connect(JAIL_INPUT, (struct sockaddr *)&address, sizeof address);
}

static long try_fork(void)
{
    return fork();
}
static long try_raw_clone(void)
{
    return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static long try_exec(void)
{
    char *const words[] = {(char *)"/bin/true", NULL};
    return execv(words[0], words);
}

static long try_kill(void)
{
    return kill(getppid(), 0);
}
static long try_ptrace(void)
{
    return ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}
static long try_stderr(void)
{
    return write(2, "escaped\n", 8);
}
static long try_stdout(void)
{
    return write(1, "escaped\n", 8);
}

static long try_write_input(void)
{
    return write(JAIL_INPUT, "x", 1);
}
static long try_duplicate(void)
{
    return dup(JAIL_INPUT);
}
static long try_code(void)
{
    return (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static long try_map_file(void)
{
    return (long)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, JAIL_INPUT, 0);
}

/* The place in the file is the parent's too. */
static long try_read(void)
{
    char byte;
    return read(JAIL_INPUT, &byte, 1);
}
static long try_seek(void)
{
    return lseek(JAIL_INPUT, 1, SEEK_SET);
}
static long try_read_reply(void)
{
    char byte;
    return pread(JAIL_REPLY, &byte, 1, 0);
}

static char *a_page(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
static long try_merge(void)
{
    return madvise(a_page(), 4096, MADV_MERGEABLE);
}
static long try_dump(void)
{
    return madvise(a_page(), 4096, MADV_DODUMP);
}

static long try_affinity(void)
{
    cpu_set_t set;
    return sched_getaffinity(1, sizeof set, &set);
}

static long try_pread(void)
{
    char bytes[4];
    return pread(JAIL_INPUT, bytes, 4, 0) == 4 && memcmp(bytes, "0123", 4) == 0 ? 0 : -1;
}

static long try_give_back(void)
{
    return madvise(a_page(), 4096, MADV_DONTNEED) | madvise(a_page(), 4096, MADV_FREE);
}

static long try_own_affinity(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set);
}

static long try_memory(void)
{
    char *memory = malloc(1 << 24);
    if (memory)
        memset(memory, 1, 1 << 24);
    free(memory);
    return memory ? 0 : -1;
}

static const struct attempt attempts[] = {
    {"open", try_open, true},
    {"openat", try_openat, true},
    {"creat", try_create, true},
    {"unlink", try_unlink, true},
    {"socket", try_socket, true},
    {"connect", try_connect, true},
    {"fork", try_fork, true},
    {"clone", try_raw_clone, true},
    {"execve", try_exec, true},
    {"kill", try_kill, true},
    {"ptrace", try_ptrace, true},
    {"writing standard error", try_stderr, true},
    {"writing standard output", try_stdout, true},
    {"writing the input", try_write_input, true},
    {"dup", try_duplicate, true},
    {"mmap of code", try_code, true},
    {"mmap of a file", try_map_file, true},
    {"read", try_read, true},
    {"lseek", try_seek, true},
    {"reading the answer", try_read_reply, true},
    {"madvise to merge pages", try_merge, true},
    {"madvise to dump pages", try_dump, true},
    {"sched_getaffinity of another", try_affinity, true},
    {"reading the input", try_pread, false},
    {"giving pages back", try_give_back, false},
    {"sched_getaffinity", try_own_affinity, false},
    {"memory", try_memory, false},
};
#define ATTEMPTS (sizeof attempts / sizeof attempts[0])

struct outcome {
    long value;
    int error;
};

static void make_attempts(void *user, int input, int reply)
{
    struct outcome outcomes[ATTEMPTS];
    (void)user, (void)input;
    for (size_t n = 0; n < ATTEMPTS; n++) {
        errno = 0;
        outcomes[n].value = attempts[n].call();
        outcomes[n].error = errno;
    }
    esra_jail_reply(reply, outcomes, sizeof outcomes);
}

static void nothing_but_reading_and_answering(void)
{
    struct outcome outcomes[ATTEMPTS];
    struct message message = {""};
    struct jail jail;
    int input = some_file(), listening = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(esra_jail_start(&jail, (struct jail_input){input, "input"}, &roomy, make_attempts, NULL, &message) ==
          ESRA_OK);
    if (CHECK(esra_jail_receive(&jail, outcomes, sizeof outcomes, &message) == ESRA_OK))
        for (size_t n = 0; n < ATTEMPTS; n++) {
            const struct attempt *a = &attempts[n];
            bool refused =
                outcomes[n].value == -1 && (outcomes[n].error == EPERM || outcomes[n].error == ENOSYS || !a->refused);
            if (!CHECK(refused == a->refused))
                printf("    %s gave %ld (%s)\n", a->what, outcomes[n].value, strerror(outcomes[n].error));
        }
    CHECK(esra_jail_finish(&jail, &message) == ESRA_OK);
    esra_jail_end(&jail);
    close(input);
    close(listening);
}

/* ---- Threads, which some decoders make ---- */

static void *count(void *number)
{
    ++*(int *)number;
    return NULL;
}

static void start_thread(void *user, int input, int reply)
{
    pthread_t thread;
    int number = 41;
    (void)user, (void)input;
    if (pthread_create(&thread, NULL, count, &number) == 0)
        pthread_join(thread, NULL);
    esra_jail_reply(reply, &number, sizeof number);
}

static void threads_of_its_own(void)
{
    struct message message = {""};
    struct jail jail;
    int number = 0, input = some_file();
    CHECK(esra_jail_start(&jail, (struct jail_input){input, "input"}, &roomy, start_thread, NULL, &message) == ESRA_OK);
    CHECK(esra_jail_receive(&jail, &number, sizeof number, &message) == ESRA_OK && number == 42);
    esra_jail_end(&jail);
    close(input);
}

/* ---- Deaths and delays ---- */

static void die(void *user, int input, int reply)
{
    (void)user, (void)input, (void)reply;
    signal(SIGSEGV, SIG_DFL);
    *(volatile int *)NULL = 1;
}

static void say_nothing(void *user, int input, int reply)
{
    (void)user, (void)input, (void)reply;
}

static void never_end(void *user, int input, int reply)
{
    (void)user, (void)input, (void)reply;
    for (volatile unsigned n = 0;; n++)
        continue;
}

static void wait_for_ever(void *user, int input, int reply)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    (void)user, (void)input, (void)reply;
    pthread_mutex_lock(&lock);
    pthread_mutex_lock(&lock);
}

static void take_all_memory(void *user, int input, int reply)
{
    int64_t taken = 0;
    char *volatile block; /* or a compiler may leave the blocks out */
    (void)user, (void)input;
    while (taken < INT64_C(1) << 32 && (block = malloc(1 << 20))) {
        *block = 1;
        taken += 1 << 20;
    }
    esra_jail_reply(reply, &taken, sizeof taken);
}

static void answer_of(jail_work *work, const struct jail_limits *limits, const char *words)
{
    struct message message = {""};
    struct jail jail;
    char byte;
    int input = some_file();
    CHECK(esra_jail_start(&jail, (struct jail_input){input, "x.png"}, limits, work, NULL, &message) == ESRA_OK);
    CHECK(esra_jail_receive(&jail, &byte, 1, &message) == ESRA_BAD_DATA);
    CHECK_TEXT(message.text, words);
    esra_jail_end(&jail);
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
    close(input);
}

static void a_death_is_told(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("a sanitizer dies in its own way");
#endif
    answer_of(die, &roomy, "x.png cannot be decoded: the decoder died of it (Segmentation fault)");
    answer_of(say_nothing, &roomy, "x.png cannot be decoded: the decoder ended without an answer");
}

static void time_is_limited(void)
{
    struct jail_limits second = {0, 1};
    const char *words = "decoding x.png took longer than 1 s; if it can be trusted, lift the limits with --no-limits";
    answer_of(never_end, &second, words);
    answer_of(wait_for_ever, &second, words);
}

static void memory_is_limited(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    SKIP("a sanitizer needs all addresses");
#endif
    struct message message = {""};
    struct jail_limits small = {INT64_C(64) << 20, 20};
    struct jail jail;
    int64_t taken = -1;
    int input = some_file();
    CHECK(esra_jail_start(&jail, (struct jail_input){input, "input"}, &small, take_all_memory, NULL, &message) ==
          ESRA_OK);
    CHECK(esra_jail_receive(&jail, &taken, sizeof taken, &message) == ESRA_OK);
    CHECK(taken > INT64_C(32) << 20 && taken <= INT64_C(64) << 20);
    esra_jail_end(&jail);
    close(input);
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(nothing_but_reading_and_answering);
    RUN(threads_of_its_own);
    RUN(a_death_is_told);
    RUN(time_is_limited);
    RUN(memory_is_limited);
    made_end();
    return check_report();
}
