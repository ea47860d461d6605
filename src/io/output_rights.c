/* io/output_rights.c - who may do what with a file that is replaced: those who might before, and nobody else. */
#include <sys/stat.h>
#include <unistd.h>

#include "io/output_target.h"

/* The group of a file that could not be given its old one is ours, and had no right to it. Members of the old one are now
 * among the others, and had no more than their own rights. */
static unsigned without_group(unsigned mode)
{
    return (mode & 0700) | (mode & 07 & mode >> 3);
}

int esra_output_give_rights(const struct output *output)
{
    unsigned mode = output->mode;
    /* Only root gives files away, but whoever is a member gives them to a group. The mode comes after, since a change of
     * owner can narrow it. */
    if (output->exists && fchown(output->fd, output->owner, output->group) && fchown(output->fd, (uid_t)-1, output->group))
        mode = without_group(mode);
    return fchmod(output->fd, mode);
}
