/* bench/scene.h - problems of any size whose layers look like photographs to the solver: large smooth areas, edges of
 * all lengths, fine texture. Seeded, so that the same arguments give the same problem everywhere. */
#ifndef ESRA_BENCH_SCENE_H
#define ESRA_BENCH_SCENE_H

#include <stdbool.h>

#include <esra/esra.h>

struct scene {
    int width, height, photos, channels;
    float *samples; /* owned: mixtures, then gradients, then room for layers and duals */
    double mixing[64];
    esra_image mixtures[64], gradients[130], layers[65], duals[130];
};

/* good: E is the truth with noise and two differences in a hundred quite wrong. Otherwise E is what can be guessed from
 * the photos: the median of their differences for the scene, the rest for the reflections, small ones left out. */
bool scene_make(struct scene *scene, int width, int height, int photos, int channels, bool good);
void scene_free(struct scene *scene);

esra_problem scene_problem(const struct scene *scene);
esra_result scene_result(const struct scene *scene, bool duals);

#endif
