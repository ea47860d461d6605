/* tools/esra/warnings.h - what a photographer should know, in plain words, and what to do about it: one table for
 * standard error, result.json and the report. */
#ifndef ESRA_TOOL_WARNINGS_H
#define ESRA_TOOL_WARNINGS_H

#include <esra/esra.h>

/* ROW(flag, word for programs, what is the matter, what to do) */
#define WARNING_TABLE(ROW)                                                                                             \
    ROW(ESRA_WARN_BLANK, "blank", "A photo has nothing in it to go by: it is of one even tone, or only a few pixels wide.", \
        "Take it again with light on the scene, and give it at its full size.")                                        \
    ROW(ESRA_WARN_NOT_ALIGNED, "not-aligned", "A photo does not show the same scene as the reference.", \
        "Take the photos from nearly the same place, or repair the alignment by hand with 'esra align' and --transforms.") \
    ROW(ESRA_WARN_SAME_PHOTO, "same-photo", "Two of the photos are the same picture; the second adds nothing.",           \
        "Move the camera a little between shots.")                                                                     \
    ROW(ESRA_WARN_ONE_MOTION, "one-motion", "Nothing was found to move differently from the rest, by which layers could be told apart.", \
        "Move the camera sideways by a hand's breadth between shots; turning it on the spot is not enough.")           \
    ROW(ESRA_WARN_LITTLE_MOTION, "little-motion", "Scene and reflection hardly move against each other.",               \
        "Move the camera further between shots.")                                                                      \
    ROW(ESRA_WARN_LITTLE_OVERLAP, "little-overlap", "A photo shows less than half of what the reference shows.",        \
        "Keep the same scene in view in every shot.")                                                                  \
    ROW(ESRA_WARN_CLIPPED, "clipped", "Parts of the reference photo are overexposed; what they hid cannot be recovered.", \
        "Expose for the brightest reflection.")                                                                        \
    ROW(ESRA_WARN_EXPOSURE, "exposure", "The photos differ in exposure by more than a fifth.",                          \
        "Lock the exposure before the first shot.")                                                                    \
    ROW(ESRA_WARN_POOR_FIT, "poor-fit", "The layers found do not explain the photos well: expect traces of one in the other.", \
        "More photos help, and so does a scene without strong depth or moving people.")                                \
    ROW(ESRA_WARN_TWO_PHOTOS, "two-photos", "Two photos are the least there can be: what they leave open is not checked.", \
        "Three photos are better, five are good.")                                                                     \
    ROW(ESRA_WARN_ZOOM, "zoom", "A photo shows the scene larger or smaller than the reference does.",                   \
        "Keep the zoom as it is and move sideways, not nearer.")                                                       \
    ROW(ESRA_WARN_FOCUS, "focus", "A photo is less sharp than another: refocused, or shaken.",                          \
        "Lock the focus before the first shot, and leave out photos that are shaken.")                                 \
    ROW(ESRA_WARN_OPAQUE, "opaque", "Something before the scene hides parts of it, as a fence or dirt does; a reflection only adds light.", \
        "Take photos without it in view: what it hides cannot be told apart as a layer.")                              \
    ROW(ESRA_WARN_MOVING, "moving", "Something in the scene moves by itself, such as people: expect traces of it.",        \
        "Wait until nothing moves, or leave out the photos that show it.")                                             \
    ROW(ESRA_WARN_EXCHANGED, "exchanged", "The layers may be exchanged: what is called reflected is the sharper of the two.", \
        "Look at the reflected pictures; if they show the scene, try --swap.")                                         \
    ROW(ESRA_WARN_LENS, "lens", "The lens bends straight lines, as fisheyes do: the photos fit each other the less for it.", \
        "Correct the photos' distortion first (darktable and other converters do), or zoom in and step back.")

#endif
