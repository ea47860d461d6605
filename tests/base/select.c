/* tests/base/select.c - ranks and weighted medians against sorting. */
#include "base/select.h"

#include "check.h"

static int compare(const void *a, const void *b)
{
    float p = *(const float *)a, q = *(const float *)b;
    return (p > q) - (p < q);
}

static void ranks_are_those_of_sorting(void)
{
    for (size_t count = 1; count < 40; count++) {
        float values[40], sorted[40];
        check_fill(values, count, -1, 1);
        values[count / 2] = values[0];
        memcpy(sorted, values, count * sizeof *sorted);
        qsort(sorted, count, sizeof *sorted, compare);
        for (size_t rank = 0; rank < count; rank++)
            CHECK(esra_select_rank(values, count, rank) == sorted[rank]);
    }
}

/* No more than half of the weight lies strictly on either side. */
static void medians_have_half_of_the_weight_on_either_side(void)
{
    for (int count = 1; count < 12; count++) {
        struct weighted values[12];
        float below = 0, above = 0, total = 0;
        for (int n = 0; n < count; n++)
            values[n] = (struct weighted){(float)check_random(-1, 1), (float)check_random(.5, 1.5)};
        float median = esra_weighted_median(values, count);
        for (int n = 0; n < count; n++) {
            total += values[n].weight;
            below += values[n].value < median ? values[n].weight : 0;
            above += values[n].value > median ? values[n].weight : 0;
        }
        CHECK(below <= .50001f * total && above <= .50001f * total);
    }
    CHECK(esra_weighted_median(NULL, 0) == 0);
    CHECK(esra_weighted_median((struct weighted[]){{3, 1}, {1, 1}}, 2) == 2);
}

static void ties_go_to_the_smaller(void)
{
    CHECK(esra_weighted_median((struct weighted[]){{0, TIE_BREAKER}, {3, 1.1f}, {1, .9f}}, 3) == 1);
    CHECK(esra_weighted_median((struct weighted[]){{0, TIE_BREAKER}, {-3, .9f}, {-1, 1.1f}}, 3) == -1);
    CHECK(esra_weighted_median((struct weighted[]){{0, TIE_BREAKER}, {-3, 1.1f}, {1, .9f}}, 3) == 0);
}

int main(void)
{
    RUN(ranks_are_those_of_sorting);
    RUN(medians_have_half_of_the_weight_on_either_side);
    RUN(ties_go_to_the_smaller);
    return check_report();
}
