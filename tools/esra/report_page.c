/* tools/esra/report_page.c - writing a page of HTML: text, escaped text, embedded pictures. */
#include "report_page.h"

#include <stdarg.h>
#include <stdio.h>

/* Of embedded JPEGs: no artefact to be seen, a tenth of the PNG's size. */
#define PICTURE_QUALITY 90

void page_put_bytes(struct page *page, const void *bytes, size_t size)
{
    if (page->status == ESRA_OK)
        page->status = esra_output_write(page->output, bytes, size, page->message);
}

void page_put(struct page *page, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    page_put_bytes(page, text, size < (int)sizeof text ? (size_t)size : sizeof text - 1);
}

void page_put_text(struct page *page, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': page_put(page, "&lt;"); break;
        case '>': page_put(page, "&gt;"); break;
        case '&': page_put(page, "&amp;"); break;
        case '"': page_put(page, "&quot;"); break;
        default: page_put_bytes(page, text, 1);
        }
}

static void put_base64(struct page *page, const unsigned char *bytes, size_t size)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4 * 1024];
    size_t used = 0;
    for (size_t n = 0; n < size; n += 3) {
        unsigned long group = (unsigned long)bytes[n] << 16;
        group |= n + 1 < size ? (unsigned long)bytes[n + 1] << 8 : 0;
        group |= n + 2 < size ? bytes[n + 2] : 0;
        line[used++] = digits[group >> 18 & 63];
        line[used++] = digits[group >> 12 & 63];
        line[used++] = n + 1 < size ? digits[group >> 6 & 63] : '=';
        line[used++] = n + 2 < size ? digits[group & 63] : '=';
        if (used == sizeof line || n + 3 >= size) {
            page_put_bytes(page, line, used);
            used = 0;
        }
    }
}

/* The photo reduced by a whole factor to at most so many px of width and four times that of height, by averaging;
 * profile kept, so that colours are right. */
static esra_status reduce(const struct photo *photo, int most, struct photo *small, struct message *message)
{
    const struct image *from = &photo->pixels;
    int factor = (from->width > from->height / 4 ? from->width - 1 : (from->height - 1) / 4) / most + 1;
    int columns = from->width < factor ? from->width : factor, rows = from->height < factor ? from->height : factor;
    *small = (struct photo){.depth = 8, .format = "JPEG", .icc = photo->icc};
    esra_status status =
        esra_image_create(&small->pixels, from->width / columns, from->height / rows, from->channels, message);
    for (int c = 0; status == ESRA_OK && c < from->channels; c++)
        for (int y = 0; y < small->pixels.height; y++) {
            float *to = plane_row(image_plane(&small->pixels, c), y);
            for (int x = 0; x < small->pixels.width; x++) {
                float sum = 0;
                for (int k = 0; k < rows; k++)
                    for (int j = 0; j < columns; j++)
                        sum += plane_row(image_plane(from, c), y * rows + k)[x * columns + j];
                to[x] = sum / (float)(rows * columns);
            }
        }
    return status;
}

/* A profile that no JPEG holds keeps nobody from seeing the picture. */
static void fit_profile(struct photo *small, const struct write_options *options)
{
    struct message unsaid;
    if (esra_photo_check_fits(small, "picture.jpg", options, &unsaid) != ESRA_OK)
        small->icc = (struct bytes){0};
}

void page_put_picture(struct page *page, const struct photo *photo, int width, const char *class, const char *alt)
{
    struct photo small = {0};
    struct bytes file = {0};
    struct write_options options = {"jpg", 8, PICTURE_QUALITY};
    if (page->status == ESRA_OK)
        page->status = reduce(photo, width, &small, page->message);
    if (page->status == ESRA_OK) {
        fit_profile(&small, &options);
        page->status = esra_photo_encode(&small, &options, &file, page->message);
    }
    page_put(page, "<img class=\"%s\" alt=\"", class);
    page_put_text(page, alt);
    page_put(page, "\" width=\"%d\" height=\"%d\" src=\"data:image/jpeg;base64,", small.pixels.width,
             small.pixels.height);
    if (page->status == ESRA_OK)
        put_base64(page, file.data, file.size);
    page_put(page, "\">");
    esra_bytes_free(&file);
    esra_image_free(&small.pixels);
}
