/* base/timer.c - seconds on a clock that never steps back. */
#include "base/timer.h"

#include <time.h>

double esra_timer_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
