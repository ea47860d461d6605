/* tests/context.h - a context whose failures nobody reads. */
#ifndef ESRA_TESTS_CONTEXT_H
#define ESRA_TESTS_CONTEXT_H

#include "base/context.h"
#include "check.h"

static inline struct context *make_context(int threads)
{
    static struct message message;
    struct context *context = NULL;
    CHECK(esra_context_create(&context, threads, &message) == ESRA_OK);
    return context;
}

#endif
