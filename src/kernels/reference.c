/* kernels/reference.c - every kernel in C, pixel by pixel: what the vector kernels must equal bit for bit. */
#include "kernels/kernels.h"
#include "kernels/pixel.h"

static float force(const struct sweep *sweep, const struct sweep_row *row, ptrdiff_t at)
{
    return pixel_force(sweep->lambda, row->p_above[at], row->p[at], row->q[at - 1], row->q[at], row->z[at]);
}

/* (A'A + s) d = b by its arrow, then the null mode's own step. b_i waits in bar_i, which is written last. */
void esra_primal_c(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    for (int c = first; c < end; c++) {
        float x0 = row->x[c], b0 = -force(sweep, row, c), sum = 0;
        for (int i = 0; i < sweep->photos; i++) {
            ptrdiff_t at = (i + 1) * row->pitch + c;
            float a = sweep->a[i], residual = (row->mixture[i * row->pitch + c] - a * x0) - row->x[at];
            float b = residual - force(sweep, row, at);
            b0 = b0 + a * residual;
            sum = sum + a * b;
            row->bar[(i + 1) * row->bar_pitch + c] = b;
        }
        float d0 = (b0 - sweep->photo_inverse * sum) * sweep->arrow_inverse;
        float null = row->correction[c] - row->g[c] * sweep->s_inverse;
        float d = d0 + null;
        row->bar[c] = x0 + 2 * d;
        row->x[c] = x0 + sweep->rho * d;
        for (int i = 0; i < sweep->photos; i++) {
            float *x = &row->x[(i + 1) * row->pitch + c], *bar = &row->bar[(i + 1) * row->bar_pitch + c];
            d = (*bar - sweep->a[i] * d0) * sweep->photo_inverse - sweep->a[i] * null;
            *bar = *x + 2 * d;
            *x = *x + sweep->rho * d;
        }
    }
}

/* (A'WA + s) d = b: (w_i + s) d_i + a_i w_i d_0 = b_i, and the rest of the arrow after eliminating d_i. */
void esra_primal_weighted_c(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    float s = sweep->s;
    for (int c = first; c < end; c++) {
        float x0 = row->x[c], b0 = -force(sweep, row, c), sum = 0, arrow = s;
        for (int i = 0; i < sweep->photos; i++) {
            ptrdiff_t at = (i + 1) * row->pitch + c;
            float a = sweep->a[i], w = row->weight[i * row->pitch + c], share = w / (w + s);
            float residual = w * ((row->mixture[i * row->pitch + c] - a * x0) - row->x[at]);
            float b = residual - force(sweep, row, at);
            b0 = b0 + a * residual;
            sum = sum + (a * share) * b;
            arrow = arrow + (a * a) * (s * share);
            row->bar[(i + 1) * row->bar_pitch + c] = b;
        }
        float d0 = (b0 - sum) / arrow;
        float null = row->correction[c] - row->g[c] * sweep->s_inverse;
        float d = d0 + null;
        row->bar[c] = x0 + 2 * d;
        row->x[c] = x0 + sweep->rho * d;
        for (int i = 0; i < sweep->photos; i++) {
            float *x = &row->x[(i + 1) * row->pitch + c], *bar = &row->bar[(i + 1) * row->bar_pitch + c];
            float a = sweep->a[i], w = row->weight[i * row->pitch + c];
            d = (*bar - (a * w) * d0) / (w + s) - a * null;
            *bar = *x + 2 * d;
            *x = *x + sweep->rho * d;
        }
    }
}

void esra_dual_c(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    for (int l = 0; l <= sweep->photos; l++) {
        float *p = row->p + l * row->pitch, *q = row->q + l * row->pitch, *z = row->z + l * row->pitch;
        const float *e1 = row->e_vertical + l * row->pitch, *e2 = row->e_horizontal + l * row->pitch;
        const float *bar = row->bar + l * row->bar_pitch, *below = row->bar_below + l * row->bar_pitch;
        for (int c = first; c < end; c++) {
            p[c] = pixel_dual(p[c], below[c] - bar[c], e1[c], sweep->sigma, sweep->rho);
            q[c] = pixel_dual(q[c], bar[c + 1] - bar[c], e2[c], sweep->sigma, sweep->rho);
            z[c] = pixel_box(z[c], bar[c], sweep->r2 + sweep->r2_rise * (sweep->jacobi - row->jacobi[c]), sweep->rho);
        }
    }
}

void esra_dual_expected_c(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    for (int l = 0; l <= sweep->photos; l++) {
        float *p = row->p + l * row->pitch, *q = row->q + l * row->pitch, *z = row->z + l * row->pitch;
        const float *e = row->expected + l * row->pitch, *e_below = row->expected_below + l * row->pitch;
        const float *bar = row->bar + l * row->bar_pitch, *below = row->bar_below + l * row->bar_pitch;
        for (int c = first; c < end; c++) {
            float down = pixel_expected(e[c], e_below[c]), right = pixel_expected(e[c], e[c + 1]);
            p[c] = pixel_dual(p[c], below[c] - bar[c], down, sweep->sigma, sweep->rho);
            q[c] = pixel_dual(q[c], bar[c + 1] - bar[c], right, sweep->sigma, sweep->rho);
            z[c] = pixel_box(z[c], bar[c], sweep->r2 + sweep->r2_rise * (sweep->jacobi - row->jacobi[c]), sweep->rho);
        }
    }
}

void esra_null_c(const struct sweep *sweep, const struct sweep_row *row, int first, int end)
{
    for (int c = first; c < end; c++) {
        float g = sweep->null[0] * force(sweep, row, c);
        for (int l = 1; l <= sweep->photos; l++)
            g = g + sweep->null[l] * force(sweep, row, l * row->pitch + c);
        row->g[c] = g;
    }
}

void esra_scale_c(const float *jacobi, const float *f, float *out, int columns)
{
    for (int c = 0; c < columns; c++)
        out[c] = jacobi[c] * f[c];
}

void esra_residual_c(struct stencil stencil, const float *f, const float *above, const float *here, const float *below,
                     float *out, int columns)
{
    for (int c = 0; c < columns; c++)
        out[c] = stencil.keep * f[c] + stencil.spread * ((above[c] + below[c]) + (here[c - 1] + here[c + 1]));
}

void esra_relax_c(struct stencil stencil, const float *jacobi, const float *f, const float *above, const float *here,
                  const float *below, float *out, int columns)
{
    for (int c = 0; c < columns; c++) {
        float pull = f[c] + stencil.spread * ((above[c] + below[c]) + (here[c - 1] + here[c + 1]));
        out[c] = stencil.keep * here[c] + jacobi[c] * pull;
    }
}

void esra_restrict__c(const float *r0, const float *r1, const float *r2, const float *r3, float *t, float *out,
                      int columns)
{
    for (int c = 0; c < 2 * columns; c++)
        t[c] = 0.25f * (r0[c] + r3[c]) + 0.75f * (r1[c] + r2[c]);
    for (int c = 0; c < columns; c++)
        out[c] = 0.25f * (t[2 * c - 1] + t[2 * c + 2]) + 0.75f * (t[2 * c] + t[2 * c + 1]);
}

void esra_prolong_c(const float *jacobi, const float *f, const float *near_, const float *far_, float *t, float *out,
                    int n, int columns)
{
    for (int c = 0; c < columns / 2; c++)
        t[c] = 0.75f * near_[c] + 0.25f * far_[c];
    t[-1] = t[0];
    t[n] = t[n - 1];
    for (int c = 0; c < columns / 2; c++) {
        out[2 * c] = jacobi[2 * c] * f[2 * c] + (0.75f * t[c] + 0.25f * t[c - 1]);
        out[2 * c + 1] = jacobi[2 * c + 1] * f[2 * c + 1] + (0.75f * t[c] + 0.25f * t[c + 1]);
    }
}

void esra_pactv_layer_c(struct pactv_row *row, int columns)
{
    for (int k = 0; k < KERNEL_GROUP; k++)
        row->moved[k] = row->norm[k] = 0;
    for (int c = 0; c < columns; c++) {
        float adjoint = ((row->q_tilde[c - 1] - row->q_tilde[c]) + row->p_tilde_above[c]) - row->p_tilde[c];
        float now = pixel_clip(row->d[c] - row->beta * adjoint, 0, 1);
        float change = now - row->layer[c];
        row->moved[c % KERNEL_GROUP] += change * change;
        row->norm[c % KERNEL_GROUP] += now * now;
        row->layer[c] = now;
    }
}

static void pactv_dual(const struct pactv_row *row, float *z, float *tilde, float difference, float extracted)
{
    float next = pixel_project(*tilde, difference, extracted, row->step);
    *tilde = pixel_extrapolate(next, *z, row->momentum);
    *z = next;
}

void esra_pactv_dual_c(const struct pactv_row *row, int columns)
{
    for (int c = 0; c < columns; c++) {
        float here = row->layer[c];
        if (row->layer_below)
            pactv_dual(row, &row->p[c], &row->p_tilde[c], row->layer_below[c] - here, row->e_vertical[c]);
        pactv_dual(row, &row->q[c], &row->q_tilde[c], row->layer[c + 1] - here, row->e_horizontal[c]);
    }
}

/* S bilinear between the four samples, first along the row. */
static float sample(const struct photo_row *row, const float *at, float fx, float fy)
{
    ptrdiff_t right = COLOURS * row->right, down = COLOURS * row->down;
    float upper = at[0] + fx * (at[right] - at[0]);
    float lower = at[down] + fx * (at[down + right] - at[down]);
    return upper + fy * (lower - upper);
}

static void scatter(const struct photo_row *row, float *at, float fx, float fy, float value)
{
    ptrdiff_t right = COLOURS * row->right, down = COLOURS * row->down;
    float lower = fy * value, upper = value - lower;
    at[0] += upper - fx * upper;
    at[right] += fx * upper;
    at[down] += lower - fx * lower;
    at[down + right] += fx * lower;
}

void esra_photo_c(const struct photo_row *row)
{
    for (int x = 0; x < row->width; x++) {
        if (row->points[x].index < 0)
            continue;
        ptrdiff_t at = COLOURS * (row->points[x].index - row->offset);
        float fx = warp_right(row->points[x]), fy = warp_down(row->points[x]);
        for (int c = 0; c < COLOURS; c++) {
            float seen = sample(row, row->canvas + at + c, fx, fy);
            float u = row->weight[x] * (row->a * row->p[COLOURS * x + c] + row->b * seen);
            row->q[COLOURS * x + c] += row->a * u;
            scatter(row, row->strip + at + c, fx, fy, row->b * u);
        }
    }
}
