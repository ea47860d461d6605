/* io/output_rights.c - who may do what with a file that is replaced: those who might before, and nobody else. */
#include "io/output_target.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/xattr.h>

/* Where Linux keeps a file's access control list (POSIX 1003.1e draft 17; man 5 acl). */
#define ACL "system.posix_acl_access"

/* No such list, or a file system or kernel that has none. */
static bool means_none(int reason)
{
    return reason == ENODATA || reason == EOPNOTSUPP || reason == ENOSYS;
}
#endif

/* With a list, the group's bits of the mode are the most that anybody named in it has, and not what the group has; and
 * the list may deny somebody what others may. So the mode means nothing without it, but for the owner. */
static esra_status take_list(struct output *output, struct message *message)
{
#ifdef __linux__
    ssize_t size = getxattr(output->path, ACL, NULL, 0);
    if (size <= 0 && (size == 0 || means_none(errno)))
        return ESRA_OK;
    output->acl = malloc(size > 0 ? (size_t)size : 1);
    if (!output->acl)
        return esra_fail_memory(message);
    size = size > 0 ? getxattr(output->path, ACL, output->acl, (size_t)size) : 0;
    output->acl_size = size > 0 ? (size_t)size : 0;
#else
    (void)output, (void)message;
#endif
    return ESRA_OK;
}

esra_status esra_output_take_rights(struct output *output, const struct stat *old, struct message *message)
{
    output->mode = old->st_mode & 0777;
    output->owner = old->st_uid;
    output->group = old->st_gid;
    return take_list(output, message);
}

/* A list that the file has from its folder, and the old one had not, goes. Says whether it has none then. */
static bool drop_list(const struct output *output)
{
#ifdef __linux__
    return fremovexattr(output->fd, ACL) == 0 || means_none(errno);
#else
    (void)output;
    return true;
#endif
}

/* Sets the mode as well. One that could not be read, and so has no bytes, cannot be given. */
static void give_list(const struct output *output)
{
#ifdef __linux__
    (void)!fsetxattr(output->fd, ACL, output->acl, output->acl_size, 0);
#else
    (void)output;
#endif
}

/* Only root gives files away, but whoever is a member gives them to a group. */
static bool give_group(const struct output *output)
{
    return fchown(output->fd, output->owner, output->group) == 0 || fchown(output->fd, (uid_t)-1, output->group) == 0;
}

/* The group of a file that could not be given its old one is ours, and had no right to it. Members of the old one are
 * now among the others, and had no more than their own rights. */
static unsigned without_group(unsigned mode)
{
    return (mode & 0700) | (mode & 07 & mode >> 3);
}

/* The mode comes after the owner, since a change of that can narrow it, and before the list, which has it all. */
int esra_output_give_rights(const struct output *output)
{
    bool same_group, bare;
    unsigned mode = output->mode;
    if (!output->exists)
        return fchmod(output->fd, mode);
    same_group = give_group(output);
    bare = drop_list(output);
    if (!same_group)
        mode = without_group(mode);
    if (output->acl || !bare)
        mode &= 0700;
    if (fchmod(output->fd, mode))
        return -1;
    if (same_group && output->acl)
        give_list(output);
    return 0;
}
