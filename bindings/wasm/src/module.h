/* bindings/wasm/src/module.h - the WebAssembly module: what JavaScript calls. One job at a time, that of 'esra
 * separate'; photos are files of the module's own small file system. Functions answer with JSON, or with bytes of a
 * file; where something fails that is {"error": "..."} in the library's own words. What they return is the module's,
 * and lasts until the next call. */
#ifndef ESRA_WASM_MODULE_H
#define ESRA_WASM_MODULE_H

#include <emscripten.h>
#include <stdbool.h>

#include "separate.h"

#define EXPORTED EMSCRIPTEN_KEEPALIVE

/* ---- options.c: the library's tables ---- */

/* The library's tables, for a page that offers them: version, options of a separation, settings, warnings, formats. */
EXPORTED const char *module_tables(void);

/* ---- photos.c: photos one at a time ---- */

/* Decodes the photo whole, so that damage is found, and says what it is; the bytes are a JPEG of it, no side longer
 * than side_px. */
EXPORTED const char *module_look(const char *path, int side_px);

/* The photo at another path, as small as that, in 16 bits, with its profile and EXIF. */
EXPORTED const char *module_shrink(const char *path, const char *to, int width, int height);

/* What separating so many photos takes at most in this module's memory, the layers included, and of one core's time on
 * a usual processor. */
EXPORTED const char *module_plan(int photos, int width, int height, int channels, int threads);

/* ---- separate.c: the job ---- */

/* Ends the job. */
EXPORTED void module_close(void);

/* Reads the photos, a JSON list of paths, for options by the names of the library's tables; `reference` counts from 1
 * and is the middle one where it is not said. */
EXPORTED const char *module_open(const char *paths, const char *options);

/* Separates them; JavaScript's Module.onProgress() hears of it. */
EXPORTED const char *module_separate(void);

/* What a finished job holds, in pieces that another module can take over: how many, where each stands, its bytes. */
EXPORTED int module_pieces(void);
EXPORTED void *module_piece(int number);
EXPORTED size_t module_piece_size(int number);

/* Takes the separation's numbers over from another module, whose pointers mean nothing here. */
EXPORTED void module_carry(const esra_separation *from);

/* ---- pictures.c: its files ---- */

/* The bytes are the file: `which` of the pictures, of photo i (from 0) where there is one of each; depth 0 is the
 * photo's own. */
EXPORTED const char *module_picture(int which, int i, double strength, int exchanged, const char *format, int depth,
                                    int quality);

/* The bytes are result.json, or report.html, beside pictures of that format. */
EXPORTED const char *module_result(double strength, int exchanged, const char *format);
EXPORTED const char *module_report(double strength, int exchanged, const char *format);

/* ---- answer.c: the file that the last call has made ---- */

EXPORTED const void *module_bytes(void);
EXPORTED size_t module_size(void);

/* ---- Within the module ---- */

/* The job that is open; zeroed where none is. */
extern struct job module_job;

/* The object as text, and the object gone. */
const char *answer_json(json_t *object);

/* {"error": message}. */
const char *answer_error(const struct message *message);

/* Either of them. */
const char *answer(esra_status status, json_t *object, const struct message *message);

/* Keeps the bytes for module_bytes() and module_size(), and takes them over. */
const char *answer_bytes(struct bytes bytes);

/* Sets the options of the job that the JSON object names, by the library's tables. */
esra_status options_take(struct job *job, const char *text);

#endif
