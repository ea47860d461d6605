/* io/profile.c - what is asked of an ICC profile, by lcms2. */
#include "io/profile.h"

#include <stdlib.h>

#include "io/lcms.h"

/* ---- Curves ---- */

struct profile {
    struct photo *photo;
    cmsHPROFILE handle;
    const cmsToneCurve *curves[3];
    bool ran_out; /* of memory, beside lcms2's */
    struct lcms lcms;
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

static void look(void *user)
{
    struct profile *profile = user;
    struct photo *photo = profile->photo;
    profile->handle =
        cmsOpenProfileFromMemTHR(profile->lcms.context, photo->icc.data, (cmsUInt32Number)photo->icc.size);
    if (!profile->handle)
        return;
    take_name(profile, photo->profile_name, sizeof photo->profile_name);
    if (!find_curves(profile, photo->pixels.channels))
        return;
    photo->curves = malloc((size_t)photo->pixels.channels * CURVE_CODES * sizeof *photo->curves);
    profile->ran_out = !photo->curves;
    if (profile->ran_out)
        return;
    photo->curve_channels = photo->pixels.channels;
    take_curves(profile, photo);
    if (photo->pixels.channels == 3)
        take_primaries(profile, photo);
}

/* An open profile goes with all else that lcms2 has. */
esra_status esra_profile_look(struct photo *photo, struct message *message)
{
    struct profile profile = {.photo = photo};
    if (photo->icc.size == 0)
        return ESRA_OK;
    esra_lcms_begin(&profile.lcms);
    bool done = esra_lcms_run(&profile.lcms, look, &profile);
    esra_lcms_end(&profile.lcms);
    return done && !profile.ran_out ? ESRA_OK : esra_fail_memory(message);
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

struct making {
    const double *xy;
    struct bytes *icc;
    bool ran_out; /* of memory, beside lcms2's */
    struct lcms lcms;
};

static void make(void *user)
{
    struct making *m = user;
    cmsUInt32Number size = 0;
    cmsHPROFILE profile = with_primaries(m->lcms.context, m->xy);
    if (!profile || !cmsSaveProfileToMem(profile, NULL, &size))
        return;
    m->icc->data = malloc(size);
    m->icc->size = m->icc->data && cmsSaveProfileToMem(profile, m->icc->data, &size) ? size : 0;
    m->ran_out = m->icc->size == 0;
}

esra_status esra_profile_make(struct bytes *icc, const double xy[8], struct message *message)
{
    struct making making = {.xy = xy, .icc = icc};
    esra_lcms_begin(&making.lcms);
    bool done = esra_lcms_run(&making.lcms, make, &making);
    esra_lcms_end(&making.lcms);
    if (done && !making.ran_out)
        return ESRA_OK;
    esra_bytes_free(icc);
    return esra_fail_memory(message);
}

/* ---- CMYK ---- */

struct cmyk {
    const struct bytes *icc;
    bool inverted;
    cmsHTRANSFORM transform;
    struct lcms lcms;
};

static void make_transform(void *user)
{
    struct cmyk *cmyk = user;
    cmsContext context = cmyk->lcms.context;
    cmsHPROFILE from = cmsOpenProfileFromMemTHR(context, cmyk->icc->data, (cmsUInt32Number)cmyk->icc->size);
    cmsHPROFILE to = cmsCreate_sRGBProfileTHR(context);
    if (from && to && cmsGetColorSpace(from) == cmsSigCmykData)
        cmyk->transform =
            cmsCreateTransformTHR(context, from, cmyk->inverted ? TYPE_CMYK_8_REV : TYPE_CMYK_8, to, TYPE_RGB_16,
                                  INTENT_RELATIVE_COLORIMETRIC, cmsFLAGS_BLACKPOINTCOMPENSATION);
    if (from)
        cmsCloseProfile(from);
    if (to)
        cmsCloseProfile(to);
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
    (*cmyk)->icc = icc;
    (*cmyk)->inverted = inverted;
    esra_lcms_begin(&(*cmyk)->lcms);
    if (!esra_lcms_run(&(*cmyk)->lcms, make_transform, *cmyk))
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
    if (*cmyk)
        esra_lcms_end(&(*cmyk)->lcms);
    free(*cmyk);
    *cmyk = NULL;
}
