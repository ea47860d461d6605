/* esra.h - the whole public interface of libesra, and its contract.
 *
 * Given m photos I_1..I_m of one scene behind glass, aligned so that the scene stands still, and an estimate E_l of
 * each layer's gradients, libesra finds the layers: L_0, the scene, and L_1..L_m, what each photo reflects, as the
 * minimiser of
 *
 *     F(L) = 1/2 sum_i sum_x w_i (I_i - a_i L_0 - L_i)^2  +  lambda sum_l sum_x |D L_l - E_l|      over 0 <= L <= 1
 *
 * with D the forward differences, and proves how near it came: every run returns F and a lower bound of the least F.
 * doc/ALGORITHM.md has the mathematics; layers count from 0 here and from 1 in the paper.
 *
 * Rules for all functions. The library keeps no global state, prints nothing, opens no file, installs no handler. A
 * solver object belongs to one thread at a time; different solvers may run in different threads at once. Structs whose
 * first field is struct_size grow at their end only: set it to sizeof(the struct), as the initialisers below do, and a
 * program built against an older header keeps working. Where a call with a solver fails, the text of
 * esra_solver_message() says what is wrong and what to do. */
#ifndef ESRA_ESRA_H
#define ESRA_ESRA_H

#include <stddef.h>

#include <esra/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(ESRA_EXPORTS) /* while the library itself is built */
#define ESRA_API __declspec(dllexport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define ESRA_API __attribute__((visibility("default")))
#else
#define ESRA_API
#endif

/* From tables of ROW(value, word): the values, and "|" between the words. */
#define ESRA_VALUE_(value, word) value,
#define ESRA_WORD_(value, word)  "|" word
#define ESRA_WORDS(TABLE)        (&(TABLE(ESRA_WORD_))[1])

typedef enum esra_status {
    ESRA_OK = 0,
    ESRA_BAD_ARGUMENT, /* a setting out of its range, a missing pointer: a mistake of the calling program */
    ESRA_BAD_DATA,     /* sizes that do not fit, NaN, infinity, weights outside [0,1] */
    ESRA_OUT_OF_MEMORY,
    ESRA_OVER_LIMIT, /* the problem is larger than this machine's addresses can hold */
    /* Only where files are named, as on the command line; the library itself opens none. */
    ESRA_NO_INPUT,      /* a file to read does not exist or may not be read */
    ESRA_CANNOT_CREATE, /* a file to write may not be made */
    ESRA_IO_ERROR,      /* reading or writing broke off: disk full, closed pipe, failing device */
} esra_status;

/* A short English name of a status, for logs. Never NULL; the text is static. */
ESRA_API const char *esra_status_name(esra_status status);

/* "major.minor.patch" of the library that is running, which may be newer than the header. */
ESRA_API const char *esra_version(void);

/* ---- Images ---------------------------------------------------------------------------------------------------- */

/* A view of float32 samples that the caller owns: sample (x, y) of channel c stands at
 * data[y * row_stride + x * column_stride + c * channel_stride]. Strides count floats. As an input nothing is written
 * through it; as an output its samples must not overlap. */
typedef struct esra_image {
    float *data;
    int width, height, channels;
    ptrdiff_t column_stride, row_stride, channel_stride;
} esra_image;

/* One plane after the other: data[(c * height + y) * width + x]. */
static inline esra_image esra_image_planar(float *data, int width, int height, int channels)
{
    esra_image image = {data, width, height, channels, 1, width, (ptrdiff_t)width * height};
    return image;
}

/* Samples of a pixel side by side, as in NumPy's (h, w, c): data[(y * width + x) * channels + c]. */
static inline esra_image esra_image_interleaved(float *data, int width, int height, int channels)
{
    esra_image image = {data, width, height, channels, channels, (ptrdiff_t)width * channels, 1};
    return image;
}

/* ---- Colour ---------------------------------------------------------------------------------------------------- */

/* Linear light of sRGB's code values (IEC 61966-2-1), and code values of light, sample by sample: what 'esra separate'
 * does with photos that have no profile. Code and light 0 are black, 1 are white; values outside follow the curve's end
 * in a straight line. Every code of 8 bits (k/255) and 16 bits (k/65535) becomes the light of the exact curve, to the
 * last digit of a float, and comes back as the same code; others lie between their neighbours. Both images have one
 * size and number of channels, otherwise ESRA_BAD_DATA; they may be the same. Each call makes a table first, which
 * takes a few milliseconds and half a megabyte: convert whole images. */
ESRA_API esra_status esra_srgb_decode(const esra_image *codes, const esra_image *light);
ESRA_API esra_status esra_srgb_encode(const esra_image *light, const esra_image *codes);

/* ---- Problem and result ---------------------------------------------------------------------------------------- */

/* All images have one width and height, at least 1x1, and one number of channels; channels are solved independently.
 * Intensities are meant to lie in [0,1]; values outside are taken as they are, up to 1e6 in size. */
typedef struct esra_problem {
    size_t struct_size;
    int photos;                  /* m >= 1 */
    const double *mixing;        /* m coefficients a_i, 0 <= a_i <= 1000 */
    const esra_image *mixtures;  /* m images I_i */
    const esra_image *gradients; /* 2(m+1) images: 2l is L_l[y+1] - L_l[y], its last row ignored; 2l+1 is
                                    L_l[x+1] - L_l[x], its last column ignored */
    const esra_image *weights;   /* m images of one channel in [0,1], or NULL: every weight is 1. A pixel that photo i
                                    does not see has weight 0 */
    /* Where to start, both or neither: layers and duals as an esra_result has them, of a problem much like this one
       (the frame before, another lambda). Values outside their ranges count as the bound; what esra_result fills may be
       the same arrays. The fast engine then goes on from there; the paper's starts at zero as published and takes no
       notice. */
    const esra_image *start_layers; /* m+1 images */
    const esra_image *start_duals;  /* 2(m+1) images */
} esra_problem;
#define ESRA_PROBLEM_INIT                                                                                              \
    {                                                                                                                  \
        sizeof(esra_problem), 0, NULL, NULL, NULL, NULL, NULL, NULL                                                    \
    }

/* Where the answer goes. After any run that returns ESRA_OK the layers hold the best iterate found; after a failure
 * their contents are unspecified. */
typedef struct esra_result {
    size_t struct_size;
    const esra_image *layers; /* m+1 images of the problem's size and channels, to be filled */
    const esra_image *duals;  /* NULL, or 2(m+1) images laid out as the gradients, to be filled with the field u,
                                 |u| <= 1, that proves the bound: with it anyone can compute D(u) again */
} esra_result;
#define ESRA_RESULT_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(esra_result), NULL, NULL                                                                                \
    }

/* ---- Settings -------------------------------------------------------------------------------------------------- */

typedef enum esra_engine {
    ESRA_ENGINE_PAPER = 0, /* ESRA + PACTV as published */
    ESRA_ENGINE_FAST = 1,  /* primal-dual with a preconditioned null mode, coarse to fine */
} esra_engine;

/* Threads that a call may use. */
#define ESRA_THREADS_MOST 256

/* The fields, their defaults, ranges and meanings stand in settings.def, one line each. */
typedef struct esra_settings {
    size_t struct_size;
#define ESRA_REAL(field, default_, lowest, highest, unit, help)  double field;
#define ESRA_COUNT(field, default_, lowest, highest, unit, help) int field;
#define ESRA_TOGGLE(field, default_, help)                       int field;
#define ESRA_CHOICE(field, default_, last, names, help)          int field;
#include <esra/settings.def>
} esra_settings;

/* Fills the first struct_size bytes with defaults. Call esra_settings_default() instead from C. */
ESRA_API void esra_settings_init(esra_settings *settings, size_t struct_size);

static inline void esra_settings_default(esra_settings *settings)
{
    esra_settings_init(settings, sizeof *settings);
}

/* Likewise with the defaults of esra_solver_separate(), whose lambda and gap suit photos. Call
 * esra_settings_for_separation() instead from C. */
ESRA_API void esra_settings_separation_init(esra_settings *settings, size_t struct_size);

static inline void esra_settings_for_separation(esra_settings *settings)
{
    esra_settings_separation_init(settings, sizeof *settings);
}

/* The table itself, for programs that offer the settings to their own users. Other structs have tables like it. */
typedef enum esra_setting_type {
    ESRA_TYPE_REAL,   /* a double */
    ESRA_TYPE_COUNT,  /* an int */
    ESRA_TYPE_TOGGLE, /* an int, 0 or 1 */
    ESRA_TYPE_CHOICE, /* an int: the index of one of the words in names */
    ESRA_TYPE_ONE_OF, /* an int: one of the numbers in names */
    ESRA_TYPE_SEED,   /* an unsigned long long, any */
} esra_setting_type;

typedef struct esra_setting {
    const char *name; /* the field's name */
    esra_setting_type type;
    size_t offset; /* of the field in the struct that the table is of */
    double default_value, lowest, highest;
    const char *unit;  /* "" where there is none */
    const char *names; /* choice: the words, one of: the numbers, separated by "|"; NULL otherwise */
    const char *help;
} esra_setting;

/* Static and constant; *count is set to the number of rows. */
ESRA_API const esra_setting *esra_settings_table(size_t *count);

/* ---- Solving --------------------------------------------------------------------------------------------------- */

typedef enum esra_outcome {
    ESRA_OPTIMAL,    /* the gap asked for is proven */
    ESRA_INACCURATE, /* iterations ran out first, or more of them no longer helped */
    ESRA_STOPPED,    /* the progress callback or the time limit ended the run */
} esra_outcome;

/* "optimal", "inaccurate" or "stopped". */
ESRA_API const char *esra_outcome_name(esra_outcome outcome);

/* How a run went, or goes. Objectives and bounds of the channels are summed. */
typedef struct esra_info {
    size_t struct_size;
    esra_outcome outcome;
    double objective;           /* F of the layers returned, evaluated in double */
    double bound;               /* D <= the least possible F, proven */
    double gap;                 /* (F - D)/max(|F|, tiny): no more than this much can be gained; see doc/NUMERICS.md */
    int iterations;             /* of the channel that took most; told to the callback, of the one at work */
    long long inner_iterations; /* PACTV steps over all layers and channels */
    int threads;                /* used */
    double seconds;             /* of the run; told to the callback of a separation, since that began */
    const char *stage;          /* what is being done: "align", "separate", "solve", "return"; static */
    double certificate_seconds; /* of `seconds`: spent on objectives and bounds, and on guesses when to look at them */
    double remaining_seconds;   /* told to the callback of a separation: about how long it goes on, as planned for such
                                   photos and as fast as it has gone so far; 0: not known */
} esra_info;
#define ESRA_INFO_INIT                                                                                                 \
    {                                                                                                                  \
        sizeof(esra_info), ESRA_INACCURATE, 0, 0, 0, 0, 0, 0, 0, "solve", 0, 0                                         \
    }

/* Called from the thread that runs the solver, after every certificate and, on photos of a megapixel, several times a
 * second between. Return non-zero to stop: the run then ends with ESRA_OK, outcome ESRA_STOPPED and the best layers so
 * far; a negative number where these are not wanted either: a separation then ends sooner, and what its images hold is
 * left open. It must not call the solver. */
typedef int esra_progress(void *user, const esra_info *so_far);

/* A solver keeps its threads and workspace between runs, so that a second run of the same size allocates nothing. */
typedef struct esra_solver esra_solver;

/* Makes a solver in *solver; NULL there when memory is short. The caller frees it. */
ESRA_API esra_status esra_solver_create(esra_solver **solver);

/* Frees *solver and sets it to NULL; a NULL solver is fine. */
ESRA_API void esra_solver_free(esra_solver **solver);

/* Sets (or with NULL removes) the progress callback of later runs. */
ESRA_API void esra_solver_set_progress(esra_solver *solver, esra_progress *progress, void *user);

/* Solves the problem. Everything passed in is only borrowed, and must stay as it is until the call returns. settings
 * NULL means all defaults; info may be NULL. ESRA_OK means that result->layers holds layers with the objective and the
 * bound told in info, whether or not the gap asked for was reached. After fork() a child may go on using a solver; it
 * then runs on one thread, unless it asks for another number of threads than before. */
ESRA_API esra_status esra_solver_run(esra_solver *solver, const esra_problem *problem, const esra_settings *settings,
                                     const esra_result *result, esra_info *info);

/* The reason for the last failure of this solver, one line without newline; "" after success. Valid until the next
 * call with this solver. With NULL: the message for a solver that could not be made. */
ESRA_API const char *esra_solver_message(const esra_solver *solver);

/* ---- Photos ----------------------------------------------------------------------------------------------------- */

/* A map of pixel coordinates, row by row: (u, v) = ((h0 x + h1 y + h2)/d, (h3 x + h4 y + h5)/d), d = h6 x + h7 y + h8.
 * Pixel centres stand at integers. */
typedef struct esra_transform {
    double h[9];
} esra_transform;

/* How freely the layers may move from photo to photo: ROW(value, word). */
#define ESRA_MOTIONS(ROW)                                                                                              \
    ROW(ESRA_MOTION_HOMOGRAPHY, "homography")                                                                          \
    ROW(ESRA_MOTION_AFFINE, "affine")                                                                                  \
    ROW(ESRA_MOTION_TRANSLATION, "translation")                                                                        \
    ROW(ESRA_MOTION_DEPTH, "depth") /* two rigid scenes seen by one moving camera: every pixel has a depth */          \
    ROW(ESRA_MOTION_AUTO, "auto")   /* homography or depth, whichever predicts left-out photos better */

typedef enum esra_motion { ESRA_MOTIONS(ESRA_VALUE_) } esra_motion;

/* Its word; never NULL, static. */
ESRA_API const char *esra_motion_name(esra_motion motion);

/* In which numbers the layers add up: ROW(value, word). The images hold linear light unless it says stored. */
#define ESRA_LIGHTS(ROW)                                                                                               \
    ROW(ESRA_LIGHT_AUTO, "auto")     /* linear; by depth its root, unless linear predicts left-out photos well */      \
    ROW(ESRA_LIGHT_LINEAR, "linear") /* linear light, by depth too */                                                  \
    ROW(ESRA_LIGHT_STORED, "stored") /* the code values that the images hold */

typedef enum esra_light { ESRA_LIGHTS(ESRA_VALUE_) } esra_light;

/* Its word; never NULL, static. */
ESRA_API const char *esra_light_name(esra_light light);

/* How much work the layers are worth: ROW(value, word). */
#define ESRA_EFFORTS(ROW)                                                                                              \
    ROW(ESRA_EFFORT_NORMAL, "normal")                                                                                  \
    ROW(ESRA_EFFORT_DRAFT, "draft") /* photos over .6 megapixels are separated halved, and the layers enlarged; five   \
                                       times the gap */                                                                \
    ROW(ESRA_EFFORT_BEST, "best")   /* depth is tried however well homographies predict; a tenth of the gap */

typedef enum esra_effort { ESRA_EFFORTS(ESRA_VALUE_) } esra_effort;

/* Its word; never NULL, static. */
ESRA_API const char *esra_effort_name(esra_effort effort);

/* Photos of one scene behind glass, of one size, the camera moved a little between them. What is NULL is estimated. */
typedef struct esra_photos {
    size_t struct_size;
    int photos; /* m >= 2 */
    const esra_image
        *images; /* m images of 1 or 3 channels: linear light in [0,1], or code values (ESRA_LIGHT_STORED) */
    const esra_transform *transmitted; /* m: reference px -> px of the photo, by which the scene behind stands still;
                                          nine zeros: the photo does not fit, and is left out */
    const esra_transform *reflected;   /* m: the same for what is reflected; only together with transmitted */
    const double *mixing;              /* m coefficients a_i relative to the reference's own, which is 1 */
    const esra_image *gradients;       /* 2(m+1), as in esra_problem, in the reference frame */
/* The options, their defaults, ranges and meanings stand in photos.def, one line each. */
#define ESRA_COUNT(field, default_, lowest, highest, unit, help) int field;
#define ESRA_TOGGLE(field, default_, help)                       int field;
#define ESRA_CHOICE(field, default_, last, names, help)          int field;
#include <esra/photos.def>
} esra_photos;
#define ESRA_PHOTOS_INIT                                                                                               \
    {                                                                                                                  \
        sizeof(esra_photos), 0, NULL, NULL, NULL, NULL, NULL, 0, ESRA_MOTION_AUTO, ESRA_LIGHT_AUTO, 0,                 \
            ESRA_EFFORT_NORMAL                                                                                         \
    }

/* Fills the first struct_size bytes with the defaults of photos.def, as ESRA_PHOTOS_INIT does. Call
 * esra_photos_default() instead from C. */
ESRA_API void esra_photos_init(esra_photos *photos, size_t struct_size);

static inline void esra_photos_default(esra_photos *photos)
{
    esra_photos_init(photos, sizeof *photos);
}

/* The table of the options, as esra_settings_table(). */
ESRA_API const esra_setting *esra_photos_table(size_t *count);

/* How the layers were told apart: ROW(value, word). */
#define ESRA_METHODS(ROW)                                                                                              \
    ROW(ESRA_METHOD_NONE, "none")     /* not at all: the photo is given back */                                        \
    ROW(ESRA_METHOD_VOTING, "voting") /* gradients that most photos agree on are the scene's */                        \
    ROW(ESRA_METHOD_JOINT, "joint")   /* the motion of both layers was found, and both were solved for together */     \
    ROW(ESRA_METHOD_GIVEN, "given")   /* by the caller's gradients */

typedef enum esra_method { ESRA_METHODS(ESRA_VALUE_) } esra_method;

/* Its word; never NULL, static. */
ESRA_API const char *esra_method_name(esra_method method);

/* What a photographer should know; a set. warnings.def says of each what is the matter and what to do. */
typedef enum esra_warning {
#define ESRA_WARNING(name, bit, id, text, advice) ESRA_WARN_##name = 1 << bit,
#include <esra/warnings.def>
} esra_warning;

/* The same for programs that tell their own users. */
typedef struct esra_warning_row {
    unsigned bit;       /* an esra_warning */
    const char *id;     /* a word for programs: "not-aligned" */
    const char *text;   /* what is the matter, in a sentence */
    const char *advice; /* what to do about it */
} esra_warning_row;

/* Static and constant, in the order in which they are best told; *count is set to the number of rows. */
ESRA_API const esra_warning_row *esra_warning_table(size_t *count);

typedef struct esra_photo_facts {
    int aligned;                /* the scene behind the glass was found in it */
    double explained;           /* share of the reference's gradients that move as the scene does; NaN: not measured */
    double explained_reflected; /* ... as the reflection does; NaN also where that shows only beside the scene */
    double overlap;             /* share of the reference frame that the photo sees */
    double apart_px;            /* how far apart the two layers moved */
} esra_photo_facts;

/* What a separation measured and decided by: named numbers, from which its verdict follows. NaN: not measured. */
typedef struct esra_evidence_row {
    const char *name;    /* "clipped", "flat.trusted", "overlap" */
    const char *meaning; /* in a sentence */
    int of_photo;        /* there is one for each photo */
} esra_evidence_row;

/* Static and constant; *count is set to the number of rows, those of_photo last. */
ESRA_API const esra_evidence_row *esra_evidence_table(size_t *count);

/* Where the answer goes, and how it was found. Every pointer, and the image data, may be NULL: not wanted. Images have
 * the photos' size and channels unless it says otherwise. What is found besides comes to stand at the end. */
typedef struct esra_separation {
    size_t struct_size;
    esra_image transmitted;             /* the scene behind the glass, as the reference photo shows it */
    const esra_image *reflected;        /* m images: what each photo reflects, in its own frame; may be the photos'
                                           own samples, whose place it then takes: the call uses them as it goes,
                                           and leaves them undefined where it fails */
    esra_image confidence;              /* one channel in [0,1], reference frame */
    esra_transform *transmitted_motion; /* m, as in esra_photos; by depth, where no transform is, the median shift */
    esra_transform *reflected_motion;   /* m */
    double *mixing;                     /* m: a_i, relative to the reference photo */
    double *reflection_gain;            /* m: b_i, likewise */
    esra_photo_facts *facts;            /* m */
    esra_info *info;                    /* of the certified solve; set its struct_size, as ESRA_INFO_INIT does */
    esra_method method;
    unsigned warnings;                         /* a set of esra_warning */
    double joint_objective;                    /* of the two-layer model, a pixel; 0 where it was not solved */
    double joint_residual;                     /* root mean square of what it does not explain */
    double align_s, joint_s, solve_s, total_s; /* seconds */
    double joint_trusted; /* mean robust weight of the photos' pixels in the two-layer model: 1 where it explains all */
    esra_motion motion;   /* that was taken: ESRA_MOTION_AUTO is not among them */
    int in_roots;         /* layers were told apart in the root of light */
    double prediction_error; /* of photos left out one at a time and predicted by the layers of the others: mean
                                distance */
    double prediction_base;  /* of colour gradients; and that of the photo most alike in their place. 0: not known */
    double *evidence;        /* a number for each row of esra_evidence_table() that is not of_photo */
    double *photo_evidence;  /* m times a number for each that is */
    double scale; /* of the photos that were separated: 1, or less for a draft, whose layers are these enlarged */
    double exchange_probability; /* that the layers are named the wrong way round; 0 where nothing is known of it */
    double taken_off; /* share of the reflection found that was taken off the scene, and is in `reflected`: 1, or less
                         where the photos do not tell it; 0 where the photo is given back */
} esra_separation;
#define ESRA_SEPARATION_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(esra_separation), {NULL, 0, 0, 0, 0, 0, 0}, NULL, {NULL, 0, 0, 0, 0, 0, 0}, NULL, NULL, NULL, NULL,     \
            NULL, NULL, ESRA_METHOD_NONE, 0, 0, 0, 0, 0, 0, 0, 0, ESRA_MOTION_HOMOGRAPHY, 0, 0, 0, NULL, NULL, 1, 0, 0 \
    }

/* Separates the photos: alignment, mixing coefficients, motion of the reflection, gradients of the layers, and the
 * certified solve of esra_solver_run() with the settings given; NULL means those of esra_settings_for_separation().
 * Borrowed and returned as there. Photos that cannot be separated are no failure: method is then ESRA_METHOD_NONE and
 * transmitted the reference photo. */
ESRA_API esra_status esra_solver_separate(esra_solver *solver, const esra_photos *photos, const esra_settings *settings,
                                          esra_separation *separation);

/* The motions of that without the layers: fills motion, mixing, facts and warnings, and no image. ESRA_MOTION_AUTO
 * means homographies here. */
ESRA_API esra_status esra_solver_align(esra_solver *solver, const esra_photos *photos, const esra_settings *settings,
                                       esra_separation *separation);

/* ---- Planning --------------------------------------------------------------------------------------------------- */

/* What a call will take, told before it takes anything. */
typedef struct esra_plan {
    size_t struct_size;
    double bytes;      /* of memory at most, besides the images passed in and out; within a tenth or so. Of a separation
                          where what photos reflect takes their place (esra_separation): else m-1 photos more */
    const char *stage; /* the part of the work that takes them; static */
    double core_seconds; /* of one core, very roughly */
} esra_plan;
#define ESRA_PLAN_INIT                                                                                                 \
    {                                                                                                                  \
        sizeof(esra_plan), 0, "", 0                                                                                    \
    }

/* esra_solver_separate() of that many photos of width x height with 1 or 3 channels. ESRA_BAD_ARGUMENT where there
 * cannot be such photos, or a setting is out of its range. Photos that do not lie as esra_image_planar() has them are
 * copied, which is not counted. */
ESRA_API esra_status esra_plan_separate(int photos, int width, int height, int channels, const esra_settings *settings,
                                        esra_plan *plan);

/* Likewise esra_solver_run() with as many mixtures, of any number of channels. */
ESRA_API esra_status esra_plan_run(int photos, int width, int height, int channels, const esra_settings *settings,
                                   esra_plan *plan);

/* ---- Measuring -------------------------------------------------------------------------------------------------- */

/* How alike two images are. A fit is a gain and an offset for each channel; an exposure is one gain for all of them,
 * which no colour cast can hide behind. Both are of the values that the images hold, and take the image nearest to the
 * truth by least squares. */
typedef struct esra_comparison {
    size_t struct_size;
    double psnr;     /* in dB for intensities in [0,1]; infinite for equal images */
    double ssim;     /* mean structural similarity over a Gaussian window of 1.5 px; 1 for equal images */
    double ncc;      /* normalised cross-correlation over all channels; 0 where an image is flat */
    double psnr_fit; /* the same after a fit of image to truth */
    double ssim_fit;
    double psnr_exposure; /* the same after one exposure */
    double ssim_exposure;
    double exposure; /* its gain; 0 where the image is black */
} esra_comparison;
#define ESRA_COMPARISON_INIT                                                                                           \
    {                                                                                                                  \
        sizeof(esra_comparison), 0, 0, 0, 0, 0, 0, 0, 0                                                                \
    }

/* Compares image with truth, in the values they hold. Of one size, of equal channels or one of them grey, and of finite
 * samples; otherwise ESRA_BAD_DATA. */
ESRA_API esra_status esra_compare(const esra_image *image, const esra_image *truth, esra_comparison *comparison);

/* ---- Making scenes ---------------------------------------------------------------------------------------------- */

/* Photos through glass whose truth is known, to try things on: photo_i = a_i T(f_i) + b_i R(g_i) in linear light, with
 * handheld motions f_i, g_i of the two layers and gains a_i, b_i, all one for photo 0, the reference. */
typedef struct esra_synth_settings {
    size_t struct_size;
    const esra_image *transmitted_depth; /* one channel in [0,1], of any size, 1 is nearest; NULL: planes aslant and */
    const esra_image *reflected_depth;   /* something near before them. Used with depth only */
    esra_progress
        *progress; /* called several times a second, or NULL; non-zero: what is left is not drawn. Stage "synth" */
    void *user;    /* passed to it */
/* The others, their defaults, ranges and meanings stand in synth.def, one line each. */
#define ESRA_REAL(field, default_, lowest, highest, unit, help)  double field;
#define ESRA_COUNT(field, default_, lowest, highest, unit, help) int field;
#define ESRA_TOGGLE(field, default_, help)                       int field;
#define ESRA_ONE_OF(field, default_, highest, names, help)       int field;
#define ESRA_SEED(field, default_, help)                         unsigned long long field;
#include <esra/synth.def>
} esra_synth_settings;

/* How photo i sees a scene with depth. What the reference has at pixel x with inverse depth q is at c + f (P_0,
 * P_1)/P_2 of the photo: P = rotation (X, 1) + q translation, X = (x - c)/f, c the middle ((width - 1)/2, (height -
 * 1)/2), f = focal_px. */
typedef struct esra_camera {
    double rotation[9]; /* row by row */
    double translation[3];
} esra_camera;

/* Fills the first struct_size bytes with defaults. Call esra_synth_settings_default() instead from C. */
ESRA_API void esra_synth_settings_init(esra_synth_settings *settings, size_t struct_size);

static inline void esra_synth_settings_default(esra_synth_settings *settings)
{
    esra_synth_settings_init(settings, sizeof *settings);
}

/* The table of synth.def, as esra_settings_table(). */
ESRA_API const esra_setting *esra_synth_table(size_t *count);

/* Where the scene goes, all of it the caller's. Every pointer, and the image data, may be NULL: not wanted. Images have
 * the size of the settings and the layers' greater number of channels, and are filled with sRGB code values in [0,1].
 */
typedef struct esra_synth_result {
    size_t struct_size;
    const esra_image *photos;           /* m images */
    esra_image transmitted;             /* transmission T, as the reference sees it, without noise */
    esra_image reflected;               /* reflection R, likewise */
    esra_transform *transmitted_motion; /* m: f_i, reference px -> px of the photo; untouched with depth */
    esra_transform *reflected_motion;   /* m: g_i, likewise */
    double *mixing;                     /* m: a_i */
    double *reflection_gain;            /* m: b_i */
    esra_camera *cameras;               /* m, with depth only */
    esra_image transmitted_inverse;     /* one channel: inverse depth as the reference sees it, with depth only */
    esra_image reflected_inverse;
    double focal_px;   /* of the cameras */
    char message[256]; /* after a failure: why, and what to do; otherwise "" */
} esra_synth_result;
#define ESRA_SYNTH_RESULT_INIT                                                                                         \
    {                                                                                                                  \
        sizeof(esra_synth_result), NULL, {NULL, 0, 0, 0, 0, 0, 0}, {NULL, 0, 0, 0, 0, 0, 0}, NULL, NULL, NULL, NULL,   \
            NULL, {NULL, 0, 0, 0, 0, 0, 0}, {NULL, 0, 0, 0, 0, 0, 0}, 0, ""                                            \
    }

/* Makes a scene of two pictures in linear light, of any sizes and of equal channels or one of them grey: the middle of
 * each, as large as fills all that the photos see. Everything passed in is only borrowed. settings NULL means all
 * defaults. */
ESRA_API esra_status esra_synth(const esra_image *transmitted, const esra_image *reflected,
                                const esra_synth_settings *settings, esra_synth_result *result);

#ifdef __cplusplus
}
#endif

#endif
