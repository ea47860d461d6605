/* tools/esra/report_drawings.c - the report's drawings, as inline SVG coloured by the page's style. */
#include <math.h>

#include "base/maths.h"
#include "report_page.h"

#define PLOT_WIDTH  640
#define PLOT_HEIGHT 220
#define PLOT_MARGIN 48

/* The outline of a photo's frame, seen from the reference: its corners through the inverse of its transform. */
static void put_frame(struct page *page, const esra_transform *t, int width, int height, const char *class)
{
    const double *h = t->h;
    double inverse[9] = {
        h[4] * h[8] - h[5] * h[7], h[2] * h[7] - h[1] * h[8], h[1] * h[5] - h[2] * h[4],
        h[5] * h[6] - h[3] * h[8], h[0] * h[8] - h[2] * h[6], h[2] * h[3] - h[0] * h[5],
        h[3] * h[7] - h[4] * h[6], h[1] * h[6] - h[0] * h[7], h[0] * h[4] - h[1] * h[3],
    };
    page_put(page, "<polygon class=\"%s\" points=\"", class);
    for (int corner = 0; corner < 4; corner++) {
        double x = corner == 1 || corner == 2 ? width - 1 : 0, y = corner >= 2 ? height - 1 : 0;
        double d = inverse[6] * x + inverse[7] * y + inverse[8];
        if (d != 0)
            page_put(page, "%.1f,%.1f ", (inverse[0] * x + inverse[1] * y + inverse[2]) / d,
                     (inverse[3] * x + inverse[4] * y + inverse[5]) / d);
    }
    page_put(page, "\"/>");
}

/* The picture under it is the slider's; the script lends it, so that it is in the file once. */
void page_put_alignment(struct page *page, const struct report *report)
{
    const esra_separation *s = report->separation;
    int w = report->width, h = report->height, margin = (w > h ? w : h) / 8;
    page_put(page,
             "<h2>How the photos lie on each other</h2>\n<figure class=\"drawing\"><svg viewBox=\"%d %d %d %d\" "
             "id=\"alignment\" role=\"img\" aria-label=\"frames of the photos over the reference photo\">"
             "<image id=\"under\" width=\"%d\" height=\"%d\" preserveAspectRatio=\"none\"/>",
             -margin, -margin, w + 2 * margin, h + 2 * margin, w, h);
    for (int i = 0; i < report->photos; i++) {
        put_frame(page, &s->transmitted_motion[i], w, h, "scene");
        if (s->method == ESRA_METHOD_JOINT)
            put_frame(page, &s->reflected_motion[i], w, h, "reflection");
    }
    page_put(
        page,
        "</svg><figcaption>The frame of each photo, laid so that the scene stands still%s. Where all fall together, "
        "nothing moved, and the layers cannot be told apart.</figcaption></figure>\n",
        s->method == ESRA_METHOD_JOINT ? " (blue) or the reflection does (red, dashed)" : "");
}

struct range {
    double top, bottom; /* powers of ten */
    double first, last; /* seconds */
};

static double least_gap(const struct report *report, int n)
{
    return fmax(report->points[n].gap, 1e-9);
}

static struct range find_range(const struct report *report)
{
    double most = least_gap(report, 0), least = most;
    for (int n = 0; n < report->point_count; n++) {
        most = fmax(most, least_gap(report, n));
        least = fmin(least, least_gap(report, n));
    }
    double first = report->points[0].seconds, last = report->points[report->point_count - 1].seconds;
    return (struct range){ceil(esra_log10(most)), floor(esra_log10(least) - 1e-9), first, fmax(last, first + 1e-3)};
}

static double height_of(const struct range *range, double power)
{
    return PLOT_MARGIN / 2.0 + (range->top - power) / (range->top - range->bottom) * (PLOT_HEIGHT - 1.5 * PLOT_MARGIN);
}

/* The certified gap against time, on a logarithmic scale. */
void page_put_convergence(struct page *page, const struct report *report)
{
    if (report->point_count < 2)
        return;
    struct range range = find_range(report);
    page_put(
        page,
        "<h3>Convergence</h3>\n<figure class=\"drawing\"><svg viewBox=\"0 0 %d %d\" id=\"convergence\" role=\"img\" "
        "aria-label=\"certified gap against time\">",
        PLOT_WIDTH, PLOT_HEIGHT);
    for (double power = range.bottom; power <= range.top; power++) {
        double y = height_of(&range, power);
        page_put(page, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/><text x=\"4\" y=\"%.1f\">1e%.0f</text>",
                 PLOT_MARGIN, PLOT_WIDTH - PLOT_MARGIN / 2, y, y, y + 4, power);
    }
    page_put(page, "<polyline points=\"");
    for (int n = 0; n < report->point_count; n++)
        page_put(page, "%.1f,%.1f ",
                 PLOT_MARGIN + (report->points[n].seconds - range.first) / (range.last - range.first) *
                                   (PLOT_WIDTH - 1.5 * PLOT_MARGIN),
                 height_of(&range, esra_log10(least_gap(report, n))));
    page_put(
        page,
        "\"/><text x=\"%d\" y=\"%d\">second %.1f to %.1f</text></svg><figcaption>Certified gap: no other layers "
        "can have an objective lower by a larger share. Colour channels are solved one after the other.</figcaption>"
        "</figure>\n",
        PLOT_MARGIN, PLOT_HEIGHT - 12, range.first, range.last);
}
