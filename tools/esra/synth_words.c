/* tools/esra/synth_words.c - the words of esra synth's command line. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

static bool in_range(const char *name, int value)
{
    size_t count;
    const esra_setting *table = esra_synth_table(&count);
    for (size_t n = 0; n < count; n++)
        if (strcmp(table[n].name, name) == 0)
            return value >= table[n].lowest && value <= table[n].highest;
    return false;
}

static enum exit_code take_size(const char *text, int *width, int *height)
{
    char rest;
    if (!text)
        return EXIT_DONE;
    if (sscanf(text, "%5dx%5d%c", width, height, &rest) != 2 || !in_range("width", *width) ||
        !in_range("height", *height))
        return complain(EXIT_USAGE, SYNTH_NAME, "--size takes a width and a height such as 640x480, not '%s'", text);
    return EXIT_DONE;
}

/* The codecs know more formats; these are the ones that cameras write. */
static enum exit_code take_format(const char *text, const char **format)
{
    static const char *const formats[] = {"png", "jpg", "tif"};
    *format = text ? text : formats[0];
    for (size_t n = 0; n < sizeof formats / sizeof formats[0]; n++)
        if (strcmp(*format, formats[n]) == 0)
            return EXIT_DONE;
    return complain(EXIT_USAGE, SYNTH_NAME, "--format takes one of png|jpg|tif, not '%s'", text);
}

static enum exit_code take_quality(const char *text, int *quality)
{
    char *end;
    if (!text)
        return EXIT_DONE;
    long number = strtol(text, &end, 10);
    *quality = number < 1 || number > 100 ? 0 : (int)number;
    return end != text && !*end && *quality
               ? EXIT_DONE
               : complain(EXIT_USAGE, SYNTH_NAME, "--quality takes a number from 1 to 100, not '%s'", text);
}

enum exit_code synth_take_words(struct synth_job *job)
{
    const struct synth_options *o = &job->options;
    job->write = (struct write_options)WRITE_OPTIONS_DEFAULT;
    job->settings.depth = job->settings.depth || o->depths[0] || o->depths[1];
    enum exit_code code = reading_take(&o->reading, SYNTH_NAME, &job->read);
    job->read.profile = true;
    if (code == EXIT_DONE)
        code = take_format(o->format, &job->write.format);
    if (code == EXIT_DONE)
        code = take_quality(o->quality, &job->write.quality);
    if (code == EXIT_DONE)
        code = take_size(o->size, &job->settings.width, &job->settings.height);
    if (code == EXIT_DONE && job->settings.bits == 0)
        code = complain(EXIT_USAGE, SYNTH_NAME, "--bits takes 8 or 16: files hold rounded values");
    return code;
}
