/* bench/joint_scene.h - scenes made by bench/joint_scenes.py: photos, truth, model; their alignment and their scores.
 */
#ifndef ESRA_BENCH_JOINT_SCENE_H
#define ESRA_BENCH_JOINT_SCENE_H

#include "base/image.h"

#define SCENE_PHOTOS 5

struct scene {
    struct image photos[SCENE_PHOTOS];               /* linear light, as taken */
    struct image transmitted, reflected;             /* truth in photo 0 */
    double ht[SCENE_PHOTOS][9], hr[SCENE_PHOTOS][9]; /* reference pixel to photo pixel */
    double a[SCENE_PHOTOS], b[SCENE_PHOTOS];
};

esra_status bench_scene_read(struct scene *scene, const char *folder, struct message *message);
void bench_scene_free(struct scene *scene);

void bench_matrix_multiply(const double a[9], const double b[9], double out[9]);
void bench_matrix_invert(const double a[9], double out[9]);

/* out(x) = photo(h(x)) by Lanczos-3, and where that is known. */
void bench_align(const struct image *photo, const double h[9], struct image *out, struct image *mask);

/* Both in sRGB code values of clipped linear light. Rows and columns within border of the edge do not count. */
double bench_psnr(const struct image *a, const struct image *b, int border);
double bench_ssim(const struct image *a, const struct image *b);

#endif
