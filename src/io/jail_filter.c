/* io/jail_filter.c - what a jailed process may ask of the system. */
#define _GNU_SOURCE
#include "io/jail_filter.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/mman.h>

/* Memory, locks between threads of its own, and the end. Nothing here names a file, a process or an address outside. */
static const int harmless[] = {
    SCMP_SYS(brk),
    SCMP_SYS(munmap),
    SCMP_SYS(mremap),
    SCMP_SYS(futex),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(rseq),
    SCMP_SYS(sched_yield),
    SCMP_SYS(gettid),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(getrandom),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
};

/* System calls that are allowed on one descriptor only. The input is read by pread(), since its file position is shared
 * with the parent. */
static const struct {
    int call, fd;
} of_files[] = {
    {SCMP_SYS(pread64), JAIL_INPUT},
    {SCMP_SYS(write), JAIL_REPLY},
};

/* The advice that allocators give about their own pages. Other kinds concern children, core dumps, pages shared with
 * other processes, and deliberate faults. */
static const int advice[] = {MADV_DONTNEED, MADV_FREE, MADV_HUGEPAGE, MADV_NOHUGEPAGE};

/* No executable memory, which exploits need; and no file can be mapped. */
static int allow_memory(scmp_filter_ctx filter)
{
    int failed = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 2, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0),
                                  SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS));
    failed |=
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
    for (size_t n = 0; n < sizeof advice / sizeof advice[0]; n++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(madvise), 1,
                                   SCMP_A2(SCMP_CMP_EQ, (scmp_datum_t)advice[n], 0));
    return failed;
}

/* Some decoders start threads, one for each processor that the child may use; the filter holds for them, too. It cannot
 * inspect clone3's struct: refused with ENOSYS, libc falls back to clone. */
static int allow_threads(scmp_filter_ctx filter)
{
    const unsigned thread = CLONE_VM | CLONE_THREAD | CLONE_SIGHAND;
    int failed =
        seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, thread, thread));
    failed |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sched_getaffinity), 1, SCMP_A0(SCMP_CMP_EQ, 0, 0));
    /* pthread_getattr_np() asks for its thread's, by a number that could be anybody's, and does without where there is
     * no such call. */
    failed |=
        seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(sched_getaffinity), 1, SCMP_A0(SCMP_CMP_NE, 0, 0));
    return failed;
}

/* Refused calls fail with EPERM rather than kill: a decoder that looks for a file it can do without goes on without. */
bool esra_jail_filter(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
    if (!filter)
        return false;
    int failed = allow_memory(filter) | allow_threads(filter);
    for (size_t n = 0; n < sizeof harmless / sizeof harmless[0]; n++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, harmless[n], 0);
    for (size_t n = 0; n < sizeof of_files / sizeof of_files[0]; n++)
        failed |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, of_files[n].call, 1,
                                   SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)of_files[n].fd, 0));
    failed |= seccomp_load(filter);
    seccomp_release(filter);
    return failed == 0;
}
