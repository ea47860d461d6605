"""synth(): scenes whose truth is known."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np

from . import _esra
from ._arrays import Layer, Progress, as_image, is_coded, room, telling, to_floats, whole
from ._options import Option, documented, settings, split
from ._types import Array, Motion, Scene


def _depths(transmitted: Any, reflected: Any) -> dict[str, Any]:
    named = {"transmitted_depth": transmitted, "reflected_depth": reflected}
    return {name: to_floats(as_image(depth, name)) for name, depth in named.items() if depth is not None}


def _finish(layer: Layer, coded: bool) -> Array:
    """The library fills in code values of sRGB."""
    if not coded:
        _esra.load(layer.floats, layer.floats, True)
    return layer.finish(False)


def _size(options: dict[str, Any], name: str) -> int:
    """What is out of range the library refuses in its own words, and no array is made for it."""
    row = settings("synth")[name]
    value, least = whole(options.get(name, row.default), 0), int(row.lowest)
    return value if least <= value <= row.highest else least


def _shape(wishes: dict[str, Any], pictures: list[Array]) -> tuple[int, ...]:
    channels = max(picture.shape[2] if picture.ndim == 3 else 1 for picture in pictures)
    return (_size(wishes, "height"), _size(wishes, "width")) + ((channels, ) if channels != 1 else ())


def _number_room(count: int, size: tuple[int, ...], deep: bool) -> dict[str, Any]:
    """For all that the library tells besides pictures: motions of flat layers, or cameras and depths."""
    numbers = {"mixing": np.zeros(count), "reflection_gain": np.zeros(count)}
    of_flat = ("transmitted_motion", "reflected_motion")
    of_deep = ("transmitted_inverse", "reflected_inverse")
    numbers.update((name, room(size)) for name in of_deep if deep)
    numbers.update((name, np.zeros((count, 3, 3))) for name in of_flat if not deep)
    return {**numbers, "cameras": np.zeros((count, 12))} if deep else numbers


def _truth(numbers: dict[str, Any]) -> dict[str, Any]:
    cameras = numbers.pop("cameras", None)
    motion = None
    if cameras is None:
        motion = Motion(numbers.pop("transmitted_motion"), numbers.pop("reflected_motion"), "homography")
    rotations = None if cameras is None else cameras[:, :9].reshape(-1, 3, 3).copy()
    translations = None if cameras is None else cameras[:, 9:].copy()
    inverses = {name: numbers.pop(name, None) for name in ("transmitted_inverse", "reflected_inverse")}
    return {**numbers, **inverses, "motion": motion, "rotations": rotations, "translations": translations}


@documented("synth")
def synth(transmitted: Any, reflected: Any, *, transmitted_depth: Any = None, reflected_depth: Any = None, curve: str = "auto",
          progress: Optional[Progress] = None, **options: Option) -> Scene:
    """Photos through glass whose truth is known, of two pictures: the middle of each, as large as fills all that the
    photos see. Photos and truth come back in the kind and range of `transmitted`.

    transmitted, reflected: arrays of any size as separate() takes photos: integers are code values of sRGB, floats linear
        light, unless curve is "srgb" or "linear".
    transmitted_depth, reflected_depth: (h, w), 1 (of integers the greatest) is nearest; they imply depth=True.
    progress: is called with an Info now and then; returns true to stop."""
    wishes, = split("synth", options)
    pictures = [as_image(transmitted, "transmitted"), as_image(reflected, "reflected")]
    coded = [is_coded(picture.dtype, curve) for picture in pictures]
    depths = _depths(transmitted_depth, reflected_depth)
    if depths:
        wishes["depth"] = True
    count, shape = _size(wishes, "photos"), _shape(wishes, pictures)
    numbers = _number_room(count, shape[:2], bool(wishes.get("depth")))
    layers = [Layer(shape, pictures[0].dtype) for _ in range(count + 2)]
    floats = [layer.floats for layer in layers]
    room_for = {**numbers, "transmitted": floats[0], "reflected": floats[1], "photos": floats[2:]}
    t, r = (to_floats(picture, code) for picture, code in zip(pictures, coded))
    focal_px = _esra.synth(t, r, depths, wishes, room_for, telling(progress))
    scene = [_finish(layer, coded[0]) for layer in layers]
    return Scene(transmitted=scene[0], reflected=scene[1], photos=tuple(scene[2:]), focal_px=focal_px, **_truth(numbers))
