/* solve/fast_level.c - loading, halving and refining a level of the fast engine.
 *
 * A coarse pixel is the mean of up to 2 x 2 fine ones. Then a coarse difference is a mean of sums of fine differences
 * along paths, so E is carried down by the same means; the data term of the coarse problem is a quarter of the fine
 * one's, and with lambda/2 so is the gradient term. */
#include "solve/fast_level.h"

#include <string.h>

#include "base/cells.h"

static int plane_index(const struct level *level, enum level_plane kind)
{
    if (kind < LEVEL_MIXTURE)
        return (int)kind * level->layers;
    int mixtures = (LEVEL_MIXTURE - level->expected) * level->layers, weights = mixtures + level->photos;
    if (kind == LEVEL_MIXTURE)
        return mixtures;
    return kind == LEVEL_WEIGHT || !level->weighted ? weights : weights + level->photos;
}

/* A pitch of an odd number of cache lines spreads the planes of a row over the sets of the cache. */
static ptrdiff_t odd_lines(ptrdiff_t pitch)
{
    return pitch / KERNEL_GROUP % 2 ? pitch : pitch + KERNEL_GROUP;
}

static size_t row_floats(const struct level *level)
{
    return (size_t)level->pitch * ((size_t)plane_index(level, LEVEL_G) + 1);
}

/* x, p, q and z, which come first. */
static size_t state_floats(const struct level *level)
{
    return (size_t)LEVEL_E_VERTICAL * (size_t)level->layers * (size_t)level->pitch;
}

static void take_memory(struct level *level, struct arena *arena, int spare)
{
    size_t rows = (size_t)level->height + (size_t)spare, floats;
    level->spare = spare;
    level->record = (ptrdiff_t)row_floats(level);
    if (!esra_size_multiply(row_floats(level), rows, &floats))
        floats = (size_t)-1 / sizeof(float) - KERNEL_PAD;
    level->data = esra_arena_take(arena, floats + KERNEL_PAD, sizeof *level->data);
    if (level->data)
        level->data += KERNEL_PAD;
}

void esra_level_lay_out(struct level *level, struct arena *arena, const struct problem *problem, int width, int height,
                        const struct level *finer)
{
    *level = (struct level){
        .width = width,
        .height = height,
        .photos = problem->photos,
        .layers = problem->layers,
        .weighted = problem_is_weighted(problem),
        .expected = !finer && problem->expected.layers,
    };
    level->pitch = odd_lines(kernel_columns(width) + KERNEL_PAD);
    if (finer && row_floats(level) > state_floats(finer))
        level->pitch = kernel_columns(width) + KERNEL_PAD; /* one line less may find its place */
    if (!finer || finer->spare < LEVEL_SPARE || row_floats(level) > state_floats(finer)) {
        take_memory(level, arena, finer ? 0 : LEVEL_SPARES);
        return;
    }
    level->nested = true;
    level->spare = finer->spare - LEVEL_SPARE;
    level->record = finer->record;
    if (finer->data)
        level->data = finer->data + (finer->height - height + LEVEL_SPARE) * finer->record;
}

static float *row_of(const struct level *level, enum level_plane kind, int number, int y)
{
    return level->data + y * level->record + (plane_index(level, kind) + number) * level->pitch;
}

struct plane esra_level_plane(const struct level *level, enum level_plane kind, int number)
{
    return (struct plane){row_of(level, kind, number, 0), level->width, level->height, level->record};
}

struct sweep_row esra_level_row(const struct level *level, const float *zeros, int y)
{
    int below = y < level->height - 1 ? y + 1 : y;
    return (struct sweep_row){
        .pitch = level->pitch,
        .x = row_of(level, LEVEL_X, 0, y),
        .p = row_of(level, LEVEL_P, 0, y),
        .q = row_of(level, LEVEL_Q, 0, y),
        .z = row_of(level, LEVEL_Z, 0, y),
        .p_above = y > 0 ? row_of(level, LEVEL_P, 0, y - 1) : zeros,
        .e_vertical = level->expected ? NULL : row_of(level, LEVEL_E_VERTICAL, 0, y),
        .e_horizontal = level->expected ? NULL : row_of(level, LEVEL_E_HORIZONTAL, 0, y),
        .expected = level->expected ? row_of(level, LEVEL_EXPECTED, 0, y) : NULL,
        .expected_below = level->expected ? row_of(level, LEVEL_EXPECTED, 0, below) : NULL,
        .mixture = row_of(level, LEVEL_MIXTURE, 0, y),
        .weight = level->weighted ? row_of(level, LEVEL_WEIGHT, 0, y) : NULL,
        .g = row_of(level, LEVEL_G, 0, y),
    };
}

static void load(float *to, const esra_image *image, int count, int y, int channel)
{
    const float *from = image_sample(image, 0, y, channel);
    for (int x = 0; x < count; x++)
        to[x] = from[x * image->column_stride];
}

/* Planes from `first` up to `end` in row y. */
static void clear_planes(const struct level *level, int y, int first, int end)
{
    memset(level->data + y * level->record + first * level->pitch, 0,
           (size_t)(end - first) * (size_t)level->pitch * sizeof(float));
}

/* Differences that do not exist have E = 0, and their duals then stay at zero. */
void esra_level_load_row(const struct level *level, const struct problem *problem, int channel, int y)
{
    int weights = plane_index(level, LEVEL_WEIGHT), g = plane_index(level, LEVEL_G);
    clear_planes(level, y, 0, weights);
    clear_planes(level, y, g, g + 1);
    for (int l = 0; l < level->layers; l++) {
        if (level->expected) {
            const struct codes *layer = &problem->expected.layers[channel * level->layers + l];
            esra_codes_load(layer, (size_t)y * (size_t)level->width, row_of(level, LEVEL_EXPECTED, l, y),
                            (size_t)level->width);
            continue;
        }
        esra_problem_gradients(problem, 2 * l, channel, 0, y, level->width, row_of(level, LEVEL_E_VERTICAL, l, y));
        esra_problem_gradients(problem, 2 * l + 1, channel, 0, y, level->width,
                               row_of(level, LEVEL_E_HORIZONTAL, l, y));
    }
    for (int i = 0; i < level->photos; i++)
        load(row_of(level, LEVEL_MIXTURE, i, y), &problem->mixtures[i], level->width, y, channel);
}

void esra_level_weigh_row(const struct level *level, const struct problem *problem, int i, int y)
{
    int plane = plane_index(level, LEVEL_WEIGHT) + i;
    clear_planes(level, y, plane, plane + 1);
    esra_problem_weights(problem, i, 0, y, level->width, row_of(level, LEVEL_WEIGHT, i, y));
}

/* The fine rows or columns of a coarse one: first and one past the last. */
struct span {
    int first, end;
};

static struct span span_of(int coarse, int side)
{
    int end = 2 * coarse + 2;
    return (struct span){2 * coarse, end < side ? end : side};
}

/* E down or right of a pixel. */
static float slope(const struct level *fine, int l, int y, int x, bool right)
{
    if (!fine->expected)
        return row_of(fine, right ? LEVEL_E_HORIZONTAL : LEVEL_E_VERTICAL, l, y)[x];
    const float *here = row_of(fine, LEVEL_EXPECTED, l, y) + x;
    float difference = here[right ? 1 : fine->record] - here[0];
    return difference == difference ? difference : 0;
}

/* From the mean of `from` pixels, the first at (x, y), to the mean of the `to` right after them, down or right, out of
 * the differences between neighbours: the mean over both ends of the sums along the way. */
static float path_mean(const struct level *fine, int l, int y, int x, bool right, int from, int to)
{
    int across = right, down = !right, last = from - 1;
    float sum = slope(fine, l, y + last * down, x + last * across, right);
    if (from == 2)
        sum += 0.5f * slope(fine, l, y, x, right);
    if (to == 2)
        sum += 0.5f * slope(fine, l, y + from * down, x + from * across, right);
    return sum;
}

static void coarsen_gradients(const struct level *fine, const struct level *coarse, int l, int y)
{
    struct span rows = span_of(y, fine->height), below = span_of(y + 1, fine->height);
    float *vertical = row_of(coarse, LEVEL_E_VERTICAL, l, y), *horizontal = row_of(coarse, LEVEL_E_HORIZONTAL, l, y);
    for (int x = 0; x < coarse->width; x++) {
        struct span columns = span_of(x, fine->width), right = span_of(x + 1, fine->width);
        int tall = rows.end - rows.first, wide = columns.end - columns.first;
        for (int c = columns.first; y < coarse->height - 1 && c < columns.end; c++)
            vertical[x] += path_mean(fine, l, rows.first, c, false, tall, below.end - below.first) / (float)wide;
        for (int r = rows.first; x < coarse->width - 1 && r < rows.end; r++)
            horizontal[x] += path_mean(fine, l, r, columns.first, true, wide, right.end - right.first) / (float)tall;
    }
}

/* Weights are averaged, intensities averaged by weight: the coarse data term is then the fine one's mean but for a
 * constant. A pixel that nobody saw keeps weight 0 and any intensity. */
static void coarsen_photo(const struct level *fine, const struct level *coarse, int i, int y)
{
    struct span rows = span_of(y, fine->height);
    float *mixture = row_of(coarse, LEVEL_MIXTURE, i, y), *weight = row_of(coarse, LEVEL_WEIGHT, i, y);
    for (int x = 0; x < coarse->width; x++) {
        struct span columns = span_of(x, fine->width);
        float sum = 0, weights = 0;
        for (int r = rows.first; r < rows.end; r++)
            for (int c = columns.first; c < columns.end; c++) {
                float w = fine->weighted ? row_of(fine, LEVEL_WEIGHT, i, r)[c] : 1;
                sum += w * row_of(fine, LEVEL_MIXTURE, i, r)[c];
                weights += w;
            }
        mixture[x] = weights > 0 ? sum / weights : 0;
        if (coarse->weighted)
            weight[x] = weights / (float)((rows.end - rows.first) * (columns.end - columns.first));
    }
}

void esra_level_coarsen_row(const struct level *fine, const struct level *coarse, int y)
{
    memset(coarse->data + y * coarse->record, 0, row_floats(coarse) * sizeof(float));
    for (int l = 0; l < coarse->layers; l++)
        coarsen_gradients(fine, coarse, l, y);
    for (int i = 0; i < coarse->photos; i++)
        coarsen_photo(fine, coarse, i, y);
}

static float clip01(float x)
{
    return x < 0 ? 0 : x > 1 ? 1 : x;
}

void esra_level_guess_row(const struct level *level, const float *a, int y)
{
    float *x0 = row_of(level, LEVEL_X, 0, y);
    for (int x = 0; x < level->width; x++)
        x0[x] = 1;
    for (int i = 0; i < level->photos; i++) {
        const float *mixture = row_of(level, LEVEL_MIXTURE, i, y);
        const float *weight = level->weighted ? row_of(level, LEVEL_WEIGHT, i, y) : NULL;
        for (int x = 0; x < level->width; x++)
            if (!weight || weight[x] > 0)
                x0[x] = mixture[x] < x0[x] ? clip01(mixture[x]) : x0[x];
    }
    for (int i = 0; i < level->photos; i++) {
        const float *mixture = row_of(level, LEVEL_MIXTURE, i, y);
        float *out = row_of(level, LEVEL_X, i + 1, y);
        for (int x = 0; x < level->width; x++)
            out[x] = clip01(mixture[x] - a[i] * x0[x]);
    }
}

void esra_level_expect_row(const struct level *level, const float *a, int y)
{
    const float *scene = row_of(level, LEVEL_EXPECTED, 0, y);
    float *x0 = row_of(level, LEVEL_X, 0, y);
    for (int x = 0; x < level->width; x++)
        x0[x] = scene[x] == scene[x] ? clip01(scene[x]) : 0;
    for (int i = 0; i < level->photos; i++) {
        const float *mixture = row_of(level, LEVEL_MIXTURE, i, y), *expected = row_of(level, LEVEL_EXPECTED, i + 1, y);
        float *out = row_of(level, LEVEL_X, i + 1, y);
        for (int x = 0; x < level->width; x++)
            out[x] = clip01(expected[x] == expected[x] ? expected[x] : mixture[x] - a[i] * x0[x]);
    }
}

/* Values out of range are clipped to the bound. */
static void resume(float *to, const esra_image *image, int count, int y, int channel, float lowest)
{
    load(to, image, count, y, channel);
    for (int x = 0; x < count; x++)
        to[x] = to[x] < lowest ? lowest : to[x] > 1 ? 1 : to[x];
}

void esra_level_resume_row(const struct level *level, const struct problem *problem, int channel, int y)
{
    for (int l = 0; l < level->layers; l++) {
        resume(row_of(level, LEVEL_X, l, y), &problem->start_layers[l], level->width, y, channel, 0);
        if (y < level->height - 1)
            resume(row_of(level, LEVEL_P, l, y), &problem->start_duals[2 * l], level->width, y, channel, -1);
        resume(row_of(level, LEVEL_Q, l, y), &problem->start_duals[2 * l + 1], level->width - 1, y, channel, -1);
    }
}

/* lambda D'u_l at a pixel; duals of differences that do not exist are zero. */
static float tension(const struct level *level, int l, int y, int x)
{
    float sum = row_of(level, LEVEL_Q, l, y)[x - 1] - row_of(level, LEVEL_Q, l, y)[x] - row_of(level, LEVEL_P, l, y)[x];
    sum += y > 0 ? row_of(level, LEVEL_P, l, y - 1)[x] : 0;
    return (float)level->lambda * sum;
}

/* z_l = what the data pull more than u holds, where x_l stands at the bound it is pulled to. */
static float pressure(float x, float pull)
{
    return (x <= 0 && pull < 0) || (x >= 1 && pull > 0) ? pull : 0;
}

void esra_level_settle_row(const struct level *level, const float *a, int y)
{
    const float *x0 = row_of(level, LEVEL_X, 0, y);
    for (int x = 0; x < level->width; x++) {
        float pull = -tension(level, 0, y, x);
        for (int i = 0; i < level->photos; i++) {
            float own = row_of(level, LEVEL_X, i + 1, y)[x];
            float weight = level->weighted ? row_of(level, LEVEL_WEIGHT, i, y)[x] : 1;
            float residual = weight * (row_of(level, LEVEL_MIXTURE, i, y)[x] - a[i] * x0[x] - own);
            pull += a[i] * residual;
            row_of(level, LEVEL_Z, i + 1, y)[x] = pressure(own, residual - tension(level, i + 1, y, x));
        }
        row_of(level, LEVEL_Z, 0, y)[x] = pressure(x0[x], pull);
    }
}

static void prolong_pixels(const float *near_, const float *far_, int coarse_width, float *out, int width)
{
    for (int x = 0; x < width; x++) {
        int i = x / 2, k = cell_beside(x, coarse_width);
        out[x] = 0.75f * (0.75f * near_[i] + 0.25f * near_[k]) + 0.25f * (0.75f * far_[i] + 0.25f * far_[k]);
    }
}

/* p lies between rows: an odd fine row's on the coarse one, an even row's half way between two, the one above the first
 * being zero. Across, it is interpolated as pixels are. */
static void prolong_vertical(const struct level *coarse, const struct level *fine, int l, int y)
{
    const float *here = row_of(coarse, LEVEL_P, l, y / 2);
    const float *above = y % 2 == 0 && y > 0 ? row_of(coarse, LEVEL_P, l, y / 2 - 1) : NULL;
    float *out = row_of(fine, LEVEL_P, l, y), share = y % 2 ? 1 : 0.5f;
    for (int x = 0; x < fine->width; x++) {
        int i = x / 2, k = cell_beside(x, coarse->width);
        float sum = 0.75f * here[i] + 0.25f * here[k];
        sum += above ? 0.75f * above[i] + 0.25f * above[k] : 0;
        out[x] = share * sum;
    }
}

static void prolong_horizontal(const struct level *coarse, const struct level *fine, int l, int y)
{
    const float *near_ = row_of(coarse, LEVEL_Q, l, y / 2);
    const float *far_ = row_of(coarse, LEVEL_Q, l, cell_beside(y, coarse->height));
    float *out = row_of(fine, LEVEL_Q, l, y);
    for (int x = 0; x < fine->width - 1; x++) {
        int i = x / 2;
        float here = 0.75f * near_[i] + 0.25f * far_[i];
        float before = i > 0 ? 0.75f * near_[i - 1] + 0.25f * far_[i - 1] : 0;
        out[x] = x % 2 ? here : 0.5f * (before + here);
    }
}

void esra_level_prolong_row(const struct level *coarse, const struct level *fine, int y)
{
    int near_ = y / 2, far_ = cell_beside(y, coarse->height);
    memset(fine->data + y * fine->record, 0, state_floats(fine) * sizeof(float));
    for (int l = 0; l < fine->layers; l++) {
        prolong_pixels(row_of(coarse, LEVEL_X, l, near_), row_of(coarse, LEVEL_X, l, far_), coarse->width,
                       row_of(fine, LEVEL_X, l, y), fine->width);
        prolong_pixels(row_of(coarse, LEVEL_Z, l, near_), row_of(coarse, LEVEL_Z, l, far_), coarse->width,
                       row_of(fine, LEVEL_Z, l, y), fine->width);
        if (y < fine->height - 1)
            prolong_vertical(coarse, fine, l, y);
        prolong_horizontal(coarse, fine, l, y);
    }
}
