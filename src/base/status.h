/* base/status.h - how errors travel: a status as return value, the text beside it in a struct message owned by whoever
 * began the work. The text is written where the error is found and tells the reader what to do. */
#ifndef ESRA_BASE_STATUS_H
#define ESRA_BASE_STATUS_H

#include <esra/esra.h>

/* Two names as long as Linux lets a path be, and the words around them: the reason comes last, and a name must not push
 * it out. */
#define MESSAGE_SIZE (2 * 4096 + 512)

struct message {
    char text[MESSAGE_SIZE];
};

/* Writes the text (cut where too long) and returns status, so that a check reads: return esra_fail(...). */
esra_status esra_fail(struct message *message, esra_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

esra_status esra_fail_memory(struct message *message);

/* On failure, goes to the function's label `done`, which frees everything it holds, with the status in `status`. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != ESRA_OK)                                                                                         \
            goto done;                                                                                                 \
    } while (0)

#endif
