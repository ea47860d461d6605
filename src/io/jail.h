/* io/jail.h - work on bytes that nobody vouches for, in a child process that can do nothing else: by seccomp it may
 * read one file, answer through one pipe, take memory and end. Built where libseccomp is found. */
#ifndef ESRA_IO_JAIL_H
#define ESRA_IO_JAIL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

struct jail_limits {
    int64_t memory; /* bytes of addresses that the child may take; 0: no limit */
    int seconds;    /* that it may work, on the clock and of the processor; 0: no limit */
};

/* A child at work, and the pipe on which it answers. */
struct jail {
    pid_t child;
    int pipe;
    int seconds;
    double deadline_s;
    const char *name; /* of the file, for messages */
};

/* What the child does: `input` and `reply` are its only files. It ends by returning. */
typedef void jail_work(void *user, int input, int reply);

/* The file that the child may read; name is for messages. */
struct jail_input {
    int fd;
    const char *name;
};

/* Starts work(user, ...) in a child. To be called before there are threads. */
esra_status esra_jail_start(struct jail *jail, struct jail_input input, const struct jail_limits *limits,
                            jail_work *work, void *user, struct message *message);

/* Exactly size bytes of the answer, whatever they are worth. ESRA_BAD_DATA where the child ends before, or works for
 * too long. */
esra_status esra_jail_receive(struct jail *jail, void *bytes, size_t size, struct message *message);

/* The end of the answer: nothing may follow. */
esra_status esra_jail_finish(struct jail *jail, struct message *message);

/* Ends the child if it still runs; harmless on a zeroed jail. */
void esra_jail_end(struct jail *jail);

/* For the child: all of the bytes, or false where the other side is gone. */
bool esra_jail_reply(int reply, const void *bytes, size_t size);

#endif
