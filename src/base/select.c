/* base/select.c - order statistics. A rank by Hoare's selection: linear on average, no extra memory. */
#include "base/select.h"

#include <math.h>

float esra_select_rank(float *values, size_t count, size_t rank)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        float pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;; i++, j--) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            float swap = values[i];
            values[i] = values[j];
            values[j] = swap;
        }
        if (rank <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[rank];
}

static void sort(struct weighted *values, int count)
{
    for (int k = 1; k < count; k++) {
        struct weighted value = values[k];
        int j = k;
        for (; j > 0 && values[j - 1].value > value.value; j--)
            values[j] = values[j - 1];
        values[j] = value;
    }
}

float esra_weighted_median(struct weighted *values, int count)
{
    float total = 0, sum = 0;
    sort(values, count);
    for (int k = 0; k < count; k++)
        total += values[k].weight;
    for (int k = 0; k < count; k++) {
        sum += values[k].weight;
        if (fabsf(sum - 0.5f * total) <= 1e-6f * total && k + 1 < count)
            return 0.5f * (values[k].value + values[k + 1].value);
        if (sum > 0.5f * total)
            return values[k].value;
    }
    return 0;
}
