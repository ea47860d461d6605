/* tools/esra/report.c - report.html: one self-contained file that shows how a separation went. Pictures are embedded as
 * data, drawings are inline SVG, and the one script moves the slider. */
#include <math.h>
#include <stdio.h>

#include "report_page.h"

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1c2430;--soft:#4a5568;--paper:#fbfbf9;--line:#dcdcd4;--warn:#fdf5e6;"
    "--scene:#2364aa;--mirror:#c22f43}"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#a3adba;--paper:#16181c;--line:#363b43;--warn:#"
    "33291a;"
    "--scene:#6fb1f5;--mirror:#ff7a8a}}"
    "body{font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:1280px;padding:20px;color:var(--ink);"
    "background:var(--paper)}"
    "h1{font-size:26px;margin:0 0 4px}h2{font-size:19px;margin:36px 0 10px}h3{font-size:16px;margin:24px 0 8px}"
    "p{margin:0 0 14px}.soft,figcaption{color:var(--soft)}details p{font-size:14px;margin-top:8px}"
    /* As wide as the page, but never taller than the window, so that picture and handle are seen together. */
    ".compare{position:relative;line-height:0;overflow:hidden;border-radius:6px;width:min(100%,calc(84vh*var(--ratio)))"
    ";"
    "margin:0 auto}"
    ".compare img{width:100%;height:auto;display:block}"
    ".compare .before{position:absolute;inset:0;height:100%;clip-path:inset(0 50% 0 0)}"
    ".compare .line{position:absolute;top:0;bottom:0;left:50%;width:2px;margin-left:-1px;background:#fff;"
    "box-shadow:0 0 4px #0008;pointer-events:none}"
    ".compare .line::after{content:'\\2039\\2009\\203a';position:absolute;top:50%;left:-17px;width:36px;height:36px;"
    "margin-top:-18px;border-radius:50%;background:#fff;color:#1c2430;font:22px/32px system-ui,sans-serif;"
    "text-align:center;box-shadow:0 0 6px #0008}"
    ".compare span{position:absolute;bottom:10px;line-height:1;padding:6px 9px;font-size:13px;background:#000a;"
    "color:#fff;border-radius:4px;pointer-events:none}.compare .l{left:10px}.compare .r{right:10px}"
    /* The range itself lies unseen over the whole picture: finger, mouse and arrow keys all move it. Its thumb has
     * hardly a width, so that the line stands where the finger is. */
    "#slider{position:absolute;inset:0;width:100%;height:100%;margin:0;opacity:0;cursor:ew-resize;touch-action:pan-y;"
    "-webkit-appearance:none;appearance:none}"
    "#slider::-webkit-slider-thumb{-webkit-appearance:none;width:2px;height:100%}"
    "#slider::-moz-range-thumb{width:2px;height:100%;border:0}"
    ".compare:has(:focus-visible){outline:3px solid var(--scene);outline-offset:2px}"
    ".pair{display:grid;grid-template-columns:1fr 1fr;gap:14px;margin-bottom:14px}"
    ".grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(280px,45%),1fr));gap:14px}"
    "figure{margin:0}figure img,figure svg{width:100%;height:auto;border-radius:4px;display:block}"
    "figcaption{font-size:13px;margin-top:4px}.drawing{max-width:640px}"
    "svg polygon{fill:none;stroke-width:2;vector-effect:non-scaling-stroke}svg .scene{stroke:var(--scene)}"
    "svg .reflection{stroke:var(--mirror);stroke-dasharray:7 4}svg line{stroke:var(--line)}"
    "svg polyline{fill:none;stroke:var(--scene);stroke-width:2}svg text{fill:var(--soft);font-size:12px}"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-size:14px}td,th{padding:4px 14px 4px 0;text-align:left;"
    "border-bottom:1px solid var(--line)}td.n{text-align:right;font-variant-numeric:tabular-nums}"
    "summary{font-size:19px;font-weight:600;margin:36px 0 10px;cursor:pointer}"
    ".warning{border-left:4px solid #c9851c;background:var(--warn);padding:8px 14px;margin:8px 0}"
    ".warning b{display:block}.warning+.compare{margin-top:20px}";

/* A label is put away where the line comes over it. */
static const char script[] = "const f=s=>document.querySelector(s),s=f('#slider');"
                             "f('#under').setAttribute('href',f('.after').src);"
                             "if(s){const move=()=>{f('.before').style.clipPath='inset(0 '+(100-s.value)+'% 0 "
                             "0)';f('.line').style.left=s.value+'%';"
                             "f('.l').hidden=s.value<15;f('.r').hidden=s.value>85};"
                             "s.addEventListener('input',move);move()}";

static const char *verdict(const esra_separation *separation)
{
    switch (separation->method) {
    case ESRA_METHOD_NONE:
        return separation->info->outcome == ESRA_STOPPED
                   ? "Interrupted before there were layers; the photo is given back as it was."
                   : "The layers could not be told apart; the photo is given back as it was.";
    case ESRA_METHOD_VOTING:
        return "The reflection's motion was not found; layers were told apart by what most photos agree on.";
    case ESRA_METHOD_JOINT:
        return separation->motion == ESRA_MOTION_DEPTH
                   ? "Both layers have depth: the camera's way and their depths were "
                     "found, and both were recovered together."
                   : "The motion of both layers was found, and both were recovered "
                     "together.";
    case ESRA_METHOD_GIVEN: return "The layers were recovered from the gradients given.";
    }
    return "";
}

/* The only check of layers without ground truth: how well they predict a photo that was left out. */
#define CLEARLY_BETTER 1.5

static void put_prediction(struct page *page, const esra_separation *s)
{
    double times = s->prediction_error > 0 ? s->prediction_base / s->prediction_error : 0;
    if (s->method != ESRA_METHOD_JOINT || !(s->prediction_base > 0))
        return;
    if (times >= CLEARLY_BETTER)
        page_put(
            page,
            " As a check each photo was left out in turn: the layers of the others predicted it %.1f times as well as "
            "the photo most like it.",
            times);
    else
        page_put(
            page,
            " As a check each photo was left out in turn: the layers of the others predicted it %s than the photo most "
            "like it, so look twice.",
            times > 1 ? "hardly better" : "no better");
}

static void put_head(struct page *page, const struct report *report)
{
    page_put(page, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>esra: ");
    page_put_text(page, report->names[report->reference]);
    page_put(page, "</title><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"><style>");
    page_put_bytes(page, style, sizeof style - 1);
    page_put(page, "</style></head><body>\n<h1>Through the glass</h1>\n<p class=\"soft\">");
    page_put_text(page, report->names[report->reference]);
    page_put(page, ", with %d more. %s", report->photos - 1, verdict(report->separation));
    put_prediction(page, report->separation);
    if (report->exchanged)
        page_put(page, " Afterwards the layers were exchanged by 'esra swap'.");
    page_put(page, "</p>\n");
}

static void put_left_out(struct page *page, const struct report *report)
{
    const char *before = " Left out: ";
    for (int i = 0; i < report->photos; i++)
        if (!report->separation->facts[i].aligned) {
            page_put(page, "%s", before);
            page_put_text(page, report->names[i]);
            before = ", ";
        }
    page_put(page, ".");
}

static void put_damaged(struct page *page, const struct report *report)
{
    for (int i = 0; i < report->photos; i++)
        if (report->inputs[i].incomplete) {
            page_put(page, "<div class=\"warning\"><b>");
            page_put_text(page, report->names[i]);
            page_put(page, " is damaged: what could not be decoded is black.</b>Give a whole copy of it, or leave it "
                           "out.</div>\n");
        }
}

static void put_warnings(struct page *page, const struct report *report)
{
    size_t count;
    const esra_warning_row *table = esra_warning_table(&count);
    put_damaged(page, report);
    for (const esra_warning_row *row = table; row < table + count; row++) {
        if (!(report->separation->warnings & row->bit))
            continue;
        page_put(page, "<div class=\"warning\" id=\"%s\"><b>%s", row->id, row->text);
        if (row->bit == ESRA_WARN_NOT_ALIGNED)
            put_left_out(page, report);
        page_put(page, "</b>%s</div>\n", row->advice);
    }
}

/* Where nothing was separated there is nothing to compare. */
static void put_slider(struct page *page, const struct report *report)
{
    bool changed = report->separation->method != ESRA_METHOD_NONE;
    page_put(page, "<div class=\"compare\" style=\"--ratio:%.4f\">", (double)report->width / report->height);
    page_put_picture(page, report->after, REPORT_WIDTH, "after",
                     changed ? "after: the scene behind the glass" : "the reference photo, as it was");
    if (changed) {
        page_put_picture(page, report->before, REPORT_WIDTH, "before", "before: the reference photo");
        page_put(page, "<div class=\"line\"></div><span class=\"l\">before</span><span class=\"r\">after</span>"
                       "<input type=\"range\" id=\"slider\" min=\"0\" max=\"100\" step=\"any\" value=\"50\" "
                       "aria-label=\"how much is shown as it was before\">");
    }
    page_put(page, "</div>\n");
}

static void put_image(struct page *page, const struct report_image *image)
{
    page_put(page, "<figure>");
    page_put_picture(page, &image->photo, REPORT_LAYER_WIDTH, "layer", image->title);
    page_put(page, "<figcaption>");
    if (image->file[0]) {
        page_put(page, "<b>");
        page_put_text(page, image->file);
        page_put(page, "</b> ");
    }
    page_put_text(page, image->title);
    page_put(page, "</figcaption></figure>\n");
}

/* Both layers of the reference side by side, as large: it takes eyes to see that they are exchanged. Then the others.
 */
static void put_images(struct page *page, const struct report *report)
{
    page_put(page, "<h2>Layers</h2>\n<div class=\"pair\">\n");
    put_image(page, &report->images[0]);
    put_image(page, &report->images[report->reference + 1]);
    page_put(page, "</div>\n<div class=\"grid\">\n");
    for (int n = 1; n < report->image_count; n++)
        if (n != report->reference + 1)
            put_image(page, &report->images[n]);
    page_put(page, "</div>\n");
}

/* In percent; a dash where it was not measured. */
static void put_share(struct page *page, double share)
{
    if (isfinite(share))
        page_put(page, "<td class=\"n\">%.0f %%</td>", 100 * share);
    else
        page_put(page, "<td class=\"n\">\xe2\x80\x93</td>");
}

static void put_photo_table(struct page *page, const struct report *report)
{
    const esra_separation *s = report->separation;
    page_put(page,
             "<div class=\"wide\"><table><tr><th>photo</th><th>aligned</th><th>overlap</th><th>scene explains</th>"
             "<th>reflection explains</th><th>layers apart</th><th>scene gain</th><th>reflection gain</th></tr>\n");
    for (int i = 0; i < report->photos; i++) {
        const esra_photo_facts *f = &s->facts[i];
        page_put(page, "<tr><td>");
        page_put_text(page, report->names[i]);
        page_put(page, "%s</td><td>%s</td>", i == report->reference ? " (reference)" : "", f->aligned ? "yes" : "no");
        put_share(page, f->overlap);
        put_share(page, f->explained);
        put_share(page, f->explained_reflected);
        page_put(page, "<td class=\"n\">%.1f px</td><td class=\"n\">%.4f</td><td class=\"n\">%.4f</td></tr>\n",
                 f->apart_px, s->mixing[i], s->reflection_gain[i]);
    }
    page_put(
        page,
        "</table></div>\n<p class=\"soft\">Overlap: how much of the reference photo's view a photo has. Explains: how "
        "much of what it shows alignment saw move as the layer does; a dash where it did not measure that. Apart: how "
        "far scene and reflection have "
        "moved against each other. Gain: how brightly a photo shows a layer, against the reference.</p>\n");
}

static void put_numbers(struct page *page, const struct report *report)
{
    const esra_separation *s = report->separation;
    page_put(page, "<div class=\"wide\"><table>");
    if (s->method != ESRA_METHOD_NONE)
        page_put(
            page,
            "<tr><td>certified solve</td><td>%s: objective %.6g, bound %.6g, gap %.2g after %d iterations</td></tr>"
            "<tr><td>lambda</td><td>%g</td></tr>",
            esra_outcome_name(s->info->outcome), s->info->objective, s->info->bound, s->info->gap, s->info->iterations,
            report->settings->lambda);
    if (s->scale < 1)
        page_put(page, "<tr><td>draft</td><td>separated at 1/%.0f of the size, and enlarged</td></tr>", 1 / s->scale);
    if (s->method == ESRA_METHOD_JOINT)
        page_put(page, "<tr><td>two-layer model</td><td>objective %.4g a pixel, residual %.4f</td></tr>",
                 s->joint_objective, s->joint_residual);
    if (s->prediction_base > 0)
        page_put(page,
                 "<tr><td>photos left out</td><td>predicted by the layers of the others with an error of %.4f; by the "
                 "photo most like them with %.4f</td></tr>",
                 s->prediction_error, s->prediction_base);
    page_put(
        page,
        "<tr><td>seconds</td><td>%.1f aligning, %.1f separating, %.1f solving, %.1f in all</td></tr></table></div>\n",
        s->align_s, s->joint_s, s->solve_s, s->total_s);
}

static void name_image(struct report_image *image, const char *stem, const char *format, const char *title)
{
    snprintf(image->file, sizeof image->file, "%s.%s", stem, format);
    snprintf(image->title, sizeof image->title, "%s", title);
}

void report_name_images(struct report_image *images, int photos, const char *format, double brightness)
{
    char stem[32], title[96], times[32] = "twice";
    if (brightness != 2)
        snprintf(times, sizeof times, "%g times", brightness);
    name_image(&images[0], "transmitted", format, "the scene behind the glass");
    for (int i = 1; i <= photos; i++) {
        snprintf(stem, sizeof stem, "reflected-%d", i);
        snprintf(title, sizeof title, "what photo %d reflects, %s as bright", i, times);
        name_image(&images[i], stem, format, title);
    }
    name_image(&images[photos + 1], "confidence", format,
               "white where the layers explain every photo; do not trust them where it is dark");
}

esra_status report_write(const struct report *report, struct output *output, struct message *message)
{
    struct page page = {output, message, ESRA_OK};
    put_head(&page, report);
    put_warnings(&page, report);
    put_slider(&page, report);
    if (report->separation->method != ESRA_METHOD_NONE)
        put_images(&page, report);
    page_put_alignment(&page, report);
    page_put(&page, "<details><summary>Numbers</summary>\n");
    put_photo_table(&page, report);
    put_numbers(&page, report);
    page_put_convergence(&page, report);
    page_put(&page, "</details>\n<script>%s</script>\n<p class=\"soft\">esra %s</p></body></html>\n", script,
             esra_version());
    return page.status;
}
