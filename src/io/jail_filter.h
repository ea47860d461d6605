/* io/jail_filter.h - what a jailed process may ask of the system. */
#ifndef ESRA_IO_JAIL_FILTER_H
#define ESRA_IO_JAIL_FILTER_H

#include <stdbool.h>

/* The only files that the process has, by their numbers. Standard output is none of them: what a library prints, or
 * libc flushes, must not get among the answer. */
#define JAIL_INPUT 3
#define JAIL_REPLY 4

/* From here on the calling thread, and what it starts, may read JAIL_INPUT, write JAIL_REPLY, take memory and end.
 * There is no way back. False where the system does not do this. */
bool esra_jail_filter(void);

#endif
