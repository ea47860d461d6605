/* solve/joint_given.c - what is given to the joint solve beside photos: expected gradients. */
#include "ops/diff.h"
#include "solve/joint_object.h"

static void layout_expected(struct joint *joint, struct arena *arena)
{
    for (int l = 0; l < joint->levels; l++)
        esra_joint_level_layout_expected(&joint->level[l], arena);
}

/* half[2] = E one level coarser. */
static esra_status halve_expected(const struct image *fine, struct image *half, struct message *message)
{
    esra_status status = ESRA_OK;
    for (int k = 0; k < 2; k++)
        TRY(esra_image_create(&half[k], (fine->width + 1) / 2, (fine->height + 1) / 2, fine->channels, message));
    for (int c = 0; c < fine->channels; c++)
        esra_diff_halve(image_plane(&fine[0], c), image_plane(&fine[1], c), image_plane(&half[0], c),
                        image_plane(&half[1], c));
done:
    return status;
}

esra_status esra_joint_expect(struct joint *joint, const struct joint_model *model)
{
    struct image here[2] = {{0}}, next[2] = {{0}};
    const struct image *fine = model->expected;
    esra_status status = ESRA_OK;
    for (int l = 0; l < joint->levels; l++)
        joint->level[l].expected[0] = joint->level[l].expected[1] = NULL;
    if (fine && !esra_joint_place(joint, &joint->expected, layout_expected))
        return esra_fail_memory(joint->context->message);
    for (int l = 0; fine && l < joint->levels; l++) {
        struct joint_level *level = &joint->level[l];
        for (int k = 0; k < 2; k++)
            colours_load(level->expected[k], &fine[k], 0, level->height[TRANSMITTED]);
        TRY(halve_expected(fine, next, joint->context->message));
        for (int k = 0; k < 2; k++) {
            esra_image_free(&here[k]);
            here[k] = next[k];
            next[k] = (struct image){0};
        }
        fine = here;
    }
done:
    for (int k = 0; k < 2; k++) {
        esra_image_free(&here[k]);
        esra_image_free(&next[k]);
    }
    return status;
}
