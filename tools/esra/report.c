/* tools/esra/report.c - report.html: one self-contained file that shows how a separation went. Pictures are embedded as
 * data, drawings are inline SVG, and the one script moves the slider. */
#include "report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "warnings.h"

/* The quality of embedded JPEGs: no artefact to be seen, a tenth of the PNG's size. */
#define PICTURE_QUALITY 92

#define PLOT_WIDTH 640
#define PLOT_HEIGHT 220
#define PLOT_MARGIN 48

/* The page as it is written; after a failure nothing more is. */
struct page {
    struct output *output;
    struct message *message;
    esra_status status;
};

static const char style[] =
    "body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1280px;padding:24px;color:#1c2430;background:#fbfbf9}"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:36px 0 10px}"
    ".verdict{color:#4a5568;margin:0 0 20px}"
    ".compare{position:relative;line-height:0;overflow:hidden;border-radius:6px}"
    ".compare img{width:100%;display:block}"
    ".compare .before{position:absolute;inset:0;clip-path:inset(0 50% 0 0)}"
    ".compare .line{position:absolute;top:0;bottom:0;left:50%;width:2px;background:#fff;box-shadow:0 0 4px #0008}"
    ".compare span{position:absolute;top:10px;line-height:1;padding:6px 9px;font-size:13px;background:#000a;color:#fff;"
    "border-radius:4px}.compare .l{left:10px}.compare .r{right:10px}"
    "input[type=range]{width:100%;margin:10px 0}"
    ".grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(280px,1fr));gap:14px}"
    "figure{margin:0}figure img,figure svg{width:100%;border-radius:4px;display:block}"
    "figcaption{font-size:13px;color:#4a5568;margin-top:4px}"
    "table{border-collapse:collapse;font-size:14px}td,th{padding:4px 14px 4px 0;text-align:left;"
    "border-bottom:1px solid #e2e2dc}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    ".warning{border-left:4px solid #c9851c;background:#fdf5e6;padding:8px 14px;margin:8px 0}"
    ".warning b{display:block}";

static const char script[] =
    "const s=document.getElementById('slider'),b=document.querySelector('.before'),l=document.querySelector('.line');"
    "s.addEventListener('input',()=>{b.style.clipPath='inset(0 '+(100-s.value)+'% 0 0)';l.style.left=s.value+'%';});";

static void put_bytes(struct page *page, const void *bytes, size_t size)
{
    if (page->status == ESRA_OK)
        page->status = esra_output_write(page->output, bytes, size, page->message);
}

static void put(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct page *page, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_bytes(page, text, size < (int)sizeof text ? (size_t)size : sizeof text - 1);
}

/* Text from outside: nothing in it is markup. */
static void put_text(struct page *page, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '<': put(page, "&lt;"); break;
        case '>': put(page, "&gt;"); break;
        case '&': put(page, "&amp;"); break;
        case '"': put(page, "&quot;"); break;
        default: put_bytes(page, text, 1);
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
            put_bytes(page, line, used);
            used = 0;
        }
    }
}

/* The photo reduced by a whole factor to at most REPORT_WIDTH, by averaging; profile kept, so that colours are right. */
static esra_status reduce(const struct photo *photo, struct photo *small, struct message *message)
{
    const struct image *from = &photo->pixels;
    int factor = (from->width - 1) / REPORT_WIDTH + 1;
    int width = from->width / factor, height = from->height / factor > 0 ? from->height / factor : 1;
    int rows = from->height / factor > 0 ? factor : from->height;
    *small = (struct photo){.depth = 8, .format = "JPEG", .icc = photo->icc};
    esra_status status = esra_image_create(&small->pixels, width, height, from->channels, message);
    for (int c = 0; status == ESRA_OK && c < from->channels; c++)
        for (int y = 0; y < height; y++) {
            float *to = plane_row(image_plane(&small->pixels, c), y);
            for (int x = 0; x < width; x++) {
                float sum = 0;
                for (int k = 0; k < rows; k++)
                    for (int j = 0; j < factor; j++)
                        sum += plane_row(image_plane(from, c), y * factor + k)[x * factor + j];
                to[x] = sum / (float)(rows * factor);
            }
        }
    return status;
}

static void put_picture(struct page *page, const struct photo *photo, const char *attributes)
{
    struct photo small = {0};
    struct output memory = {.fd = -1};
    struct write_options options = {"jpg", 8, PICTURE_QUALITY};
    if (page->status == ESRA_OK)
        page->status = reduce(photo, &small, page->message);
    if (page->status == ESRA_OK) {
        esra_output_memory(&memory);
        page->status = esra_photo_write_output(&small, &memory, "picture.jpg", &options, page->message);
    }
    put(page, "<img %s src=\"data:image/jpeg;base64,", attributes);
    if (page->status == ESRA_OK)
        put_base64(page, memory.memory, memory.memory_size);
    put(page, "\">");
    esra_output_discard(&memory);
    esra_image_free(&small.pixels);
}

static const char *verdict(const esra_separation *separation)
{
    switch (separation->method) {
    case ESRA_METHOD_NONE: return "The layers could not be told apart; the photo is given back as it was.";
    case ESRA_METHOD_VOTING: return "The reflection's motion was not found; layers were told apart by what most photos agree on.";
    case ESRA_METHOD_JOINT:
        return separation->motion == ESRA_MOTION_DEPTH
                   ? "Both layers have depth: the camera's way and their depths were found, and both were recovered together."
                   : "The motion of both layers was found, and both were recovered together.";
    case ESRA_METHOD_GIVEN: return "The layers were recovered from the gradients given.";
    }
    return "";
}

static void put_head(struct page *page, const struct report *report)
{
    put(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>esra: ");
    put_text(page, report->names[report->reference]);
    put(page, "</title><meta name=\"viewport\" content=\"width=device-width\"><style>");
    put_bytes(page, style, sizeof style - 1);
    put(page, "</style></head><body>\n<h1>Through the glass</h1>\n<p class=\"verdict\">%s</p>\n",
        verdict(report->separation));
}

static void put_slider(struct page *page, const struct report *report)
{
    put(page, "<div class=\"compare\">");
    put_picture(page, report->after, "class=\"after\" alt=\"after\"");
    put_picture(page, report->before, "class=\"before\" alt=\"before\"");
    put(page, "<div class=\"line\"></div><span class=\"l\">before</span><span class=\"r\">after</span></div>\n"
              "<input type=\"range\" id=\"slider\" min=\"0\" max=\"100\" value=\"50\" aria-label=\"before and after\">\n");
}

static void put_warnings(struct page *page, const esra_separation *separation)
{
#define ROW(flag, word, text, advice)                                                                  \
    if (separation->warnings & flag) {                                                                 \
        put(page, "<div class=\"warning\" id=\"%s\"><b>%s</b>%s</div>\n", word, text, advice);         \
    }
    WARNING_TABLE(ROW)
#undef ROW
}

static void put_images(struct page *page, const struct report *report)
{
    put(page, "<h2>Layers</h2>\n<div class=\"grid\">\n");
    for (int n = 0; n < report->image_count; n++) {
        put(page, "<figure>");
        put_picture(page, report->images[n].photo, "alt=\"\"");
        put(page, "<figcaption>");
        put_text(page, report->images[n].title);
        put(page, "</figcaption></figure>\n");
    }
    put(page, "</div>\n");
}

/* The outline of a photo's frame, seen from the reference: its corners through the inverse of its transform. */
static void put_frame(struct page *page, const esra_transform *t, int width, int height, const char *colour)
{
    const double *h = t->h;
    double inverse[9] = {
        h[4] * h[8] - h[5] * h[7], h[2] * h[7] - h[1] * h[8], h[1] * h[5] - h[2] * h[4],
        h[5] * h[6] - h[3] * h[8], h[0] * h[8] - h[2] * h[6], h[2] * h[3] - h[0] * h[5],
        h[3] * h[7] - h[4] * h[6], h[1] * h[6] - h[0] * h[7], h[0] * h[4] - h[1] * h[3],
    };
    put(page, "<polygon fill=\"none\" stroke=\"%s\" stroke-width=\"%g\" points=\"", colour, width / 300.0);
    for (int corner = 0; corner < 4; corner++) {
        double x = corner == 1 || corner == 2 ? width - 1 : 0, y = corner >= 2 ? height - 1 : 0;
        double d = inverse[6] * x + inverse[7] * y + inverse[8];
        if (d != 0)
            put(page, "%.1f,%.1f ", (inverse[0] * x + inverse[1] * y + inverse[2]) / d,
                (inverse[3] * x + inverse[4] * y + inverse[5]) / d);
    }
    put(page, "\"/>");
}

/* Both layers' motion, drawn over the reference's frame. */
static void put_alignment(struct page *page, const struct report *report)
{
    const esra_separation *s = report->separation;
    int w = report->width, h = report->height, margin = w / 8;
    put(page, "<h2>Alignment</h2>\n<figure style=\"max-width:640px\"><svg viewBox=\"%d %d %d %d\" id=\"alignment\">"
              "<rect width=\"%d\" height=\"%d\" fill=\"#e8e8e2\"/>",
        -margin, -margin, w + 2 * margin, h + 2 * margin, w, h);
    for (int i = 0; i < report->photos; i++) {
        put_frame(page, &s->transmitted_motion[i], w, h, "#2364aa");
        if (s->method == ESRA_METHOD_JOINT)
            put_frame(page, &s->reflected_motion[i], w, h, "#d1495b");
    }
    put(page, "</svg><figcaption>Frames of the photos, laid so that the scene (blue) or the reflection (red) stands still; "
              "grey is the reference photo. Where blue and red fall together the layers cannot be told apart."
              "</figcaption></figure>\n");
}

static void put_photo_table(struct page *page, const struct report *report)
{
    const esra_separation *s = report->separation;
    put(page, "<table><tr><th>photo</th><th>aligned</th><th>overlap</th><th>scene explains</th><th>reflection explains</th>"
              "<th>layers apart</th><th>scene gain</th><th>reflection gain</th></tr>\n");
    for (int i = 0; i < report->photos; i++) {
        const esra_photo_facts *f = &s->facts[i];
        put(page, "<tr><td>");
        put_text(page, report->names[i]);
        put(page, "%s</td><td>%s</td><td class=\"n\">%.0f %%</td><td class=\"n\">%.0f %%</td><td class=\"n\">%.0f %%</td>"
                  "<td class=\"n\">%.1f px</td><td class=\"n\">%.4f</td><td class=\"n\">%.4f</td></tr>\n",
            i == report->reference ? " (reference)" : "", f->aligned ? "yes" : "no", 100 * f->overlap, 100 * f->explained,
            100 * f->explained_reflected, f->apart_px, s->mixing[i], s->reflection_gain[i]);
    }
    put(page, "</table>\n");
}

/* The certified gap against iterations, on a logarithmic scale. */
static void put_plot(struct page *page, const struct report *report)
{
    double most = 0, least = 1, last = 1;
    for (int n = 0; n < report->point_count; n++) {
        double gap = fmax(report->points[n].gap, 1e-9);
        most = fmax(most, gap);
        least = fmin(least, gap);
        last = fmax(last, report->points[n].iterations);
    }
    if (report->point_count < 2 || most <= 0)
        return;
    double top = ceil(log10(most)), bottom = floor(log10(least) - 1e-9);
    put(page, "<h2>Convergence</h2>\n<figure style=\"max-width:%dpx\"><svg viewBox=\"0 0 %d %d\" id=\"convergence\" "
              "font-size=\"12\" fill=\"#4a5568\">", PLOT_WIDTH, PLOT_WIDTH, PLOT_HEIGHT);
    double span_x = PLOT_WIDTH - 1.5 * PLOT_MARGIN, span_y = PLOT_HEIGHT - 1.5 * PLOT_MARGIN;
    for (double decade = bottom; decade <= top; decade++) {
        double y = PLOT_MARGIN / 2.0 + (top - decade) / (top - bottom) * span_y;
        put(page, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"4\" y=\"%.1f\">1e%.0f</text>",
            PLOT_MARGIN, PLOT_WIDTH - PLOT_MARGIN / 2, y, y, y + 4, decade);
    }
    put(page, "<polyline fill=\"none\" stroke=\"#2364aa\" stroke-width=\"2\" points=\"");
    for (int n = 0; n < report->point_count; n++) {
        double gap = fmax(report->points[n].gap, 1e-9);
        put(page, "%.1f,%.1f ", PLOT_MARGIN + report->points[n].iterations / last * span_x,
            PLOT_MARGIN / 2.0 + (top - log10(gap)) / (top - bottom) * span_y);
    }
    put(page, "\"/><text x=\"%d\" y=\"%d\">iterations, up to %.0f</text></svg><figcaption>Certified gap: no other layers can "
              "have an objective lower by a larger share.</figcaption></figure>\n",
        PLOT_MARGIN, PLOT_HEIGHT - 12, last);
}

static void put_numbers(struct page *page, const struct report *report)
{
    const esra_separation *s = report->separation;
    put(page, "<h2>Numbers</h2>\n");
    put_photo_table(page, report);
    put(page, "<p></p><table>");
    if (s->method != ESRA_METHOD_NONE)
        put(page, "<tr><td>certified solve</td><td>%s: objective %.6g, bound %.6g, gap %.2g after %d iterations</td></tr>"
                  "<tr><td>lambda</td><td>%g</td></tr>",
            esra_outcome_name(s->info.outcome), s->info.objective, s->info.bound, s->info.gap, s->info.iterations,
            report->settings->lambda);
    if (s->method == ESRA_METHOD_JOINT)
        put(page, "<tr><td>two-layer model</td><td>objective %.4g a pixel, residual %.4f</td></tr>", s->joint_objective,
            s->joint_residual);
    if (s->prediction_base > 0)
        put(page, "<tr><td>photos left out</td><td>predicted by the layers of the others with an error of %.4f; by the photo "
                  "most like them with %.4f</td></tr>",
            s->prediction_error, s->prediction_base);
    put(page, "<tr><td>seconds</td><td>%.1f aligning, %.1f separating, %.1f solving, %.1f in all</td></tr></table>\n",
        s->align_s, s->joint_s, s->solve_s, s->total_s);
}

esra_status report_write(const struct report *report, struct output *output, struct message *message)
{
    struct page page = {output, message, ESRA_OK};
    put_head(&page, report);
    put_slider(&page, report);
    put_warnings(&page, report->separation);
    put_images(&page, report);
    put_alignment(&page, report);
    put_plot(&page, report);
    put_numbers(&page, report);
    put(&page, "<script>%s</script>\n<p class=\"verdict\">esra %s</p></body></html>\n", script, esra_version());
    return page.status;
}
