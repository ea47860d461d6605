/* tools/esra/report_page.h - writing a page of HTML: text, escaped text, embedded pictures. */
#ifndef ESRA_TOOL_REPORT_PAGE_H
#define ESRA_TOOL_REPORT_PAGE_H

#include "report.h"

/* After a failure nothing more is written. */
struct page {
    struct output *output;
    struct message *message;
    esra_status status;
};

void page_put_bytes(struct page *page, const void *bytes, size_t size);

/* At most 2 KiB at once. */
void page_put(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text from outside: nothing in it is markup. */
void page_put_text(struct page *page, const char *text);

/* The photo as embedded JPEG, at most so many px wide. */
void page_put_picture(struct page *page, const struct photo *photo, int width, const char *class, const char *alt);

/* report_drawings.c: the motion of both layers, and the certificates. */
void page_put_alignment(struct page *page, const struct report *report);
void page_put_convergence(struct page *page, const struct report *report);

#endif
