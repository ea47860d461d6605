/* tools/esra/synth_words.c - the words of esra synth's command line. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "synth.h"

static enum exit_code take_real(const char *flag, const char *text, double *value)
{
    char *end;
    if (!text)
        return EXIT_DONE;
    *value = strtod(text, &end);
    return end != text && !*end ? EXIT_DONE : complain(EXIT_USAGE, SYNTH_NAME, "--%s takes a number, not '%s'", flag, text);
}

/* Numbers beyond int are clamped: the library then says what the range is. */
static enum exit_code take_count(const char *flag, const char *text, int *value)
{
    char *end;
    if (!text)
        return EXIT_DONE;
    long number = strtol(text, &end, 10);
    *value = number > INT_MAX ? INT_MAX : number < INT_MIN ? INT_MIN : (int)number;
    return end != text && !*end ? EXIT_DONE
                                : complain(EXIT_USAGE, SYNTH_NAME, "--%s takes a whole number, not '%s'", flag, text);
}

/* At most what JSON's integers hold everywhere: truth.json repeats it. */
static enum exit_code take_seed(const char *text, unsigned long long *seed)
{
    char *end;
    if (!text)
        return EXIT_DONE;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    *seed = (unsigned long long)number;
    if (end == text || *end || errno || number < 0)
        return complain(EXIT_USAGE, SYNTH_NAME, "--seed takes a whole number from 0 up, not '%s'", text);
    return EXIT_DONE;
}

static enum exit_code take_size(const char *text, int *width, int *height)
{
    char rest;
    if (!text)
        return EXIT_DONE;
    if (sscanf(text, "%5dx%5d%c", width, height, &rest) != 2 || *width < 8 || *height < 8 || *width > 65536 ||
        *height > 65536)
        return complain(EXIT_USAGE, SYNTH_NAME, "--size takes a width and a height such as 640x480, not '%s'", text);
    return EXIT_DONE;
}

/* Others are known to the codecs, but photos are what a camera gives. */
static enum exit_code take_format(const char *text, const char **format)
{
    static const char *const formats[] = {"png", "jpg", "tif"};
    *format = text ? text : formats[0];
    for (size_t n = 0; n < sizeof formats / sizeof formats[0]; n++)
        if (strcmp(*format, formats[n]) == 0)
            return EXIT_DONE;
    return complain(EXIT_USAGE, SYNTH_NAME, "--format takes one of png|jpg|tif, not '%s'", text);
}

static enum exit_code take_reals(struct synth_job *job)
{
    const struct synth_options *o = &job->options;
    esra_synth_settings *s = &job->settings;
    const struct {
        const char *flag, *text;
        double *value;
    } reals[] = {{"shift", o->shift, &s->shift_px},
                 {"rotation", o->rotation, &s->rotation_deg},
                 {"gain", o->gain, &s->gain_spread},
                 {"transmission", o->transmission, &s->transmission},
                 {"reflection", o->reflection, &s->reflection},
                 {"noise", o->noise, &s->noise},
                 {"blur", o->blur, &s->blur_px},
                 {"focal", o->focal, &s->focal_px}};
    enum exit_code code = EXIT_DONE;
    for (size_t n = 0; n < sizeof reals / sizeof reals[0] && code == EXIT_DONE; n++)
        code = take_real(reals[n].flag, reals[n].text, reals[n].value);
    return code;
}

static enum exit_code take_counts(struct synth_job *job)
{
    const struct synth_options *o = &job->options;
    esra_synth_settings *s = &job->settings;
    const struct {
        const char *flag, *text;
        int *value;
    } counts[] = {{"photos", o->photos, &s->photos},
                  {"bits", o->bits, &s->bits},
                  {"threads", o->threads, &s->threads},
                  {"quality", o->quality, &job->write.quality}};
    enum exit_code code = EXIT_DONE;
    for (size_t n = 0; n < sizeof counts / sizeof counts[0] && code == EXIT_DONE; n++)
        code = take_count(counts[n].flag, counts[n].text, counts[n].value);
    return code;
}

enum exit_code synth_take_words(struct synth_job *job)
{
    const struct synth_options *o = &job->options;
    esra_synth_settings_default(&job->settings);
    job->write = (struct write_options)WRITE_OPTIONS_DEFAULT;
    job->settings.depth = o->depth || o->depths[0] || o->depths[1];
    enum exit_code code = reading_take(&o->reading, SYNTH_NAME, &job->read);
    job->read.profile = true;
    if (code == EXIT_DONE)
        code = take_format(o->format, &job->write.format);
    if (code == EXIT_DONE)
        code = take_reals(job);
    if (code == EXIT_DONE)
        code = take_counts(job);
    if (code == EXIT_DONE)
        code = take_seed(o->seed, &job->settings.seed);
    if (code == EXIT_DONE)
        code = take_size(o->size, &job->settings.width, &job->settings.height);
    if (code == EXIT_DONE && job->settings.bits != 8 && job->settings.bits != 16)
        code = complain(EXIT_USAGE, SYNTH_NAME, "--bits takes 8 or 16, not '%s'", o->bits);
    if (code == EXIT_DONE && (job->write.quality < 1 || job->write.quality > 100))
        code = complain(EXIT_USAGE, SYNTH_NAME, "--quality takes a number from 1 to 100, not '%s'", o->quality);
    if (code == EXIT_DONE && (job->settings.photos < 1 || job->settings.photos > 1000))
        code = complain(EXIT_USAGE, SYNTH_NAME, "--photos takes a number from 1 to 1000, not '%s'", o->photos);
    return code;
}
