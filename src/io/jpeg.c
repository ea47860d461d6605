/* io/jpeg.c - libjpeg's errors, for reading and writing. */
#include "io/jpeg.h"

#include <jerror.h>

_Noreturn void esra_jpeg_give_up(struct jpeg_trouble *trouble, esra_status status)
{
    trouble->status = status;
    longjmp(trouble->jump, 1);
}

static void on_error(j_common_ptr common)
{
    struct jpeg_trouble *trouble = common->client_data;
    if (common->err->msg_code == JERR_OUT_OF_MEMORY)
        esra_jpeg_give_up(trouble, esra_fail_memory(trouble->message));
    common->err->format_message(common, trouble->words);
    esra_jpeg_give_up(trouble, ESRA_BAD_DATA);
}

/* Level -1 is damaged data that libjpeg would paper over; a strange version number in a header does no harm. */
static void on_message(j_common_ptr common, int level)
{
    struct jpeg_trouble *trouble = common->client_data;
    int code = common->err->msg_code;
    if (level >= 0 || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM)
        return;
    if (!trouble->tolerate)
        on_error(common);
    trouble->tolerated = true;
}

static void on_output(j_common_ptr common)
{
    (void)common;
}

bool esra_jpeg_guarded(struct jpeg_trouble *trouble, void (*step)(void *user), void *user)
{
    if (setjmp(trouble->jump))
        return false;
    step(user);
    return true;
}

void esra_jpeg_watch(struct jpeg_trouble *trouble)
{
    jpeg_std_error(&trouble->errors);
    trouble->errors.error_exit = on_error;
    trouble->errors.emit_message = on_message;
    trouble->errors.output_message = on_output;
}
