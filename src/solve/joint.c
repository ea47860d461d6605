/* solve/joint.c - the joint two-layer model: its photos and its answers. */
#include "solve/joint_object.h"

#include <string.h>

/* A side below this many pixels is not halved: four motions of a few pixels must still be told apart. */
#define LEAST_SIDE 24

static void layout_tables(struct joint *joint, struct arena *arena)
{
    size_t m = (size_t)joint->photos;
    for (int l = 0; l < joint->levels; l++) {
        struct joint_level *level = &joint->level[l];
        level->photo = esra_arena_take(arena, m, sizeof *level->photo);
        level->mask = esra_arena_take(arena, m, sizeof *level->mask);
        level->weight = esra_arena_take(arena, m, sizeof *level->weight);
        level->warp = esra_arena_take(arena, m, sizeof *level->warp);
    }
    joint->mixing = esra_arena_take(arena, m, sizeof *joint->mixing);
    joint->reflection_gain = esra_arena_take(arena, m, sizeof *joint->reflection_gain);
    joint->confidence = esra_arena_take(arena, m, sizeof *joint->confidence);
    joint->motion = esra_arena_take(arena, 9 * m, sizeof *joint->motion);
}

static void plan_levels(struct joint *joint, const struct image *first, int levels)
{
    int width = first->width, height = first->height;
    levels = levels > JOINT_MAX_LEVELS ? JOINT_MAX_LEVELS : levels < 1 ? 1 : levels;
    for (int l = 0; l < levels; l++) {
        struct joint_level *level = &joint->level[l];
        level->photos = joint->photos;
        level->channels = first->channels;
        level->width[TRANSMITTED] = width;
        level->height[TRANSMITTED] = height;
        esra_joint_level_divide(level, joint->context);
        joint->levels = l + 1;
        width = (width + 1) / 2;
        height = (height + 1) / 2;
        if (width < LEAST_SIDE || height < LEAST_SIDE)
            break;
    }
}

static esra_status check_photos(const struct joint_photos *photos, struct message *message)
{
    if (photos->count < 1)
        return esra_fail(message, ESRA_BAD_ARGUMENT, "the joint solve needs at least one photo, not %d", photos->count);
    const struct image *first = &photos->photos[0];
    if (first->channels < 1 || first->channels > COLOURS)
        return esra_fail(message, ESRA_BAD_DATA, "photos have %d channels: the joint solve takes 1 to %d",
                         first->channels, COLOURS);
    /* Sample numbers on the canvas, up to 1.5 times wider and higher and a few more for its edge, are 31 bits. */
    if ((1.5 * first->width + 4) * (1.5 * first->height + 4) > 2147483647.0)
        return esra_fail(message, ESRA_OVER_LIMIT,
                         "photos of %d x %d are too large for the joint solve: make them smaller", first->width,
                         first->height);
    for (int i = 0; i < photos->count; i++) {
        const struct image *photo = &photos->photos[i], *mask = photos->masks ? &photos->masks[i] : NULL;
        if (photo->width != first->width || photo->height != first->height || photo->channels != first->channels)
            return esra_fail(message, ESRA_BAD_DATA, "photo %d has another size than photo 1", i + 1);
        if (mask && (mask->width != first->width || mask->height != first->height || mask->channels != 1))
            return esra_fail(message, ESRA_BAD_DATA, "mask %d has another size than its photo", i + 1);
    }
    return ESRA_OK;
}

esra_status esra_joint_load(struct joint *joint, const struct joint_photos *photos)
{
    const struct joint_level *top = &joint->level[0];
    esra_status status = ESRA_OK;
    TRY(check_photos(photos, joint->context->message));
    if (photos->count != joint->photos || photos->photos[0].width != top->width[TRANSMITTED] ||
        photos->photos[0].height != top->height[TRANSMITTED] || photos->photos[0].channels != top->channels)
        return esra_fail(joint->context->message, ESRA_BAD_ARGUMENT,
                         "photos have another number or size than those they replace");
    for (int i = 0; i < joint->photos; i++) {
        top->photo[i] = photos->photos[i].data;
        top->mask[i] = photos->masks ? photos->masks[i].data : NULL;
    }
    joint->halved = false;
done:
    return status;
}

static void layout_pyramid(struct joint *joint, struct arena *arena)
{
    for (int l = 1; l < joint->levels; l++)
        esra_joint_level_layout_photos(&joint->level[l], arena);
}

bool esra_joint_place(struct joint *joint, struct arena *arena, void (*layout)(struct joint *, struct arena *))
{
    esra_arena_count(arena);
    layout(joint, arena);
    if (!esra_arena_place(arena))
        return false;
    layout(joint, arena);
    return true;
}

esra_status esra_joint_halve(struct joint *joint)
{
    if (joint->halved)
        return ESRA_OK;
    if (!esra_joint_place(joint, &joint->pyramid, layout_pyramid))
        return esra_fail_memory(joint->context->message);
    for (int l = 1; l < joint->levels; l++)
        esra_joint_level_halve(&joint->level[l], &joint->level[l - 1], joint->context);
    joint->halved = true;
    return ESRA_OK;
}

esra_status esra_joint_create(struct joint **out, const struct joint_photos *photos, int levels,
                              struct context *context)
{
    esra_status status = ESRA_OK;
    *out = NULL;
    TRY(check_photos(photos, context->message));
    struct joint *joint = esra_allocate(1, sizeof *joint);
    if (!joint)
        return esra_fail_memory(context->message);
    *out = joint;
    joint->context = context;
    joint->photos = photos->count;
    joint->lean_pixels = JOINT_LEAN_PIXELS;
    joint->finest = -1;
    plan_levels(joint, &photos->photos[0], levels);
    if (!esra_joint_place(joint, &joint->tables, layout_tables))
        TRY(esra_fail_memory(context->message));
    TRY(esra_joint_load(joint, photos));
    return ESRA_OK;
done:
    esra_joint_free(out);
    return status;
}

static void borrow_photos(struct joint_level *to, const struct joint_level *from)
{
    for (int k = 0; k < JOINT_LAYERS; k++) {
        to->width[k] = from->width[k];
        to->height[k] = from->height[k];
    }
    to->photos = from->photos;
    to->channels = from->channels;
    for (int i = 0; i < from->photos; i++) {
        to->photo[i] = from->photo[i];
        to->mask[i] = from->mask[i];
    }
}

esra_status esra_joint_share(struct joint **out, struct joint *first, struct context *context)
{
    struct joint *joint = *out = esra_allocate(1, sizeof *joint);
    if (!joint)
        return esra_fail_memory(context->message);
    joint->context = context;
    joint->photos = first->photos;
    joint->levels = first->levels;
    joint->lean_pixels = first->lean_pixels;
    joint->finest = -1;
    joint->halved = true;
    joint->first = first;
    if (!esra_joint_place(joint, &joint->tables, layout_tables)) {
        esra_joint_free(out);
        return esra_fail_memory(context->message);
    }
    for (int l = 0; l < joint->levels; l++) {
        borrow_photos(&joint->level[l], &first->level[l]);
        esra_joint_level_divide(&joint->level[l], context);
    }
    return ESRA_OK;
}

void esra_joint_free(struct joint **joint)
{
    if (!*joint)
        return;
    esra_joint_free(&(*joint)->start);
    esra_arena_free(&(*joint)->tables);
    esra_arena_free(&(*joint)->pyramid);
    esra_arena_free(&(*joint)->expected);
    esra_arena_free(&(*joint)->coarse);
    esra_arena_free(&(*joint)->layers);
    esra_arena_free(&(*joint)->vectors);
    esra_release(joint);
}

void esra_joint_trim(struct joint *joint)
{
    esra_arena_free(&joint->vectors);
    esra_arena_free(&joint->expected);
    esra_arena_free(&joint->coarse);
    if (joint->finest > 0) /* answers have the size of that level, so its photos are needed */
        return;
    esra_arena_free(&joint->pyramid);
    joint->halved = false;
}

struct answer {
    const struct joint_level *level;
    struct image *out;
    int photo;
    float gain;
};

struct prediction {
    const struct joint_level *level;
    int photo;
    float mixing, gain;
    struct image *predicted, *shown, *mask;
};

static void seen_rows(void *work, int task, int worker)
{
    const struct answer *answer = work;
    const struct joint_level *level = answer->level;
    const struct warp *warp = &level->warp[answer->photo];
    int width = level->width[TRANSMITTED], begin, end;
    size_t pixels = joint_pixels(level, TRANSMITTED);
    (void)worker;
    joint_block(level, TRANSMITTED, task, &begin, &end);
    for (int y = begin; y < end; y++)
        for (int x = 0; x < width; x++) {
            struct warp_point point = warp_at(warp, x, y);
            colours value = {0};
            if (point.index >= 0)
                value = answer->gain * warp_sample(warp, level->layer[REFLECTED], point);
            for (int c = 0; c < level->channels; c++)
                answer->out->data[c * pixels + (size_t)y * width + x] = value[c];
        }
}

static esra_status check_solved(const struct joint *joint, int photo)
{
    if (joint->finest < 0)
        return esra_fail(joint->context->message, ESRA_BAD_ARGUMENT, "there are no layers yet: solve first");
    if (photo < 0 || photo >= joint->photos)
        return esra_fail(joint->context->message, ESRA_BAD_ARGUMENT, "there is no photo %d among %d", photo,
                         joint->photos);
    return ESRA_OK;
}

static esra_status store_layer(const struct joint *joint, int k, struct image *out)
{
    esra_status status = ESRA_OK;
    *out = (struct image){0};
    TRY(check_solved(joint, 0));
    const struct joint_level *level = &joint->level[joint->finest];
    TRY(esra_image_create(out, level->width[k], level->height[k], level->channels, joint->context->message));
    colours_store(level->layer[k], out, 0, level->height[k]);
done:
    return status;
}

esra_status esra_joint_transmitted(const struct joint *joint, struct image *out)
{
    return store_layer(joint, TRANSMITTED, out);
}

esra_status esra_joint_reflected(const struct joint *joint, struct image *out, int *left, int *top)
{
    *left = joint->canvas.left;
    *top = joint->canvas.top;
    return store_layer(joint, REFLECTED, out);
}

esra_status esra_joint_seen(const struct joint *joint, int photo, struct image *out)
{
    esra_status status = ESRA_OK;
    *out = (struct image){0};
    TRY(check_solved(joint, photo));
    const struct joint_level *level = &joint->level[joint->finest];
    TRY(esra_image_create(out, level->width[TRANSMITTED], level->height[TRANSMITTED], level->channels,
                          joint->context->message));
    struct answer answer = {level, out, photo, (float)joint->reflection_gain[photo]};
    esra_context_run(joint->context, seen_rows, &answer, answer.level->blocks, NULL);
done:
    return status;
}

static void predict_pixel(const struct prediction *prediction, int x, int y)
{
    const struct joint_level *level = prediction->level;
    int i = prediction->photo;
    size_t pixels = joint_pixels(level, TRANSMITTED), n = (size_t)y * level->width[TRANSMITTED] + x;
    struct warp_point point = warp_at(&level->warp[i], x, y);
    colours value = prediction->mixing * level->layer[TRANSMITTED][n];
    if (point.index >= 0)
        value += prediction->gain * warp_sample(&level->warp[i], level->layer[REFLECTED], point);
    for (int c = 0; c < level->channels; c++) {
        prediction->predicted->data[c * pixels + n] = value[c];
        prediction->shown->data[c * pixels + n] = level->photo[i][c * pixels + n];
    }
    prediction->mask->data[n] = point.index < 0 ? 0 : joint_mask(level, i, n);
}

static void predict_rows(void *work, int task, int worker)
{
    const struct prediction *prediction = work;
    int begin, end;
    (void)worker;
    joint_block(prediction->level, TRANSMITTED, task, &begin, &end);
    for (int y = begin; y < end; y++)
        for (int x = 0; x < prediction->level->width[TRANSMITTED]; x++)
            predict_pixel(prediction, x, y);
}

esra_status esra_joint_predict(const struct joint *joint, int photo, struct image *predicted, struct image *shown,
                               struct image *mask)
{
    esra_status status = ESRA_OK;
    *predicted = *shown = *mask = (struct image){0};
    TRY(check_solved(joint, photo));
    const struct joint_level *level = &joint->level[joint->finest];
    int width = level->width[TRANSMITTED], height = level->height[TRANSMITTED];
    TRY(esra_image_create(predicted, width, height, level->channels, joint->context->message));
    TRY(esra_image_create(shown, width, height, level->channels, joint->context->message));
    TRY(esra_image_create(mask, width, height, 1, joint->context->message));
    struct prediction prediction = {
        level, photo, (float)joint->mixing[photo], (float)joint->reflection_gain[photo], predicted, shown, mask};
    esra_context_run(joint->context, predict_rows, &prediction, prediction.level->blocks, NULL);
    return ESRA_OK;
done:
    esra_image_free(predicted);
    esra_image_free(shown);
    esra_image_free(mask);
    return status;
}

/* The confidence is the answer's gain. */
static void trust_rows(void *work, int task, int worker)
{
    const struct answer *answer = work;
    size_t width = (size_t)answer->level->width[TRANSMITTED];
    int begin, end;
    (void)worker;
    joint_block(answer->level, TRANSMITTED, task, &begin, &end);
    for (size_t n = (size_t)begin * width; n < (size_t)end * width; n++)
        answer->out->data[n] = answer->level->weight[answer->photo][n] / answer->gain;
}

esra_status esra_joint_trust(const struct joint *joint, int photo, struct image *out)
{
    esra_status status = ESRA_OK;
    *out = (struct image){0};
    TRY(check_solved(joint, photo));
    const struct joint_level *level = &joint->level[joint->finest];
    TRY(esra_image_create(out, level->width[TRANSMITTED], level->height[TRANSMITTED], 1, joint->context->message));
    struct answer answer = {level, out, photo, (float)joint->confidence[photo]};
    if (joint->confidence[photo] > 0)
        esra_context_run(joint->context, trust_rows, &answer, level->blocks, NULL);
done:
    return status;
}
