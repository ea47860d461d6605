/* solve/mean.h - how bright T is where F leaves it open.
 *
 * With c = (1, -a_1, ..., -a_m), A c = 0, and a constant has no differences: F(x + k c) = F(x) for every number k for
 * which no sample leaves the box. An engine's steps end anywhere on the way. */
#ifndef ESRA_SOLVE_MEAN_H
#define ESRA_SOLVE_MEAN_H

#include "solve/monitor.h"

/* Where the problem expects layers: of the layers clip(x + k c, 0, 1) that are proven within the gap asked for, those
 * whose T is nearest in mean to the one expected, to a thirtieth of the way or so, are kept for the caller. The
 * candidate has been shown; its field is not looked at. */
void esra_mean_settle(struct monitor *monitor, int channel, struct candidate candidate);

#endif
