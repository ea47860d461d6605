/* io/profile.c - what is asked of an ICC profile, by lcms2. Every call has a context of its own: no global state, and
 * lcms2's complaints go nowhere. */
#include "io/profile.h"

#include <stdlib.h>

#include <lcms2.h>
#include <lcms2_plugin.h>

/* ---- Memory ---- */

/* lcms2's own bound for one block: who asks for more is a profile that lies, and not a machine that is short. */
#define MOST_BYTES (512u << 20)

/* What lcms2 cannot store it leaves out, and answers as if the profile were of no use: only here can the one be told from the
 * other. While a context is being made it has no user yet; it then comes out as NULL. */
static void *noted(cmsContext context, void *block)
{
    bool *ran_out = cmsGetContextUserData(context);
    if (!block && ran_out)
        *ran_out = true;
    return block;
}

static void *on_allocate(cmsContext context, cmsUInt32Number size)
{
    return size <= MOST_BYTES ? noted(context, malloc(size)) : NULL;
}

static void on_free(cmsContext context, void *block)
{
    (void)context;
    free(block);
}

static void *on_reallocate(cmsContext context, void *block, cmsUInt32Number size)
{
    return size <= MOST_BYTES ? noted(context, realloc(block, size)) : NULL;
}

/* A context is used by one thread. lcms2's own locks are made with memory, and version 2.14 does not look whether there was
 * any. */
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

/* *ran_out becomes true where memory is short, also at once; it must live as long as the context. */
static cmsContext make_context(bool *ran_out)
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
    *ran_out = false;
    cmsContext context = cmsCreateContext(&memory, ran_out);
    *ran_out = *ran_out || !context;
    return context;
}

/* ---- Curves ---- */

struct profile {
    bool ran_out; /* of memory */
    cmsContext context;
    cmsHPROFILE handle;
    const cmsToneCurve *curves[3];
};

static double sample_table(const cmsToneCurve *curve, double code)
{
    const cmsUInt16Number *table = cmsGetToneCurveEstimatedTable(curve);
    int last = (int)cmsGetToneCurveEstimatedTableEntries(curve) - 1;
    double position = code * last;
    int k = position < last ? (int)position : last - 1;
    if (last < 1)
        return code;
    return (table[k] + (table[k + 1] - table[k]) * (position - k)) / 65535.0;
}

/* Light in 0..1 of a code in 0..1. A formula is evaluated; of a table the samples are joined here, because lcms2 would
 * round to 16 bits, which in the shadows leaves steps. */
static double curve_value(const cmsToneCurve *curve, double code)
{
    if (cmsGetToneCurveParametricType(curve) != 0)
        return cmsEvalToneCurveFloat(curve, (float)code);
    return sample_table(curve, code);
}

/* The curves belong to the profile. False where it is of another kind, or not for this many channels. */
static bool find_curves(struct profile *profile, int channels)
{
    static const cmsTagSignature tags[] = {cmsSigRedTRCTag, cmsSigGreenTRCTag, cmsSigBlueTRCTag};
    cmsColorSpaceSignature wanted = channels == 3 ? cmsSigRgbData : cmsSigGrayData;
    if (cmsGetColorSpace(profile->handle) != wanted || (channels == 3 && !cmsIsMatrixShaper(profile->handle)))
        return false;
    for (int c = 0; c < channels; c++) {
        profile->curves[c] = cmsReadTag(profile->handle, channels == 3 ? tags[c] : cmsSigGrayTRCTag);
        if (!profile->curves[c])
            return false;
    }
    return true;
}

static bool open_profile(struct profile *profile, const struct bytes *icc)
{
    *profile = (struct profile){.handle = NULL};
    profile->context = make_context(&profile->ran_out);
    if (profile->context && icc->size)
        profile->handle = cmsOpenProfileFromMemTHR(profile->context, icc->data, (cmsUInt32Number)icc->size);
    return profile->handle != NULL;
}

static void close_profile(struct profile *profile)
{
    if (profile->handle)
        cmsCloseProfile(profile->handle);
    if (profile->context)
        cmsDeleteContext(profile->context);
}

/* Descriptions come from anyone: only what a terminal can show without being steered by it. */
static void take_name(const struct profile *profile, char *name, size_t size)
{
    cmsGetProfileInfoASCII(profile->handle, cmsInfoDescription, "en", "US", name, (cmsUInt32Number)size);
    name[size - 1] = '\0';
    for (char *c = name; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

static void take_primaries(const struct profile *profile, struct photo *photo)
{
    static const cmsTagSignature tags[] = {cmsSigRedColorantTag, cmsSigGreenColorantTag, cmsSigBlueColorantTag};
    for (int c = 0; c < 3; c++) {
        const cmsCIEXYZ *column = cmsReadTag(profile->handle, tags[c]);
        photo->primaries[c] = column ? column->X : 0;
        photo->primaries[3 + c] = column ? column->Y : 0;
        photo->primaries[6 + c] = column ? column->Z : 0;
    }
}

static void take_curves(const struct profile *profile, struct photo *photo)
{
    for (int c = 0; c < photo->pixels.channels; c++)
        for (int k = 0; k < CURVE_CODES; k++)
            photo->curves[c * CURVE_CODES + k] = curve_value(profile->curves[c], (double)k / (CURVE_CODES - 1));
}

esra_status esra_profile_look(struct photo *photo, struct message *message)
{
    struct profile profile;
    esra_status status = ESRA_OK;
    if (open_profile(&profile, &photo->icc)) {
        take_name(&profile, photo->profile_name, sizeof photo->profile_name);
        if (find_curves(&profile, photo->pixels.channels)) {
            photo->curves = malloc((size_t)photo->pixels.channels * CURVE_CODES * sizeof *photo->curves);
            status = photo->curves ? ESRA_OK : esra_fail_memory(message);
        }
        if (photo->curves) {
            photo->curve_channels = photo->pixels.channels;
            take_curves(&profile, photo);
            if (photo->pixels.channels == 3)
                take_primaries(&profile, photo);
        }
    }
    close_profile(&profile);
    return profile.ran_out ? esra_fail_memory(message) : status;
}

/* ---- Making one ---- */

static cmsHPROFILE with_primaries(cmsContext context, const double xy[8])
{
    static const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    cmsCIExyYTRIPLE primaries = {{xy[0], xy[1], 1}, {xy[2], xy[3], 1}, {xy[4], xy[5], 1}};
    cmsCIExyY white = {xy[6], xy[7], 1};
    cmsToneCurve *curve = cmsBuildParametricToneCurve(context, 4, srgb);
    cmsHPROFILE profile =
        curve ? cmsCreateRGBProfileTHR(context, &white, &primaries, (cmsToneCurve *[]){curve, curve, curve}) : NULL;
    cmsFreeToneCurve(curve);
    return profile;
}

esra_status esra_profile_make(struct bytes *icc, const double xy[8], struct message *message)
{
    struct profile profile = {.handle = NULL};
    cmsUInt32Number size = 0;
    profile.context = make_context(&profile.ran_out);
    if (profile.context)
        profile.handle = with_primaries(profile.context, xy);
    if (profile.handle && cmsSaveProfileToMem(profile.handle, NULL, &size)) {
        icc->data = malloc(size);
        icc->size = icc->data && cmsSaveProfileToMem(profile.handle, icc->data, &size) ? size : 0;
        profile.ran_out = profile.ran_out || icc->size == 0;
    }
    close_profile(&profile);
    if (!profile.ran_out)
        return ESRA_OK;
    esra_bytes_free(icc);
    return esra_fail_memory(message);
}

/* ---- CMYK ---- */

struct cmyk {
    bool ran_out; /* of memory */
    cmsContext context;
    cmsHTRANSFORM transform;
};

static cmsHTRANSFORM make_transform(cmsContext context, const struct bytes *icc, bool inverted)
{
    cmsHPROFILE from = cmsOpenProfileFromMemTHR(context, icc->data, (cmsUInt32Number)icc->size);
    cmsHPROFILE to = cmsCreate_sRGBProfileTHR(context);
    cmsHTRANSFORM transform = NULL;
    if (from && to && cmsGetColorSpace(from) == cmsSigCmykData)
        transform = cmsCreateTransformTHR(context, from, inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8, to, TYPE_RGB_16,
                                          INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_BLACKPOINTCOMPENSATION);
    if (from)
        cmsCloseProfile(from);
    if (to)
        cmsCloseProfile(to);
    return transform;
}

esra_status esra_cmyk_create(struct cmyk **cmyk, struct decoding *decoding, bool inverted)
{
    const struct bytes *icc = &decoding->photo->icc;
    if (icc->size == 0)
        return esra_decoding_refuse(decoding, "is in CMYK without a colour profile, so its colours are unknown",
                                    "convert it to RGB");
    *cmyk = calloc(1, sizeof **cmyk);
    if (!*cmyk)
        return esra_fail_memory(decoding->message);
    (*cmyk)->context = make_context(&(*cmyk)->ran_out);
    if ((*cmyk)->context)
        (*cmyk)->transform = make_transform((*cmyk)->context, icc, inverted);
    if ((*cmyk)->ran_out)
        return esra_fail_memory(decoding->message);
    if ((*cmyk)->transform)
        return ESRA_OK;
    return esra_decoding_refuse(decoding, "is in CMYK with a colour profile that cannot be used", "convert it to RGB");
}

void esra_cmyk_convert(const struct cmyk *cmyk, const unsigned char *from, uint16_t *to, int count)
{
    cmsDoTransform(cmyk->transform, from, to, (cmsUInt32Number)count);
}

void esra_cmyk_free(struct cmyk **cmyk)
{
    if (*cmyk && (*cmyk)->transform)
        cmsDeleteTransform((*cmyk)->transform);
    if (*cmyk && (*cmyk)->context)
        cmsDeleteContext((*cmyk)->context);
    free(*cmyk);
    *cmyk = NULL;
}
