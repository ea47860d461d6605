/* base/timer.h - seconds on a clock that never steps back (base/system_*.c). */
#ifndef ESRA_BASE_TIMER_H
#define ESRA_BASE_TIMER_H

double esra_timer_now_s(void);

#endif
