/* io/lcms.c - lcms2 where memory may be short. */
#include "io/lcms.h"

#include <stddef.h>
#include <stdlib.h>

#include <lcms2_plugin.h>

/* lcms2's own bound for one block: who asks for more is a profile that lies, and not a machine that is short. */
#define MOST_BYTES (512u << 20)

/* Stands before the bytes that lcms2 sees. */
struct lcms_block {
    struct lcms_block **from; /* what points here; NULL: in no list */
    struct lcms_block *next;
    max_align_t bytes[];
};

static void link_block(struct lcms *lcms, struct lcms_block *block)
{
    block->from = NULL;
    if (!lcms) /* a context in the making or on its way out sees to its own */
        return;
    block->from = &lcms->blocks;
    block->next = lcms->blocks;
    if (block->next)
        block->next->from = &block->next;
    lcms->blocks = block;
}

static void unlink_block(struct lcms_block *block)
{
    if (!block->from)
        return;
    *block->from = block->next;
    if (block->next)
        block->next->from = block->from;
}

static struct lcms_block *block_of(void *bytes)
{
    return (struct lcms_block *)((char *)bytes - offsetof(struct lcms_block, bytes));
}

/* A new block with what the old one holds; old may be NULL. */
static void *take(cmsContext context, struct lcms_block *old, cmsUInt32Number size)
{
    struct lcms *lcms = cmsGetContextUserData(context);
    if (size > MOST_BYTES)
        return NULL;
    if (old)
        unlink_block(old);
    struct lcms_block *block = realloc(old, offsetof(struct lcms_block, bytes) + size);
    if (block) {
        link_block(lcms, block);
        return block->bytes;
    }
    if (old)
        link_block(lcms, old);
    if (lcms && lcms->guarded)
        longjmp(lcms->escape, 1);
    return NULL;
}

static void *on_allocate(cmsContext context, cmsUInt32Number size)
{
    return take(context, NULL, size);
}

static void *on_reallocate(cmsContext context, void *bytes, cmsUInt32Number size)
{
    return take(context, bytes ? block_of(bytes) : NULL, size);
}

static void on_free(cmsContext context, void *bytes)
{
    (void)context;
    if (!bytes)
        return;
    unlink_block(block_of(bytes));
    free(block_of(bytes));
}

/* A context is used by one thread; lcms2's own locks are made with memory, and would stay locked. */
static void *make_lock(cmsContext context)
{
    static char lock;
    (void)context;
    return &lock;
}

static void free_lock(cmsContext context, void *lock)
{
    (void)context;
    (void)lock;
}

static cmsBool take_lock(cmsContext context, void *lock)
{
    (void)context;
    (void)lock;
    return TRUE;
}

void esra_lcms_begin(struct lcms *lcms)
{
    cmsPluginMutex locks = {.base = {cmsPluginMagicNumber, 2060, cmsPluginMutexSig, NULL},
                            .CreateMutexPtr = make_lock,
                            .DestroyMutexPtr = free_lock,
                            .LockMutexPtr = take_lock,
                            .UnlockMutexPtr = free_lock};
    cmsPluginMemHandler memory = {.base = {cmsPluginMagicNumber, 2060, cmsPluginMemHandlerSig, &locks.base},
                                  .MallocPtr = on_allocate,
                                  .FreePtr = on_free,
                                  .ReallocPtr = on_reallocate};
    lcms->blocks = NULL;
    lcms->guarded = false;
    lcms->context = cmsCreateContext(&memory, lcms);
}

bool esra_lcms_run(struct lcms *lcms, void (*work)(void *user), void *user)
{
    if (!lcms->context)
        return false;
    if (setjmp(lcms->escape)) {
        lcms->guarded = false;
        return false;
    }
    lcms->guarded = true;
    work(user);
    lcms->guarded = false;
    return true;
}

void esra_lcms_end(struct lcms *lcms)
{
    if (lcms->context)
        cmsDeleteContext(lcms->context);
    lcms->context = NULL;
    while (lcms->blocks) {
        struct lcms_block *block = lcms->blocks;
        unlink_block(block);
        free(block);
    }
}
