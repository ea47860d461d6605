/* base/select.c - order statistics by Hoare's selection: linear on average, no extra memory. */
#include "base/select.h"

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
