/* tools/esra/scene.c - the photos of a command line. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "beside.h"
#include "io/codec.h"
#include "memory.h"
#include "reading.h"

static esra_status fail_size(const struct scene *scene, int i, const struct image *size, struct message *message)
{
    const struct image *first = &scene->photos[0].pixels;
    return esra_fail(message, ESRA_BAD_DATA,
                     "%s is %d x %d and %s is %d x %d: photos of one size are needed, from one camera held one way",
                     scene->paths.items[0], first->width, first->height, scene->paths.items[i], size->width,
                     size->height);
}

static esra_status check_size(const struct scene *scene, int i, struct message *message)
{
    const struct image *first = &scene->photos[0].pixels, *other = &scene->photos[i].pixels;
    bool same = other->width == first->width && other->height == first->height;
    return same ? ESRA_OK : fail_size(scene, i, other, message);
}

/* Photo number i, whose head has been read. */
struct newcomer {
    const struct scene *scene;
    const struct scene_options *options;
    int i;
};

/* A photo_accept: of the first photo's size, upright or still on its side, and with it within the memory that may be
 * taken. So a pipe, which cannot be read twice, is found out as soon as a file. */
static esra_status accept(void *user, const struct image *size, struct message *message)
{
    const struct newcomer *new = user;
    const struct scene *scene = new->scene;
    const struct image *first = new->i > 0 ? &scene->photos[0].pixels : size;
    bool same = (size->width == first->width && size->height == first->height) ||
                (size->width == first->height && size->height == first->width);
    if (!same)
        return fail_size(scene, new->i, size, message);
    if (new->options->most_bytes == 0)
        return ESRA_OK;
    struct memory_shape shape = {scene->paths.count, first->width, first->height, size->channels,
                                 new->options->gradients};
    if (first->channels > shape.channels)
        shape.channels = first->channels;
    return memory_check_separate(&shape, new->options->settings, new->options->most_bytes, message);
}

/* A grey photo among colour ones becomes three equal channels. */
static esra_status widen(struct photo *photo, int channels, struct message *message)
{
    struct image *grey = &photo->pixels, wide;
    size_t pixels = (size_t)grey->width * (size_t)grey->height;
    esra_status status = esra_image_reserve(&wide, grey->width, grey->height, channels, message);
    for (int c = 0; status == ESRA_OK && c < channels; c++)
        memcpy(wide.data + (size_t)c * pixels, grey->data, pixels * sizeof(float));
    if (status == ESRA_OK) {
        esra_image_free(grey);
        *grey = wide;
    }
    return status;
}

/* Photo i's light, by the profile that came with `photo`. */
static esra_status choose_light(struct scene *scene, int i, const struct photo *photo, bool stored,
                                struct message *message)
{
    esra_status status = ESRA_OK;
    if (stored)
        esra_light_stored(&scene->lights[i]);
    else
        TRY(reading_light(&scene->lights[i], photo, scene->photos[i].pixels.channels, message));
done:
    return status;
}

static const struct photo *first_in_colour(const struct scene *scene)
{
    const struct photo *photo = scene->photos;
    while (photo->pixels.channels != scene->channels)
        photo++;
    return photo;
}

/* Layers of a grey photo that was widened to RGB are in colour, which its grey profile does not describe: they take the
 * profile of the first colour photo. */
static esra_status take_colour(struct scene *scene, int i, bool stored, struct message *message)
{
    const struct photo *from = first_in_colour(scene);
    esra_status status;
    TRY(widen(&scene->photos[i], scene->channels, message));
    TRY(esra_bytes_copy(&scene->photos[i].icc, from->icc.data, from->icc.size, message));
    esra_light_free(&scene->lights[i]);
    TRY(choose_light(scene, i, from, stored, message));
    scene->primaries[i] = reading_primaries(&scene->lights[i], from);
done:
    return status;
}

static esra_status take_light(struct scene *scene, int i, bool stored, struct message *message)
{
    esra_status status;
    TRY(choose_light(scene, i, &scene->photos[i], stored, message));
    esra_light_decode(&scene->lights[i], &scene->photos[i].pixels);
    scene->primaries[i] = reading_primaries(&scene->lights[i], &scene->photos[i]);
done:
    return status;
}

static esra_status read_photo(struct scene *scene, int i, const struct scene_options *options, struct message *message)
{
    struct newcomer new = {scene, options, i};
    struct read_options read = options->read;
    esra_status status;
    read.accept = accept;
    read.accept_user = &new;
    /* Bytes buffered from a pipe, or of a file whose library needs all of it, count as memory, too. */
    if (options->most_bytes > 0 && (read.limits.stream == 0 || options->most_bytes < (double)read.limits.stream))
        read.limits.stream = (int64_t)fmin(options->most_bytes, 0x1p62);
    TRY(esra_photo_read(&scene->photos[i], scene->paths.items[i], &read, message));
    TRY(check_size(scene, i, message));
    TRY(take_light(scene, i, options->stored, message));
done:
    return status;
}

struct reading_job {
    struct scene *scene;
    const struct scene_options *options;
};

static esra_status read_another(void *work, int number, struct context *own)
{
    const struct reading_job *job = work;
    return read_photo(job->scene, number + 1, job->options, own->message);
}

/* The first photo says what size the others have; a decoder apart (io/jail.h) forks, which wants a single thread. What
 * decoders hold besides the pixels is a fraction of what separating takes. */
static esra_status read_photos(struct scene *scene, const struct scene_options *options, struct message *message)
{
    struct reading_job job = {scene, options};
    int threads = options->read.untrusted ? 1 : options->settings ? options->settings->threads : 0;
    esra_status status;
    TRY(read_photo(scene, 0, options, message));
    TRY(beside_run(read_another, &job, scene->paths.count - 1, threads, message));
done:
    return status;
}

/* All photos with one number of channels, the most of any. */
static esra_status match_photos(struct scene *scene, bool stored, struct message *message)
{
    esra_status status = ESRA_OK;
    for (int i = 0; i < scene->paths.count; i++)
        if (scene->photos[i].pixels.channels > scene->channels)
            scene->channels = scene->photos[i].pixels.channels;
    for (int i = 0; i < scene->paths.count; i++) {
        struct image *pixels = &scene->photos[i].pixels;
        if (pixels->channels != scene->channels)
            TRY(take_colour(scene, i, stored, message));
        scene->views[i] = esra_image_planar(pixels->data, pixels->width, pixels->height, pixels->channels);
    }
    for (int i = 0; i < scene->paths.count; i++) {
        free(scene->photos[i].curves);
        scene->photos[i].curves = NULL;
    }
    scene->width = scene->photos[0].pixels.width;
    scene->height = scene->photos[0].pixels.height;
done:
    return status;
}

/* A shell pattern without a match arrives as one name: "does not exist" then says more than "only one photo". */
static esra_status check_that_it_is_there(const char *path, struct message *message)
{
    struct input input;
    esra_status status = esra_input_open(&input, path, message);
    esra_input_close(&input);
    return status;
}

esra_status scene_read(struct scene *scene, char **operands, int count, const struct scene_options *options,
                       struct message *message)
{
    esra_status status;
    *scene = (struct scene){0};
    TRY(esra_paths_expand(&scene->paths, (const char *const *)operands, count, options->read.limits.photos, message));
    if (scene->paths.count == 1)
        TRY(check_that_it_is_there(scene->paths.items[0], message));
    if (scene->paths.count < 2)
        TRY(esra_fail(message, ESRA_BAD_DATA,
                      "two photos are needed at least, and there is %s: take them from slightly "
                      "different places",
                      scene->paths.count == 1 ? "one" : "none"));
    scene->photos = calloc((size_t)scene->paths.count, sizeof *scene->photos);
    scene->lights = calloc((size_t)scene->paths.count, sizeof *scene->lights);
    scene->primaries = calloc((size_t)scene->paths.count, sizeof *scene->primaries);
    scene->views = calloc((size_t)scene->paths.count, sizeof *scene->views);
    if (!scene->photos || !scene->lights || !scene->primaries || !scene->views)
        TRY(esra_fail_memory(message));
    TRY(read_photos(scene, options, message));
    TRY(match_photos(scene, options->stored, message));
    return ESRA_OK;
done:
    scene_free(scene);
    return status;
}

/* Stored code values have no known colour space. */
static struct colour_map map_between(const struct scene *scene, int from, int to)
{
    if (scene->lights[from].origin == LIGHT_STORED)
        return (struct colour_map){.same = true};
    return esra_colour_map(&scene->primaries[from], &scene->primaries[to]);
}

bool scene_converts(const struct scene *scene, int reference, int i)
{
    return scene->channels == 3 && !map_between(scene, i, reference).same;
}

void scene_share_colours(struct scene *scene, int reference)
{
    for (int i = 0; i < scene->paths.count; i++) {
        struct colour_map map = map_between(scene, i, reference);
        esra_colour_map_apply(&map, &scene->photos[i].pixels);
    }
}

void scene_encode(const struct scene *scene, int reference, int i, struct image *image)
{
    struct colour_map map = map_between(scene, reference, i);
    esra_colour_map_apply(&map, image);
    esra_light_encode(&scene->lights[i], image);
}

void scene_free(struct scene *scene)
{
    for (int i = 0; i < scene->paths.count; i++) {
        if (scene->photos)
            esra_photo_free(&scene->photos[i]);
        if (scene->lights)
            esra_light_free(&scene->lights[i]);
    }
    esra_paths_free(&scene->paths);
    free(scene->photos);
    free(scene->lights);
    free(scene->primaries);
    free(scene->views);
    *scene = (struct scene){0};
}
