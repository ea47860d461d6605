/* pipeline/oddities.c - zoom, focus, things that hide or move by themselves, layers that may be exchanged. Each rule compares
 * photos of one series with one another, or a photo with what the layers make of it; each threshold lies between what was
 * measured of good scenes and what was measured of one to three that were made odd in just that way. */
#include "pipeline/oddities.h"

#include <math.h>

#include "base/memory.h"
#include "ops/blur.h"
#include "pipeline/parallax.h"

/* Good scenes: .72 to 1.39 of the reference's. One photo in two out of focus by 2.2 px: .35 and .43. */
#define SHARP_RATIO 1.7
#define SHARP_SIDE 700
#define FINE_PX .7
#define COARSE_PX 2.

/* The standard deviation of a photo's samples that one step of an 8-bit code in the middle tones has; and a side on which
 * no corner and its surroundings find room. Asked only of photos that were not aligned. */
#define BLANK_DEVIATION .004
#define LEAST_SIDE      16

/* The scale of a photo against the reference's. A hand that moves leaves it within 2 %. */
#define ZOOM_RATIO 1.04
#define ZOOM_GRID 9

/* Weights below this are of pixels that neither layer explains. */
#define UNEXPLAINED .3f
/* Patches are told by the mean weight of square cells, so many across the frame. */
#define CELLS_ACROSS 40
#define CELL_LEAST 4
/* What moves by itself is lost in one piece, .04 of the frame for a person, where all else is explained; elsewhere patches
 * are strewn, none over .012, or under .4 of all. */
#define MOVING_SHARE .018
#define MOVING_MOST .25 /* more is a photo that does not fit */
#define MOVING_OF_ALL .45
#define MOVING_TRUSTED .7
/* Of half the photos at least: what hides is mostly darker than what it hides, and than layers, which only add up, can
 * explain. Good scenes have about as much that is brighter; fences had a third of it and less. */
#define HIDDEN_SHARE .03
#define HIDDEN_OVER_BRIGHTER 2

/* A reflection is out of focus, or doubled by the two faces of the glass: where what is taken for one is sharper than the
 * scene by this much, and strong, it may be the scene. Of two photos that is not certain enough to be said. */
#define EXCHANGED_SHARPNESS .8
#define EXCHANGED_ENERGY .1
#define EXCHANGED_TRUSTED .8
#define LAYER_FINE_PX 1.
#define LAYER_COARSE_PX 3.

/* ---- Focus ---- */

/* The root of light, so that shadows count as they do to the eye; stored values as they are. */
static esra_status flatten(const struct image *photo, bool linear, struct image *grey, struct message *message)
{
    size_t pixels = (size_t)photo->width * (size_t)photo->height;
    esra_status status = esra_image_create(grey, photo->width, photo->height, 1, message);
    for (size_t n = 0; status == ESRA_OK && n < pixels; n++) {
        float sum = 0;
        for (int c = 0; c < photo->channels; c++)
            sum += photo->data[(size_t)c * pixels + n] / (float)photo->channels;
        grey->data[n] = linear ? sqrtf(fmaxf(sum, 0)) : sum;
    }
    return status;
}

static esra_status shrink(struct image *grey, struct context *context)
{
    while (grey->width > SHARP_SIDE || grey->height > SHARP_SIDE) {
        struct image half = {0};
        esra_status status =
            esra_image_create(&half, (grey->width + 1) / 2, (grey->height + 1) / 2, 1, context->message);
        if (status != ESRA_OK)
            return status;
        esra_halve(context, image_plane(grey, 0), image_plane(&half, 0), 1);
        esra_image_free(grey);
        *grey = half;
    }
    return ESRA_OK;
}

static double gradient_energy(const struct image *image)
{
    double sum = 0;
    for (int y = 0; y + 1 < image->height; y++) {
        const float *row = plane_row(image_plane(image, 0), y), *next = row + image->width;
        for (int x = 0; x + 1 < image->width; x++) {
            double right = row[x + 1] - row[x], down = next[x] - row[x];
            sum += right * right + down * down;
        }
    }
    return sum;
}

/* Energies of a grey image's gradients after two blurs. */
static esra_status energies(const struct image *grey, double fine_px, double coarse_px, double energy[2],
                            struct context *context)
{
    struct image smooth = {0};
    esra_status status = esra_image_create(&smooth, grey->width, grey->height, 1, context->message);
    for (int k = 0; status == ESRA_OK && k < 2; k++) {
        esra_blur(context, image_plane(grey, 0), image_plane(&smooth, 0), k ? coarse_px : fine_px);
        energy[k] = gradient_energy(&smooth);
    }
    esra_image_free(&smooth);
    return status;
}

esra_status esra_sharpness(const struct image *photo, bool linear, struct context *context, double *sharpness)
{
    struct image grey = {0};
    double energy[2] = {0, 0};
    esra_status status;
    TRY(flatten(photo, linear, &grey, context->message));
    TRY(shrink(&grey, context));
    TRY(energies(&grey, FINE_PX, COARSE_PX, energy, context));
    *sharpness = energy[1] > 0 ? energy[0] / energy[1] : 1;
done:
    esra_image_free(&grey);
    return status;
}

/* Nothing to go by: one even tone, or fewer pixels than a pattern needs. */
static bool is_blank(const struct image *photo)
{
    size_t samples = (size_t)photo->width * (size_t)photo->height * (size_t)photo->channels;
    double sum = 0, squares = 0;
    if (photo->width < LEAST_SIDE || photo->height < LEAST_SIDE)
        return true;
    for (size_t n = 0; n < samples; n++) {
        sum += photo->data[n];
        squares += (double)photo->data[n] * photo->data[n];
    }
    double mean = sum / (double)samples;
    return squares / (double)samples - mean * mean < BLANK_DEVIATION * BLANK_DEVIATION;
}

esra_status esra_pipeline_look(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    for (int i = 0; i < p->photos && !esra_context_stopping(p->context); i++) {
        p->looks[i].blank = is_blank(&p->seen[i]);
        TRY(esra_sharpness(&p->seen[i], !p->input->stored_values, p->context, &p->looks[i].sharpness));
    }
done:
    return status;
}

static bool takes_part(const struct pipeline *p, int i)
{
    return i != p->reference && p->motions[i].aligned;
}

static void compare_focus(struct pipeline *p)
{
    for (int i = 0; i < p->photos; i++)
        if (takes_part(p, i) &&
            fabs(log(p->looks[i].sharpness / p->looks[p->reference].sharpness)) > log(SHARP_RATIO))
            p->oddities |= ESRA_WARN_FOCUS;
}

/* ---- Zoom ---- */

/* Where photo i has the scene's point at (x, y) of the reference; false where it is behind the camera. */
static bool follow(const struct pipeline *p, int i, int x, int y, double *u, double *v)
{
    size_t pixels = (size_t)p->width * (size_t)p->height, n = (size_t)y * (size_t)p->width + (size_t)x;
    if (p->parallax && p->parallax->still[i].data) {
        *u = p->parallax->still[i].data[n];
        *v = p->parallax->still[i].data[pixels + n];
    } else {
        transform_apply(&p->still[i], x, y, u, v);
    }
    return fabs(*u) < 1e5 && fabs(*v) < 1e5;
}

/* The scale of the similarity that fits photo i's motion best, but for its turn: <x - mean, u - mean>/|x - mean|^2 and the
 * like part across, as complex numbers. */
static double scale_of(const struct pipeline *p, int i)
{
    double count = 0, x_sum = 0, y_sum = 0, u_sum = 0, v_sum = 0, along = 0, across = 0, square = 0;
    for (int n = 0; n < ZOOM_GRID * ZOOM_GRID; n++) {
        int x = (n % ZOOM_GRID) * (p->width - 1) / (ZOOM_GRID - 1), y = n / ZOOM_GRID * (p->height - 1) / (ZOOM_GRID - 1);
        double u, v;
        if (!follow(p, i, x, y, &u, &v))
            continue;
        count++;
        x_sum += x;
        y_sum += y;
        u_sum += u;
        v_sum += v;
        along += x * u + y * v;
        across += x * v - y * u;
        square += (double)x * x + (double)y * y;
    }
    square -= (x_sum * x_sum + y_sum * y_sum) / count;
    along -= (x_sum * u_sum + y_sum * v_sum) / count;
    across -= (x_sum * v_sum - y_sum * u_sum) / count;
    return square > 0 ? hypot(along, across) / square : 1;
}

esra_status esra_pipeline_compare_scales(struct pipeline *p)
{
    for (int i = 0; i < p->photos; i++)
        if (takes_part(p, i) && fabs(log(scale_of(p, i))) > log(ZOOM_RATIO))
            p->oddities |= ESRA_WARN_ZOOM;
    return ESRA_OK;
}

/* ---- What the layers leave ---- */

static float difference_at(const struct image *a, const struct image *b, size_t n)
{
    size_t pixels = (size_t)a->width * (size_t)a->height;
    float sum = 0;
    for (int c = 0; c < a->channels; c++)
        sum += a->data[(size_t)c * pixels + n] - b->data[(size_t)c * pixels + n];
    return sum;
}

/* The mean weight of a cell; 1 where a part of it is not seen. */
static double cell_trust(const struct image *mask, const struct image *trust, int left, int top, int side)
{
    double sum = 0;
    for (int y = top; y < top + side; y++)
        for (int x = left; x < left + side; x++) {
            size_t n = (size_t)y * (size_t)mask->width + (size_t)x;
            if (!(mask->data[n] > 0))
                return 1;
            sum += trust->data[n];
        }
    return sum / ((double)side * side);
}

/* Cells of a grid that are lost, 1, else 0. */
struct cells {
    unsigned char *lost;
    int *queue; /* of cells of the patch being counted */
    int across, down;
};

/* Counts the patch that cell n belongs to, side by side, and clears it. */
static int count_patch(struct cells *cells, int n)
{
    int begin = 0, end = 0;
    cells->queue[end++] = n;
    cells->lost[n] = 0;
    while (begin < end) {
        int here = cells->queue[begin++], x = here % cells->across, y = here / cells->across;
        const int beside[4] = {x > 0 ? here - 1 : here, x + 1 < cells->across ? here + 1 : here,
                               y > 0 ? here - cells->across : here, y + 1 < cells->down ? here + cells->across : here};
        for (int k = 0; k < 4; k++)
            if (cells->lost[beside[k]]) {
                cells->lost[beside[k]] = 0;
                cells->queue[end++] = beside[k];
            }
    }
    return end;
}

static esra_status find_patches(const struct image *mask, const struct image *trust, struct remains *remains,
                                struct message *message)
{
    int side = mask->width / CELLS_ACROSS > CELL_LEAST ? mask->width / CELLS_ACROSS : CELL_LEAST;
    struct cells cells = {.across = mask->width / side, .down = mask->height / side};
    int count = cells.across * cells.down, all = 0, largest = 0;
    esra_status status = ESRA_OK;
    if (mask->width < CELLS_ACROSS * CELL_LEAST || count == 0)
        return ESRA_OK;
    cells.lost = esra_allocate((size_t)count, sizeof *cells.lost);
    cells.queue = esra_allocate((size_t)count, sizeof *cells.queue);
    if (!cells.lost || !cells.queue)
        TRY(esra_fail_memory(message));
    for (int n = 0; n < count; n++)
        cells.lost[n] = cell_trust(mask, trust, n % cells.across * side, n / cells.across * side, side) < UNEXPLAINED;
    for (int n = 0; n < count; n++)
        if (cells.lost[n]) {
            int patch = count_patch(&cells, n);
            all += patch;
            largest = patch > largest ? patch : largest;
        }
    remains->patches = (double)all / count;
    remains->largest = (double)largest / count;
done:
    esra_release(&cells.lost);
    esra_release(&cells.queue);
    return status;
}

esra_status esra_remains_find(const struct image *predicted, const struct image *shown, const struct image *mask,
                              const struct image *trust, struct remains *remains, struct message *message)
{
    size_t pixels = (size_t)mask->width * (size_t)mask->height, known = 0, darker = 0, brighter = 0;
    for (size_t n = 0; n < pixels; n++) {
        known += mask->data[n] > 0;
        if (!(mask->data[n] > 0) || trust->data[n] >= UNEXPLAINED)
            continue;
        float difference = difference_at(shown, predicted, n);
        darker += difference < 0;
        brighter += difference > 0;
    }
    remains->darker = known ? (double)darker / (double)known : 0;
    remains->brighter = known ? (double)brighter / (double)known : 0;
    return find_patches(mask, trust, remains, message);
}

static esra_status see_remains(struct pipeline *p, int i, struct remains *remains)
{
    struct image predicted = {0}, shown = {0}, mask = {0}, trust = {0};
    esra_status status;
    TRY(esra_joint_predict(p->joint, i, &predicted, &shown, &mask));
    TRY(esra_joint_trust(p->joint, i, &trust));
    TRY(esra_remains_find(&predicted, &shown, &mask, &trust, remains, p->context->message));
done:
    esra_image_free(&predicted);
    esra_image_free(&shown);
    esra_image_free(&mask);
    esra_image_free(&trust);
    return status;
}

static esra_status judge_remains(struct pipeline *p)
{
    int hidden = 0;
    bool moving = false;
    esra_status status = ESRA_OK;
    for (int i = 0; i < p->photos && !esra_context_stopping(p->context); i++) {
        struct remains remains = {0};
        if (i != p->reference && !p->motions[i].aligned)
            continue;
        TRY(see_remains(p, i, &remains));
        hidden += remains.darker > HIDDEN_SHARE && remains.darker > HIDDEN_OVER_BRIGHTER * remains.brighter;
        moving = moving || (remains.largest > MOVING_SHARE && remains.largest < MOVING_MOST &&
                            remains.largest > MOVING_OF_ALL * remains.patches);
    }
    if (moving && p->joint_info.trusted > MOVING_TRUSTED)
        p->oddities |= ESRA_WARN_MOVING;
    else if (2 * hidden >= p->photos)
        p->oddities |= ESRA_WARN_OPAQUE;
done:
    return status;
}

/* ---- Which layer is which ---- */

static esra_status layer_energies(struct pipeline *p, const struct image *layer, double energy[2])
{
    struct image grey = {0};
    esra_status status;
    TRY(flatten(layer, false, &grey, p->context->message));
    TRY(energies(&grey, LAYER_FINE_PX, LAYER_COARSE_PX, energy, p->context));
done:
    esra_image_free(&grey);
    return status;
}

static esra_status compare_layers(struct pipeline *p)
{
    struct image layer = {0};
    double scene[2] = {0, 0}, mirrored[2] = {0, 0};
    esra_status status;
    TRY(esra_joint_transmitted(p->joint, &layer));
    TRY(layer_energies(p, &layer, scene));
    esra_image_free(&layer);
    TRY(esra_joint_seen(p->joint, p->reference, &layer));
    TRY(layer_energies(p, &layer, mirrored));
    double sharper = mirrored[0] * scene[1] > 0 ? scene[0] * mirrored[1] / (mirrored[0] * scene[1]) : 1;
    if (p->joint_info.trusted > EXCHANGED_TRUSTED && mirrored[0] > EXCHANGED_ENERGY * scene[0] &&
        sharper < EXCHANGED_SHARPNESS)
        p->oddities |= ESRA_WARN_EXCHANGED;
done:
    esra_image_free(&layer);
    return status;
}

esra_status esra_pipeline_inspect(struct pipeline *p)
{
    esra_status status = ESRA_OK;
    if (p->input->transmitted)
        return ESRA_OK;
    if (!p->by_depth)
        TRY(esra_pipeline_compare_scales(p));
    compare_focus(p);
    if (!p->joint)
        return ESRA_OK;
    esra_joint_trim(p->joint);
    TRY(judge_remains(p));
    if (!p->input->swap && p->photos > 2)
        TRY(compare_layers(p));
done:
    return status;
}
