/* tests/check.h - the whole test harness: the core's tests must build where there is nothing but a compiler.
 *
 *     static void adjoint_is_exact(void) { CHECK_NEAR(a, b, 1e-6); }
 *     int main(void) { RUN(adjoint_is_exact); return check_report(); }
 *
 * Random numbers come from check_random(), whose seed is printed; ESRA_TEST_SEED=n repeats a run. */
#ifndef ESRA_TESTS_CHECK_H
#define ESRA_TESTS_CHECK_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether the thread sanitizer watches. Whole separations take thirty times as long then: their tests run what several
 * threads do at once, and leave to other builds what one thread does alone, and how good it is. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define CHECK_THREADS true
#else
#define CHECK_THREADS false
#endif

static int check_failures, check_tests, check_failed_tests;
static uint64_t check_state;

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)

#define CHECK_NEAR(a, b, tolerance) check_near((a), (b), (tolerance), #a " ~ " #b, __FILE__, __LINE__)

#define CHECK_TEXT(a, b) check_text((a), (b), __FILE__, __LINE__)

#define RUN(test) check_run(test, #test)

/* Ends a test that needs what is not here, saying so. */
#define SKIP(...)                                                                                                      \
    do {                                                                                                               \
        printf("  skipped: " __VA_ARGS__);                                                                             \
        printf("\n");                                                                                                  \
        return;                                                                                                        \
    } while (0)

static inline bool check_that(bool good, const char *text, const char *file, int line)
{
    if (!good) {
        printf("  %s:%d: %s\n", file, line, text);
        check_failures++;
    }
    return good;
}

static inline bool check_near(double a, double b, double tolerance, const char *text, const char *file, int line)
{
    bool good = fabs(a - b) <= tolerance;
    if (!check_that(good, text, file, line))
        printf("    %.12g and %.12g differ by %.3g, over %.3g\n", a, b, fabs(a - b), tolerance);
    return good;
}

static inline bool check_text(const char *a, const char *b, const char *file, int line)
{
    bool good = strcmp(a, b) == 0;
    if (!check_that(good, "texts are the same", file, line))
        printf("    '%s'\n    '%s'\n", a, b);
    return good;
}

static inline uint64_t check_seed(void)
{
    const char *text = getenv("ESRA_TEST_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

/* splitmix64: uniform 64-bit numbers. */
static inline uint64_t check_bits(void)
{
    uint64_t z = (check_state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Uniform in [lowest, highest). */
static inline double check_random(double lowest, double highest)
{
    return lowest + (highest - lowest) * (double)(check_bits() >> 11) * 0x1p-53;
}

static inline void check_fill(float *data, size_t count, double lowest, double highest)
{
    for (size_t n = 0; n < count; n++)
        data[n] = (float)check_random(lowest, highest);
}

static inline void check_run(void (*test)(void), const char *name)
{
    int before = check_failures;
    check_state = check_seed();
    check_tests++;
    printf("%s\n", name);
    test();
    if (check_failures > before) {
        check_failed_tests++;
        printf("  FAILED (seed %llu)\n", (unsigned long long)check_seed());
    }
    fflush(stdout);
}

static inline int check_report(void)
{
    printf("%d passed, %d failed (seed %llu)\n", check_tests - check_failed_tests, check_failed_tests,
           (unsigned long long)check_seed());
    return check_failed_tests > 0;
}

#endif
