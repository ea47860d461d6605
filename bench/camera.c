/* bench/camera.c - how well and how fast the camera of real photos is found, and the depth of what they show.
 *
 *     bench_camera [-t threads] [-r reference] [-g group] [-o folder] PHOTO...
 *
 * reference counts from 1, without it the middle photo; -g: depths of this group of tracks alone. With -o the maps are
 * written there as .npy, and each photo as the reference would see it. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/timer.h"
#include "camera/depth.h"
#include "io/photo.h"

#define PHOTOS_MOST 64

struct job {
    int group; /* whose depths are looked at; -1: the camera's choice */
    struct photo photos[PHOTOS_MOST];
    struct image images[PHOTOS_MOST]; /* borrowed from the photos */
    int count, reference, threads;
    struct context *context;
    struct camera camera;
    struct depth depth;
    const char *folder;
    struct message message;
};

static esra_status read_photos(struct job *job, char **paths)
{
    struct read_options options = READ_OPTIONS_DEFAULT;
    for (int n = 0; n < job->count; n++) {
        esra_status status = esra_photo_read(&job->photos[n], paths[n], &options, &job->message);
        if (status != ESRA_OK)
            return status;
        job->images[n] = job->photos[n].pixels;
        if (job->images[n].width != job->images[0].width || job->images[n].height != job->images[0].height)
            return esra_fail(&job->message, ESRA_BAD_ARGUMENT, "%s has another size than %s", paths[n], paths[0]);
    }
    return ESRA_OK;
}

static esra_status measure_camera(struct job *job)
{
    double start = esra_timer_now_s();
    esra_status status = esra_camera_find(&job->camera, job->context, job->images, job->count, job->reference);
    const struct camera *camera = &job->camera;
    if (status != ESRA_OK)
        return status;
    printf("camera: %.2f s, %s, %d tracks, error %.3f px, parallax %.2f px, focal %.0f px, k1 %.3f, bend %.2f, centre "
           "%.0f,%.0f, w %.3f..%.3f\n",
           esra_timer_now_s() - start, camera->found ? "found" : "not found", camera->tracks, camera->error_px,
           camera->parallax_px, camera->focal_px, camera->k1, camera->bend, camera->cx, camera->cy, camera->far,
           camera->near);
    for (int n = 0; n < camera->groups; n++)
        printf("  group %d: w %.3f..%.3f, %d tracks, explained %.3f, mixed %.3f\n", n, camera->group[n].far,
               camera->group[n].near, camera->group[n].tracks, camera->group[n].explained, camera->group[n].mixed);
    for (int n = 0; n < camera->photos; n++)
        printf("  photo %d: %4d tracks, t %+.4f %+.4f %+.4f\n", n + 1, camera->pose[n].tracks, camera->pose[n].t[0],
               camera->pose[n].t[1], camera->pose[n].t[2]);
    return ESRA_OK;
}

static esra_status write_map(struct job *job, const struct image *map, const char *name, int number)
{
    struct write_options options = WRITE_OPTIONS_DEFAULT;
    struct photo photo = {.pixels = *map, .depth = 32};
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%d.npy", job->folder, name, number);
    options.depth = 32;
    return esra_photo_write(&photo, path, &options, &job->message);
}

static esra_status write_maps(struct job *job)
{
    struct image map = {0}, seen = {0};
    struct canvas_offset none = {0, 0};
    esra_status status;
    TRY(write_map(job, &job->depth.inverse, "inverse", job->reference + 1));
    TRY(write_map(job, &job->depth.guard, "guard", job->reference + 1));
    TRY(write_map(job, &job->depth.labels, "labels", job->reference + 1));
    TRY(esra_image_create(&map, job->camera.width, job->camera.height, 3, &job->message));
    TRY(esra_image_create(&seen, job->camera.width, job->camera.height, 1, &job->message));
    for (int n = 0; n < job->count; n++) {
        struct image two = {.data = map.data, .width = map.width, .height = map.height, .channels = 2};
        esra_camera_map(job->context, &job->camera, n, &job->depth.inverse, none, &two);
        TRY(write_map(job, &map, "map", n + 1));
        TRY(esra_camera_visible(job->context, &job->camera, n, &job->depth.inverse, none, 3 * job->depth.step, &seen));
        TRY(write_map(job, &seen, "visible", n + 1));
        TRY(esra_camera_unmap(job->context, &job->camera, n, &job->depth.inverse, none, &two));
        TRY(write_map(job, &map, "unmap", n + 1));
    }
done:
    esra_image_free(&map);
    esra_image_free(&seen);
    return status;
}

static esra_status measure_depth(struct job *job)
{
    struct depth_options options = {.side_px = 0};
    double start = esra_timer_now_s();
    if (job->group >= 0 && job->group < job->camera.groups) {
        options.near = job->camera.group[job->group].near;
        options.far = job->camera.group[job->group].far;
    }
    esra_status status = esra_depth_transmitted(&job->depth, job->context, &job->camera, job->images, &options);
    if (status == ESRA_OK)
        printf("depth: %.2f s, %d x %d, %d labels, explained %.3f\n", esra_timer_now_s() - start,
               job->depth.labels.width, job->depth.labels.height, job->depth.count, job->depth.explained);
    return status;
}

static int parse(struct job *job, int count, char **arguments)
{
    int option;
    while ((option = getopt(count, arguments, "t:r:o:g:")) != -1) {
        if (option == 't')
            job->threads = atoi(optarg);
        else if (option == 'r')
            job->reference = atoi(optarg) - 1;
        else if (option == 'g')
            job->group = atoi(optarg);
        else if (option == 'o')
            job->folder = optarg;
        else
            return 2;
    }
    job->count = count - optind;
    if (job->reference < 0)
        job->reference = job->count / 2;
    return job->count < 2 || job->count > PHOTOS_MOST || job->threads < 1 || job->reference >= job->count ? 2 : 0;
}

int main(int count, char **arguments)
{
    static struct job job = {.threads = 2, .reference = -1, .group = -1};
    esra_status status;
    if (parse(&job, count, arguments)) {
        fprintf(stderr, "usage: bench_camera [-t threads] [-r reference] [-g group] [-o folder] PHOTO PHOTO...\n");
        return 2;
    }
    TRY(esra_context_create(&job.context, job.threads, &job.message));
    TRY(read_photos(&job, arguments + optind));
    TRY(measure_camera(&job));
    TRY(measure_depth(&job));
    if (job.folder)
        TRY(write_maps(&job));
done:
    if (status != ESRA_OK)
        fprintf(stderr, "bench_camera: %s\n", job.message.text);
    esra_camera_free(&job.camera);
    esra_depth_free(&job.depth);
    for (int n = 0; n < job.count && n < PHOTOS_MOST; n++)
        esra_photo_free(&job.photos[n]);
    esra_context_free(&job.context);
    return status != ESRA_OK;
}
