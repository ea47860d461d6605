/* synth/camera.c - one camera that moves before a scene with depth. */
#include "synth/camera.h"

#include <math.h>

#include "base/maths.h"
#include "synth/motion.h"

#define PI 3.14159265358979323846

/* A hand moves a camera along its view half as far as across. */
#define ALONG 0.5

static void multiply(const double a[9], const double b[9], double out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
}

/* Roll, then pitch, then yaw. */
static void turn(double yaw, double pitch, double roll, double rotation[9])
{
    double z[9] = {esra_cos(roll), -esra_sin(roll), 0, esra_sin(roll), esra_cos(roll), 0, 0, 0, 1};
    double x[9] = {1, 0, 0, 0, esra_cos(pitch), -esra_sin(pitch), 0, esra_sin(pitch), esra_cos(pitch)};
    double y[9] = {esra_cos(yaw), 0, esra_sin(yaw), 0, 1, 0, -esra_sin(yaw), 0, esra_cos(yaw)}, both[9];
    multiply(x, z, both);
    multiply(y, both, rotation);
}

void esra_cameras_hold(esra_camera *cameras, const esra_synth_settings *settings, const struct lens *lens)
{
    double angle = settings->rotation_deg * PI / 180, way = settings->shift_px / lens->focal_px;
    cameras[0] = (esra_camera){{1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}};
    for (int i = 1; i < settings->photos; i++) {
        uint64_t state = esra_synth_state(settings->seed, i, -2);
        double yaw = esra_synth_bounded(&state, angle), pitch = esra_synth_bounded(&state, angle);
        turn(yaw, pitch, esra_synth_bounded(&state, angle), cameras[i].rotation);
        for (int k = 0; k < 3; k++)
            cameras[i].translation[k] = esra_synth_bounded(&state, k == 2 ? ALONG * way : way);
    }
}

/* The point z' (U, 1), z' = 1/s, is z' rotation' ((U, 1) - s translation) for the reference: its direction gives x, its
 * depth is z' times the third number. */
void esra_camera_look(const esra_camera *camera, const struct lens *lens, double u, double v, double s, double point[3])
{
    const double *r = camera->rotation, *t = camera->translation;
    double w[3] = {(u - lens->x) / lens->focal_px - s * t[0], (v - lens->y) / lens->focal_px - s * t[1], 1 - s * t[2]},
           p[3];
    for (int k = 0; k < 3; k++)
        p[k] = r[k] * w[0] + r[3 + k] * w[1] + r[6 + k] * w[2];
    point[0] = lens->x + lens->focal_px * p[0] / p[2];
    point[1] = lens->y + lens->focal_px * p[1] / p[2];
    point[2] = s / p[2];
}
