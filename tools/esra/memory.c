/* tools/esra/memory.c - how much memory a command will take, takes, and may take. */
#include "memory.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Libraries that a program may be built with, and that bring others with them. */
#ifdef ESRA_HAVE_LIBHEIF
#define HEIF_BYTES 2.4e6
#else
#define HEIF_BYTES 0
#endif
#ifdef ESRA_HAVE_LIBRAW
#define RAW_BYTES 1e6
#else
#define RAW_BYTES 0
#endif

/* The program itself and its libraries, stacks, and what malloc keeps. */
#define PROGRAM_BYTES (4.1e6 + HEIF_BYTES + RAW_BYTES)

/* A photo's curve with its inverse (colour/light.c). */
#define LIGHT_BYTES 345e3

static const char units[] = "KMGT";

enum exit_code memory_take(const char *text, const char *command, double *bytes)
{
    char *end;
    *bytes = 0;
    if (!text)
        return EXIT_DONE;
    double number = strtod(text, &end);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    *bytes = unit ? ldexp(number, 10 * (int)(unit - units + 1)) : number;
    /* Plain digits: strtod also knows hexadecimals, infinity and NaN. */
    bool plain = strspn(text, "0123456789.") == (size_t)(end - text) && end != text;
    if (plain && (!*end || (unit && !end[1])) && *bytes >= 1)
        return EXIT_DONE;
    return complain(EXIT_USAGE, command, "--max-memory takes a size such as 8G or 500M, not '%s'", text);
}

void memory_tell(double bytes, char *text, size_t size)
{
    int unit = 0;
    double number = bytes / 1024;
    for (; number >= 1000 && units[unit + 1]; unit++)
        number /= 1024;
    snprintf(text, size, "%.*f%c", number < 100 ? 1 : 0, number, units[unit]);
}

static double images(const struct memory_shape *shape, int count, int channels)
{
    return count * esra_block_bytes((double)shape->width * shape->height * channels * sizeof(float));
}

/* The photos, and gradients that are given. Layers and confidence take memory once they are written to, when the
 * library has freed more. */
esra_status memory_plan_separate(const struct memory_shape *shape, const esra_settings *settings, esra_plan *plan,
                                 double *bytes)
{
    int m = shape->photos, c = shape->channels;
    *plan = (esra_plan)ESRA_PLAN_INIT;
    *bytes = PROGRAM_BYTES + m * LIGHT_BYTES + images(shape, m + (shape->gradients ? 2 * (m + 1) : 0), c);
    esra_status status = esra_plan_separate(m, shape->width, shape->height, c, settings, plan);
    *bytes += plan->bytes;
    return status;
}

/* Photos that would fit, or 0. */
static int fitting_photos(const struct memory_shape *shape, const esra_settings *settings, double most)
{
    struct memory_shape fewer = *shape;
    esra_plan plan;
    double bytes = INFINITY;
    while (fewer.photos > 2 && bytes > most) {
        fewer.photos--;
        memory_plan_separate(&fewer, settings, &plan, &bytes);
    }
    return bytes <= most ? fewer.photos : 0;
}

/* Memory goes with the number of pixels, so that a side goes with its root. */
static int fitting_width(const struct memory_shape *shape, double needed, double most)
{
    double share = (most - PROGRAM_BYTES) / (needed - PROGRAM_BYTES);
    return share > 0 ? (int)(0.97 * shape->width * sqrt(share)) / 10 * 10 : 0;
}

static void advise(const struct memory_shape *shape, const esra_settings *settings, double needed, double most,
                   char *text, size_t size)
{
    int fewer = fitting_photos(shape, settings, most), width = fitting_width(shape, needed, most);
    char photos[64] = "", pixels[64] = "";
    if (fewer)
        snprintf(photos, sizeof photos, "take %d photos, or ", fewer);
    if (width >= 100)
        snprintf(pixels, sizeof pixels, "make them %d pixels wide, or ", width);
    snprintf(text, size, "%s%sallow more", photos, pixels);
}

esra_status memory_check_separate(const struct memory_shape *shape, const esra_settings *settings, double most,
                                  struct message *message)
{
    esra_plan plan;
    double needed;
    char need[32], limit[32], advice[192];
    esra_status status = memory_plan_separate(shape, settings, &plan, &needed);
    if (status == ESRA_OK && (most == 0 || needed <= most))
        return ESRA_OK;
    /* What is wrong with the settings is told by the call itself. */
    if (status == ESRA_BAD_ARGUMENT)
        return ESRA_OK;
    memory_tell(needed, need, sizeof need);
    memory_tell(most, limit, sizeof limit);
    advise(shape, settings, needed, most, advice, sizeof advice);
    return esra_fail(message, ESRA_OVER_LIMIT, "%d photos of %d x %d need %s of memory, and --max-memory is %s: %s",
                     shape->photos, shape->width, shape->height, need, limit, advice);
}

esra_status memory_check_solve(const struct memory_shape *shape, double given, const esra_settings *settings,
                               double most, struct message *message)
{
    esra_plan plan = ESRA_PLAN_INIT;
    char need[32], limit[32];
    esra_status status = esra_plan_run(shape->photos, shape->width, shape->height, shape->channels, settings, &plan);
    double needed = PROGRAM_BYTES + plan.bytes + given * (double)shape->width * shape->height * sizeof(float);
    if (most == 0 || status == ESRA_BAD_ARGUMENT || (status == ESRA_OK && needed <= most))
        return ESRA_OK;
    memory_tell(needed, need, sizeof need);
    memory_tell(most, limit, sizeof limit);
    return esra_fail(message, ESRA_OVER_LIMIT,
                     "this problem needs %s of memory, and --max-memory is %s: make it smaller, or "
                     "allow more",
                     need, limit);
}

/* Not getrusage(): its maximum survives exec, and may be that of the shell that started us. */
double memory_peak(void)
{
    static const char name[] = "VmHWM:";
    char line[256];
    double kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file && kilobytes == 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtod(line + strlen(name), NULL);
    if (file)
        fclose(file);
    return 1024 * kilobytes;
}
