/* tests/io/jail.c - what a jailed decoder cannot do, and what a parent does not believe. */
#define _GNU_SOURCE
#include "made.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/timer.h"
#include "io/jail_filter.h"
#include "io/parcel.h"

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

static long try_read(void)
{
    char bytes[4];
    return read(JAIL_INPUT, bytes, 4) == 4 && memcmp(bytes, "0123", 4) == 0 ? 0 : -1;
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
    {"reading the input", try_read, false},
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
    CHECK(esra_jail_start(&jail, input, "input", &roomy, make_attempts, NULL, &message) == ESRA_OK);
    if (CHECK(esra_jail_receive(&jail, outcomes, sizeof outcomes, &message) == ESRA_OK))
        for (size_t n = 0; n < ATTEMPTS; n++) {
            const struct attempt *a = &attempts[n];
            bool refused = outcomes[n].value == -1 && (outcomes[n].error == EPERM || !a->refused);
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
    CHECK(esra_jail_start(&jail, input, "input", &roomy, start_thread, NULL, &message) == ESRA_OK);
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
    CHECK(esra_jail_start(&jail, input, "x.png", limits, work, NULL, &message) == ESRA_OK);
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
    CHECK(esra_jail_start(&jail, input, "input", &small, take_all_memory, NULL, &message) == ESRA_OK);
    CHECK(esra_jail_receive(&jail, &taken, sizeof taken, &message) == ESRA_OK);
    CHECK(taken > INT64_C(32) << 20 && taken <= INT64_C(64) << 20);
    esra_jail_end(&jail);
    close(input);
}

/* ---- Lies ---- */

struct lie {
    struct parcel parcel;
    size_t bytes; /* that follow */
    unsigned char fill;
};

static void tell_lie(void *user, int input, int reply)
{
    const struct lie *lie = user;
    (void)input;
    esra_jail_reply(reply, &lie->parcel, sizeof lie->parcel);
    for (size_t n = 0; n < lie->bytes; n++)
        if (!esra_jail_reply(reply, &lie->fill, 1))
            break;
}

static esra_status hear(const struct lie *lie, const struct read_options *options, struct photo *photo,
                        struct message *message)
{
    struct jail jail;
    int input = some_file();
    CHECK(esra_jail_start(&jail, input, "x.png", &roomy, tell_lie, (void *)lie, message) == ESRA_OK);
    esra_status status = esra_parcel_receive(photo, &jail, options, message);
    esra_jail_end(&jail);
    close(input);
    return status;
}

/* 4 x 3 pixels of grey, all zero. */
static const struct lie truth = {
    {.mark = PARCEL_MARK, .width = 4, .height = 3, .channels = 1, .depth = 8, .orientation = 1},
    4 * 3 * sizeof(float),
    0};

static void believes(struct lie lie, bool believed)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    struct photo photo;
    struct message message = {""};
    options.limits.metadata = 1000;
    esra_status status = hear(&lie, &options, &photo, &message);
    CHECK(status == (believed ? ESRA_OK : ESRA_BAD_DATA));
    CHECK(believed || (message.text[0] && !photo.pixels.data && !photo.icc.data));
    esra_photo_free(&photo);
}

#define LIE(field, value)                                                                                              \
    do {                                                                                                               \
        struct lie lie = truth;                                                                                        \
        lie.field = value;                                                                                             \
        believes(lie, false);                                                                                          \
    } while (0)

static void no_lie_is_believed(void)
{
    static const int32_t numbers[] = {INT32_MIN, -1, 0, 2, 5, 255, 100000, INT32_MAX};
    believes(truth, true);
    for (size_t n = 0; n < sizeof numbers / sizeof numbers[0]; n++) {
        LIE(parcel.mark, (uint32_t)numbers[n]);
        LIE(parcel.width, numbers[n]);
        LIE(parcel.height, numbers[n]);
        LIE(parcel.channels, numbers[n]);
        LIE(parcel.depth, numbers[n]);
        if (numbers[n] != 0 && numbers[n] != 2 && numbers[n] != 5)
            LIE(parcel.format, numbers[n]);
        if (numbers[n] != 2 && numbers[n] != 5)
            LIE(parcel.orientation, numbers[n]);
        if (numbers[n] != 0) {
            LIE(parcel.incomplete, numbers[n]);
            LIE(parcel.curves, numbers[n]);
        }
        if (numbers[n] != 0 && numbers[n] != 2 && numbers[n] != 5)
            LIE(parcel.status, numbers[n]);
    }
    LIE(parcel.curves, 1);
    LIE(parcel.icc, 1001);
    LIE(parcel.exif, UINT64_MAX);
    LIE(parcel.icc, UINT64_MAX - 5);
    LIE(bytes, 47);
    LIE(bytes, 49);
    LIE(fill, 0xff); /* NaN */
    LIE(fill, 0x40); /* 3.004 */
    struct lie endless = truth;
    memset(endless.parcel.profile_name, 'x', sizeof endless.parcel.profile_name);
    believes(endless, false);
    memset(endless.parcel.message, 'x', sizeof endless.parcel.message);
    endless.parcel.status = ESRA_BAD_DATA;
    believes(endless, false);
}

/* Bytes of every kind in place of the head: an error, and no more. */
static void noise_is_refused(void)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    struct photo photo;
    struct message message;
    for (int round = 0; round < 100; round++) {
        struct lie lie = truth;
        unsigned char *bytes = (unsigned char *)&lie.parcel;
        for (int changes = 0; changes < 4; changes++)
            bytes[4 + check_bits() % 60] = (unsigned char)check_bits();
        esra_status status = hear(&lie, &options, &photo, &message);
        if (status == ESRA_OK)
            CHECK(photo.pixels.width * photo.pixels.height * photo.pixels.channels <= 12);
        esra_photo_free(&photo);
    }
}

/* ---- A head alone ---- */

static void heads_tell_the_size(void)
{
    static const char *const names[] = {"h.png", "h.jpg", "h.tif", "h.npy"};
    struct write_options plain = WRITE_OPTIONS_DEFAULT;
    struct photo photo = made_photo(40, 30, 3, 8), head;
    struct message message = {""};
    struct read_options options = READ_OPTIONS_DEFAULT;
    options.head_only = true;
    photo.icc = made_profile(3, cmsBuildGamma(NULL, 2.2));
    options.profile = true;
    for (int n = 0; n < 8; n++) {
        options.untrusted = n >= 4;
        CHECK(esra_photo_write(&photo, made_path(names[n % 4]), &plain, &message) == ESRA_OK);
        if (!CHECK(esra_photo_read(&head, made_path(names[n % 4]), &options, &message) == ESRA_OK))
            printf("    %s\n", message.text);
        CHECK(!head.pixels.data && head.pixels.width == 40 && head.pixels.height == 30 && head.pixels.channels == 3);
        CHECK(head.depth == (n % 4 < 3 ? 8 : 32) && head.orientation == 1);
        CHECK((head.curves != NULL) == (n % 4 < 3) && (head.profile_name[0] != '\0') == (n % 4 < 3));
        esra_photo_free(&head);
    }
    esra_photo_free(&photo);
}

/* A profile is looked at in the jail; its curves and primaries have the same bits. */
static void colours_are_the_same(void)
{
    struct write_options plain = WRITE_OPTIONS_DEFAULT;
    struct photo photo = made_photo(8, 8, 3, 8), jailed, plainly;
    struct message message = {""};
    struct read_options options = READ_OPTIONS_DEFAULT;
    photo.icc = made_profile(3, cmsBuildGamma(NULL, 1.8));
    CHECK(esra_photo_write(&photo, made_path("c.png"), &plain, &message) == ESRA_OK);
    options.profile = true;
    CHECK(esra_photo_read(&plainly, made_path("c.png"), &options, &message) == ESRA_OK);
    options.untrusted = true;
    CHECK(esra_photo_read(&jailed, made_path("c.png"), &options, &message) == ESRA_OK);
    CHECK(plainly.curves && jailed.curves &&
          memcmp(plainly.curves, jailed.curves, 3 * CURVE_CODES * sizeof *jailed.curves) == 0);
    CHECK(plainly.primaries[0] > 0 && memcmp(plainly.primaries, jailed.primaries, sizeof jailed.primaries) == 0);
    CHECK_TEXT(plainly.profile_name, jailed.profile_name);
    CHECK(made_difference(&plainly.pixels, &jailed.pixels) == 0);
    esra_photo_free(&photo);
    esra_photo_free(&plainly);
    esra_photo_free(&jailed);
}

int main(int argc, char **argv)
{
    made_begin(argc, argv);
    RUN(nothing_but_reading_and_answering);
    RUN(threads_of_its_own);
    RUN(a_death_is_told);
    RUN(time_is_limited);
    RUN(memory_is_limited);
    RUN(no_lie_is_believed);
    RUN(noise_is_refused);
    RUN(heads_tell_the_size);
    RUN(colours_are_the_same);
    made_end();
    return check_report();
}
