/* io/jpeg.h - what the files of the JPEG codec share. Errors of libjpeg come back by longjmp: every call that can fail
 * stands in a function run by esra_jpeg_guarded(), and all that such a function changes lives in a struct outside of
 * it. */
#ifndef ESRA_IO_JPEG_H
#define ESRA_IO_JPEG_H

#include <setjmp.h>
#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

#include "io/codec.h"

#define EXIF_NAME      "Exif\0"
#define EXIF_NAME_SIZE 6

/* The first member of whatever libjpeg's client_data points at. Zeroed to begin with, but for message and tolerate. */
struct jpeg_trouble {
    struct jpeg_error_mgr errors;
    jmp_buf jump;
    struct message *message;
    esra_status status;
    bool tolerate;  /* damaged data that libjpeg would paper over */
    bool tolerated; /* there was some */
    char words[JMSG_LENGTH_MAX];
};

/* Sets trouble->errors, for libjpeg's err. */
void esra_jpeg_watch(struct jpeg_trouble *trouble);

/* False where the step gave up. */
bool esra_jpeg_guarded(struct jpeg_trouble *trouble, void (*step)(void *user), void *user);

/* Ends the step that runs. */
_Noreturn void esra_jpeg_give_up(struct jpeg_trouble *trouble, esra_status status);

/* Refuses more scans and more metadata than allowed. Ends at the end-of-image marker: what phones hang on behind it is
 * not read. */
esra_status esra_jpeg_check_markers(struct decoding *decoding);

#endif
