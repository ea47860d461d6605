/* camera/pair.c - sequential tree-reweighted message passing over blocks of pixels and pairs of labels. */
#include "camera/pair.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/wide.h"
#include "camera/thresholds.h"

#define BLOCK_PX    6
#define LABELS_MOST 32
/* Passes over the blocks there and back. */
#define ITERATIONS 12
/* Blocks of a task: some 30 us of work. */
#define TOGETHER 8

/* The neighbours from which a block has messages; the opposite side is side ^ 1. */
enum { LEFT, RIGHT, ABOVE, BELOW, SIDES };

/* A state k = p L + q stands for labels p and q of L; each is `merged` labels of the volume, of which the best counts.
 */
struct passing {
    const struct sweep *sweep;
    const uint8_t *volume;
    int width, height, labels, states, merged;
    float small, large;      /* s(1) and the largest s, of a block's side */
    float *unary, *messages; /* [blocks][states], [blocks][SIDES][states] */
    float *sum, *sent;       /* [states]: of the block at work; those of thread n begin at sum + 2 n states */
};

/* fminf() of the library is a call, and has NaN to think of. */
static inline float lesser(float a, float b)
{
    return a < b ? a : b;
}

static void set_steps(struct passing *p)
{
    double unit = SWEEP_WHOLE / p->sweep->options.truncate;
    p->small = (float)(BLOCK_PX * unit * camera_thresholds.step_small / p->sweep->options.labels_a_px);
    p->large = (float)(BLOCK_PX * unit * camera_thresholds.step_large / 2);
}

/* Costs of the merged labels of pixel n. */
static void merge_costs(const struct passing *p, size_t n, float costs[LABELS_MOST])
{
    const uint8_t *all = p->volume + n * (size_t)p->sweep->padded;
    for (int k = 0; k < p->labels; k++) {
        int least = SWEEP_WHOLE;
        for (int j = k * p->merged; j < (k + 1) * p->merged && j < p->sweep->labels; j++)
            least = all[j] < least ? all[j] : least;
        costs[k] = (float)least;
    }
}

static void add_pixel(const struct passing *p, size_t n, float *unary)
{
    float costs[LABELS_MOST];
    merge_costs(p, n, costs);
    for (int k = 0; k < p->labels; k++)
        for (int j = 0; j < p->labels; j++)
            unary[k * p->labels + j] += lesser(costs[k], costs[j]);
}

/* A row of blocks. */
static void fill_unary(void *work, int task, int worker)
{
    const struct passing *p = work;
    int last = (task + 1) * BLOCK_PX < p->sweep->height ? (task + 1) * BLOCK_PX : p->sweep->height;
    (void)worker;
    for (int y = task * BLOCK_PX; y < last; y++)
        for (int x = 0; x < p->sweep->width; x++) {
            size_t block = (size_t)task * (size_t)p->width + (size_t)(x / BLOCK_PX);
            add_pixel(p, (size_t)y * (size_t)p->sweep->width + (size_t)x, p->unary + block * (size_t)p->states);
        }
}
WIDE_TASK(fill_unary)

/* f(k, q) <- min_j f(j, q) + s(k - j): the lower envelope of cones (Felzenszwalb and Huttenlocher 2006), of all q at
 * once. */
static void spread_rows(const struct passing *p, float *f)
{
    int n = p->labels;
    float least[LABELS_MOST];
    memcpy(least, f, (size_t)n * sizeof *f);
    for (int k = 1; k < n; k++)
        for (int q = 0; q < n; q++) {
            least[q] = lesser(least[q], f[k * n + q]);
            f[k * n + q] = lesser(f[k * n + q], f[(k - 1) * n + q] + p->small);
        }
    for (int k = n - 2; k >= 0; k--)
        for (int q = 0; q < n; q++)
            f[k * n + q] = lesser(f[k * n + q], f[(k + 1) * n + q] + p->small);
    for (int k = 0; k < n; k++)
        for (int q = 0; q < n; q++)
            f[k * n + q] = lesser(f[k * n + q], least[q] + p->large);
}

/* Places of the matrix exchanged with rows. */
static void transpose(const struct passing *p, float *f)
{
    for (int k = 0; k < p->labels; k++)
        for (int q = 0; q < k; q++) {
            float kept = f[k * p->labels + q];
            f[k * p->labels + q] = f[q * p->labels + k];
            f[q * p->labels + k] = kept;
        }
}

static float *message_to(const struct passing *p, int block, int from)
{
    return p->messages + ((size_t)block * SIDES + (size_t)from) * (size_t)p->states;
}

/* Costs of the block's states by itself and by all its messages. */
static void add_up(const struct passing *p, int block)
{
    const float *unary = p->unary + (size_t)block * (size_t)p->states, *in = message_to(p, block, LEFT);
    for (int k = 0; k < p->states; k++)
        p->sum[k] = unary[k] + (in[k] + in[p->states + k]) + (in[2 * p->states + k] + in[3 * p->states + k]);
}

/* Which neighbours a block has. */
static void list_sides(const struct passing *p, int block, bool has[SIDES])
{
    int x = block % p->width, y = block / p->width;
    has[LEFT] = x > 0;
    has[RIGHT] = x + 1 < p->width;
    has[ABOVE] = y > 0;
    has[BELOW] = y + 1 < p->height;
}

/* The block's message to the neighbour at that side; `share` of its sum is what one of the trees through it has. */
static void send(const struct passing *p, int block, int side, float share)
{
    const int step[SIDES] = {-1, 1, -p->width, p->width};
    const float *back = message_to(p, block, side);
    float *to = message_to(p, block + step[side], side ^ 1), least = INFINITY;
    for (int k = 0; k < p->states; k++)
        p->sent[k] = share * p->sum[k] - back[k];
    spread_rows(p, p->sent);
    transpose(p, p->sent);
    spread_rows(p, p->sent);
    transpose(p, p->sent);
    for (int k = 0; k < p->states; k++)
        least = lesser(least, p->sent[k]);
    for (int k = 0; k < p->states; k++)
        to[k] = p->sent[k] - least;
}

static void pass_block(const struct passing *p, int block, bool backward)
{
    bool has[SIDES];
    list_sides(p, block, has);
    int after = has[RIGHT] + has[BELOW], before = has[LEFT] + has[ABOVE];
    add_up(p, block);
    for (int side = backward ? LEFT : RIGHT; side < SIDES; side += 2)
        if (has[side])
            send(p, block, side, 1.f / (float)(after > before ? after : before));
}

/* Blocks (x, y) of x + y = number, counted from the end where the pass goes backward. */
struct diagonal {
    const struct passing *p;
    int number;
    bool backward;
};

static void pass_part(void *work, int task, int worker)
{
    const struct diagonal *d = work;
    struct passing own = *d->p;
    int width = own.width, last = d->number < own.height - 1 ? d->number : own.height - 1;
    int y = (d->number < width ? 0 : d->number - width + 1) + task * TOGETHER;
    own.sum += 2 * (size_t)worker * (size_t)own.states;
    own.sent = own.sum + own.states;
    for (int end = y + TOGETHER; y < end && y <= last; y++) {
        int block = y * width + (d->number - y);
        pass_block(&own, d->backward ? width * own.height - 1 - block : block, d->backward);
    }
}
WIDE_TASK(pass_part)

/* All blocks in their order send to those after them, or, backward, to those before. What a block sends depends on its
 * neighbours before it alone: blocks of one diagonal may go at once. */
static void pass(const struct passing *p, bool backward, struct context *context)
{
    int longest = p->width < p->height ? p->width : p->height;
    for (int number = 0; number < p->width + p->height - 1; number++) {
        struct diagonal diagonal = {p, number, backward};
        esra_context_run(context, WIDE(context, pass_part), &diagonal, (longest + TOGETHER - 1) / TOGETHER, NULL);
    }
}

/* w in the middle of a merged label. */
static float inverse_of(const struct passing *p, int label)
{
    return (float)(p->sweep->lowest + p->sweep->step * (label * p->merged + (p->merged - 1) / 2.));
}

static void choose(const struct passing *p, struct pair *pair)
{
    for (int block = 0; block < p->width * p->height; block++) {
        int least = 0;
        add_up(p, block);
        for (int k = 1; k < p->states; k++)
            least = p->sum[k] < p->sum[least] ? k : least;
        int a = least / p->labels, b = least % p->labels;
        pair->inverse[PAIR_FARTHER].data[block] = inverse_of(p, a < b ? a : b);
        pair->inverse[PAIR_NEARER].data[block] = inverse_of(p, a < b ? b : a);
    }
}

static esra_status make_room(struct passing *p, struct pair *pair, struct context *context)
{
    size_t blocks = (size_t)p->width * (size_t)p->height, states = (size_t)p->states, samples, all;
    struct message *message = context->message;
    esra_status status = ESRA_OK;
    if (!esra_size_multiply(blocks, states, &samples) || !esra_size_multiply(samples, SIDES, &all))
        return esra_fail_memory(message);
    p->unary = esra_allocate(samples, sizeof *p->unary);
    p->messages = esra_allocate(all, sizeof *p->messages);
    p->sum = esra_allocate_untouched(2 * states * (size_t)esra_context_threads(context), sizeof *p->sum);
    if (!p->unary || !p->messages || !p->sum)
        return esra_fail_memory(message);
    p->sent = p->sum + states;
    for (int k = 0; k < PAIR_SURFACES; k++)
        TRY(esra_image_create(&pair->inverse[k], p->width, p->height, 1, message));
done:
    return status;
}

esra_status esra_pair_find(struct pair *pair, const struct sweep *sweep, const uint8_t *volume, struct context *context)
{
    struct passing p = {.sweep = sweep, .volume = volume};
    esra_status status;
    p.width = (sweep->width + BLOCK_PX - 1) / BLOCK_PX;
    p.height = (sweep->height + BLOCK_PX - 1) / BLOCK_PX;
    p.merged = (sweep->labels + LABELS_MOST - 1) / LABELS_MOST;
    p.labels = (sweep->labels + p.merged - 1) / p.merged;
    p.states = p.labels * p.labels;
    *pair = (struct pair){.block_px = BLOCK_PX, .width = p.width, .height = p.height};
    TRY(make_room(&p, pair, context));
    set_steps(&p);
    esra_context_run(context, WIDE(context, fill_unary), &p, p.height, NULL);
    for (int n = 0; n < 2 * ITERATIONS && !esra_context_stopping(context); n++)
        pass(&p, n % 2, context);
    choose(&p, pair);
done:
    esra_release(&p.unary);
    esra_release(&p.messages);
    esra_release(&p.sum);
    if (status != ESRA_OK)
        esra_pair_free(pair);
    return status;
}

void esra_pair_free(struct pair *pair)
{
    for (int k = 0; k < PAIR_SURFACES; k++)
        esra_image_free(&pair->inverse[k]);
    *pair = (struct pair){0};
}
