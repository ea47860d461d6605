/* io/lcms.h - lcms2 where memory may be short. It does not always look whether it was given any, forgets what it had
 * when it gives up, and calls profiles useless that were not to blame. So its memory is kept in a list, and where there
 * is no more the work is left by longjmp: lcms2 never sees it. */
#ifndef ESRA_IO_LCMS_H
#define ESRA_IO_LCMS_H

#include <setjmp.h>
#include <stdbool.h>

#include <lcms2.h>

struct lcms {
    cmsContext
        context; /* of its own: no global state, and lcms2's complaints go nowhere. NULL: memory was short at once */
    struct lcms_block *blocks; /* in its hands */
    bool guarded;              /* within esra_lcms_run() */
    jmp_buf escape;
};

/* Zeroes and begins; must stay where it is until esra_lcms_end(). */
void esra_lcms_begin(struct lcms *lcms);

/* Does the work, in which every call of lcms2 stands that may take memory. False where memory ran out: the work was
 * left in its midst then, and what lcms2 had made is not to be touched again. What the work itself takes must be known
 * outside. */
bool esra_lcms_run(struct lcms *lcms, void (*work)(void *user), void *user);

/* Everything that lcms2 has is gone, closed or not. Harmless on a struct of zeros. */
void esra_lcms_end(struct lcms *lcms);

#endif
