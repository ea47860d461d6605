/* io/output_checks.c - what can be told of outputs before any work: that they write over no input. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output.h"

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* "-" may be a file that the shell has opened, with a name that is not known here. A pipe or a device is not replaced. */
static bool look_at_input(const char *name, struct stat *input)
{
    if (name && strcmp(name, "-") == 0)
        return fstat(STDIN_FILENO, input) == 0 && S_ISREG(input->st_mode);
    return name && stat(name, input) == 0;
}

esra_status esra_output_spare(const char *name, const char *const *inputs, int count, struct message *message)
{
    struct stat output, input;
    if (strcmp(name, "-") == 0 || stat(name, &output) != 0)
        return ESRA_OK;
    for (int n = 0; n < count; n++)
        if (look_at_input(inputs[n], &input) && same_file(&input, &output))
            return esra_fail(message, ESRA_CANNOT_CREATE, "%s is one of the inputs, and would be written over: choose "
                             "another %s", name, strchr(name, '/') ? "folder" : "name");
    return ESRA_OK;
}
