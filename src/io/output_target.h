/* io/output_target.h - what the name of an output stands for. For io/output.c alone. */
#ifndef ESRA_IO_OUTPUT_TARGET_H
#define ESRA_IO_OUTPUT_TARGET_H

#include <sys/stat.h>

#include "io/output.h"

/* Fills in what is known of the file that output->name stands for; opens at once what cannot be replaced. */
esra_status esra_output_find_target(struct output *output, struct message *message);

/* Takes down mode, owner, group and access control list of the file that will be replaced. */
esra_status esra_output_take_rights(struct output *output, const struct stat *old, struct message *message);

/* Gives the new file, before it is in place, owner, group, mode and list of the one that it replaces, as far as the
 * system lets us, and to nobody rights that they had not; to a file that replaces none its mode. 0, or -1 with errno.
 */
int esra_output_give_rights(const struct output *output);

/* Fails with the reason, an errno, why it cannot be written. */
esra_status esra_output_refuse(const struct output *output, int reason, struct message *message);

#endif
