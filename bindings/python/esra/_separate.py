"""separate() and align(): from photos to layers, or to their motions alone."""
from __future__ import annotations

from numbers import Real
from typing import Any, Optional

import numpy as np

from . import _esra
from ._arrays import (Layer, Progress, as_gradients, as_numbers, as_photos, is_coded, room, telling, to_floats, whole)
from ._options import Option, documented, evidence_rows, split, warnings_of
from ._types import Alignment, Array, Facts, Info, Motion, Separation


class _Photos:
    """The photos as the library takes them: float32, in linear light unless it is told not to care."""

    def __init__(self, photos: Any, curve: str, options: dict[str, Any]):
        arrays = as_photos(photos)
        stored = options.get("light") == "stored"
        self.kinds = [array.dtype for array in arrays]
        self.coded = [is_coded(array.dtype, curve) and not stored for array in arrays]
        self.images = _widened([to_floats(array, coded) for array, coded in zip(arrays, self.coded)])
        reference = whole(options.get("reference", 0), 0)
        self.reference = reference if 0 <= reference < len(arrays) else 0  # the library refuses any other


def _widened(images: list[Array]) -> list[Array]:
    """A grey photo among colour ones counts as three equal channels."""
    if not any(image.shape[2:] == (3, ) for image in images):
        return images
    grey = [image.shape[2:] in ((), (1, )) for image in images]
    return [np.broadcast_to(image.reshape(image.shape[:2] + (1, )), image.shape[:2] + (3, )) if is_grey else image
            for image, is_grey in zip(images, grey)]


def _transforms(transforms: Any, count: int) -> dict[str, Any]:
    """Of align()'s answer, a Motion, an array (m, 3, 3) of the scene's transforms, or a tuple of two such arrays."""
    if transforms is None:
        return {}
    if isinstance(transforms, Alignment):
        transforms = transforms.motion
    if isinstance(transforms, Motion):
        transforms = transforms.transmitted if transforms.reflected is None else transforms[:2]
    shape = (count, 3, 3)
    if isinstance(transforms, tuple) or getattr(transforms, "ndim", 3) == 4:
        transmitted, reflected = as_numbers(transforms, (2, ) + shape, "transforms")
        return {"transmitted": transmitted, "reflected": reflected}
    return {"transmitted": as_numbers(transforms, shape, "transforms")}


def _given(count: int, transforms: Any, mixing: Any, gradients: Any) -> dict[str, Any]:
    given = _transforms(transforms, count)
    if mixing is not None:
        given["mixing"] = as_numbers(mixing, (count, ), "mixing")
    if gradients is not None:
        given["gradients"] = as_gradients(gradients, count + 1)
    return given


def _number_room(count: int) -> dict[str, Any]:
    """What both calls fill besides images."""
    return {
        "transmitted_motion": np.zeros((count, 3, 3)),
        "reflected_motion": np.zeros((count, 3, 3)),
        "mixing": np.zeros(count),
        "reflection_gain": np.zeros(count),
    }


def _evidence_room(count: int) -> dict[str, Any]:
    of_photo = sum(is_of_photo for _, is_of_photo in evidence_rows)
    return {"evidence": np.zeros(len(evidence_rows) - of_photo), "photo_evidence": np.zeros((count, of_photo))}


def _evidence(numbers: dict[str, Any]) -> dict[str, Any]:
    """Names and numbers; rows of a photo stand last in the table."""
    of_all, of_each = numbers["evidence"], numbers["photo_evidence"]
    named = {name: float(number) for (name, _), number in zip(evidence_rows, of_all)}
    named.update((name, of_each[:, n].copy()) for n, (name, _) in enumerate(evidence_rows[len(of_all):]))
    return named


def _motion(found: dict[str, Any], numbers: dict[str, Any], reference: int) -> Motion:
    """As separate() takes it again: zeros for photos that do not fit, nothing where the reflection was not found."""
    transmitted, reflected = numbers["transmitted_motion"], numbers["reflected_motion"]
    for photo, facts in enumerate(found["facts"]):
        if photo != reference and not facts["aligned"]:
            transmitted[photo] = 0
    return Motion(transmitted, reflected if found["method"] == "joint" else None, found["motion"])


def _alignment(found: dict[str, Any], numbers: dict[str, Any], reference: int) -> dict[str, Any]:
    facts = tuple(Facts(**{**one, "aligned": bool(one["aligned"])}) for one in found["facts"])
    return {
        "motion": _motion(found, numbers, reference),
        "mixing": numbers["mixing"],
        "reflection_gain": numbers["reflection_gain"],
        "facts": facts,
        "warnings": warnings_of(found["warnings"]),
        "reference": reference,
    }


def _check_strength(strength: Any) -> None:
    if not isinstance(strength, Real):
        raise TypeError(f"strength is {strength!r:.60}: a number is needed")
    if not 0 <= float(strength) <= 1:
        raise _esra.Error(f"strength is {strength!r}: it must lie in [0, 1]")


_PASSED_ON = ("method", "joint_objective", "joint_residual", "joint_trusted", "prediction_error", "prediction_base", "scale",
              "exchange_probability", "taken_off",
              "align_s", "joint_s", "solve_s", "total_s")


@documented("separate")
def separate(photos: Any, *, transforms: Any = None, mixing: Any = None, gradients: Any = None, strength: float = 1,
             curve: str = "auto", progress: Optional[Progress] = None, **options: Option) -> Separation:
    """Separates photos of one scene through glass, the camera moved a little between them, into its two layers.

    photos: two or more arrays (h, w) or (h, w, 3) of one size: NumPy arrays, PIL images, anything with the buffer
        protocol. uint8, uint16, float32 or float64, with any strides; the layers come back in the same kind and range.
        Integers are taken for code values of sRGB, floats for linear light in 0..1.
    curve: "srgb" or "linear" says otherwise for all of them; light="stored" takes the values as they are.
    transforms: what align() returned, a Motion, an array (m, 3, 3) for the scene, or a tuple of two such arrays for both
        layers, instead of estimating them. A photo whose nine numbers are zero is left out.
    mixing: m numbers, how brightly each photo shows the scene relative to the reference's 1.
    gradients: (m + 1, 2, h, w[, 3]) in the reference's frame, as for solve().
    strength: how much of the reflection to remove, 0 to 1.
    progress: is called with an Info now and then; returns true to stop with the best layers so far.

    Photos that cannot be separated come back: method is then "none", and the warnings say why. Ctrl-C raises
    KeyboardInterrupt; the GIL is free meanwhile, and several threads may separate at once."""
    wishes, settings = split("separate", options)
    taken = _Photos(photos, curve, wishes)
    count = len(taken.images)
    _check_strength(strength)
    given = _given(count, transforms, mixing, gradients)
    numbers = {**_number_room(count), **_evidence_room(count)}
    shape = taken.images[0].shape if taken.images else (0, 0)
    reference = taken.reference
    layers = [Layer(shape, kind) for kind in taken.kinds]
    scene = Layer(shape, taken.kinds[reference] if taken.kinds else np.dtype(np.float32))
    confidence = room(shape[:2])
    found = _esra.separate(taken.images, given, wishes, settings, {
        **numbers, "transmitted": scene.floats, "reflected": [layer.floats for layer in layers], "confidence": confidence
    }, telling(progress))
    _esra.mix(taken.images[reference], scene.floats, strength)
    taken.images.clear()  # copies, mostly, which need not stand beside the finished layers
    return Separation(**_alignment(found, numbers, reference), **{name: found[name] for name in _PASSED_ON},
                      transmitted=scene.finish(taken.coded[reference]),
                      reflected=tuple(layer.finish(coded) for layer, coded in zip(layers, taken.coded)),
                      confidence=confidence, info=Info(**found["info"]), evidence=_evidence(numbers),
                      in_roots=bool(found["in_roots"]))


@documented("align")
def align(photos: Any, *, curve: str = "auto", progress: Optional[Progress] = None, **options: Option) -> Alignment:
    """The motions of both layers, and the photos' mixing coefficients, without the layers; photos and curve as in
    separate(), whose transforms= takes the answer. motion="auto" means homographies here."""
    wishes, settings = split("align", options)
    taken = _Photos(photos, curve, wishes)
    numbers = _number_room(len(taken.images))
    found = _esra.align(taken.images, {}, wishes, settings, numbers, telling(progress))
    return Alignment(**_alignment(found, numbers, taken.reference))
