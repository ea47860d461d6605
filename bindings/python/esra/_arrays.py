"""Between the caller's arrays and the library's float32 samples: copied only where kind, curve or place ask for it."""
from __future__ import annotations

import operator
from typing import Any, Callable, Iterable, Iterator, Optional, Sequence

import numpy as np

from . import _esra
from ._types import Array, Info, Numbers

KINDS = tuple(np.dtype(kind) for kind in (np.uint8, np.uint16, np.float32, np.float64))
FLOATS = KINDS[2:]
# Modes of PIL's images whose numbers are neither grey nor RGB, though they look like it.
OTHER_COLOURS = ("P", "PA", "YCbCr", "LAB", "HSV")
CURVES = ("auto", "srgb", "linear")

Progress = Callable[[Info], object]


def as_array(photo: Any, name: str, kinds: Sequence[np.dtype[Any]] = KINDS) -> Array:
    """An array in this machine's byte order; of something that is one already, itself."""
    if not isinstance(photo, np.ndarray):
        _esra.check(photo, name)
    if getattr(photo, "mode", None) in OTHER_COLOURS:
        raise _esra.Error(f"{name} is an image in {photo.mode}: convert it to grey or RGB, as by .convert('RGB')")
    if isinstance(photo, np.ma.MaskedArray) and np.any(photo.mask):
        raise _esra.Error(f"{name} has masked samples: fill them, as by .filled(0)")
    try:
        array = np.asarray(photo)
    except MemoryError:
        raise
    except Exception as error:
        raise _esra.Error(f"{name} is not an array: {error}") from error
    native = array.dtype.newbyteorder("=")
    if native not in kinds:
        wanted = ", ".join(str(kind) for kind in kinds)
        raise _esra.Error(f"{name} holds {array.dtype}: one of {wanted} is needed")
    return array if array.dtype == native and array.dtype.isnative else array.astype(native)


def as_image(photo: Any, name: str, kinds: Sequence[np.dtype[Any]] = KINDS) -> Array:
    array = as_array(photo, name, kinds)
    if array.ndim not in (2, 3):
        raise _esra.Error(f"{name} has shape {array.shape}: (h, w) or (h, w, channels) is needed")
    return array


def as_images(photos: Any, name: str, kinds: Sequence[np.dtype[Any]] = KINDS) -> list[Array]:
    """Of an array, its parts; of other sequences, what they hold."""
    if isinstance(photos, np.ndarray) and photos.ndim < 3:
        raise _esra.Error(f"{name} have shape {photos.shape}: a sequence of images is needed")
    return [as_image(photo, f"{name}[{n}]", kinds) for n, photo in enumerate(each(photos, name))]


def each(values: Any, name: str) -> Iterator[Any]:
    try:
        return iter(values)
    except TypeError:
        raise TypeError(f"{name} are {values!r:.60}: a sequence of images is needed") from None


def as_photos(photos: Any) -> list[Array]:
    """Several photos, and not by mistake the rows of one."""
    if isinstance(photos, np.ndarray) and photos.ndim == 3 and photos.shape[2] in (1, 3, 4):
        raise _esra.Error(f"photos have shape {photos.shape}, as one photo has: a sequence of photos is needed")
    return as_images(photos, "photos")


def whole(value: Any, otherwise: int) -> int:
    """An integer of any type; of what is none, and the C half will refuse, another."""
    try:
        return operator.index(value)
    except TypeError:
        return otherwise


def room(shape: Sequence[int], dtype: Any = np.float32) -> Array:
    try:
        return np.empty(tuple(shape), dtype)
    except (MemoryError, ValueError):
        raise _esra.OutOfMemory(f"there is no room for an array of shape {tuple(shape)}") from None


def planar_room(shape: Sequence[int]) -> Array:
    """Of shape (h, w) or (h, w, c), one channel after the other, as the library has its own images."""
    return room(shape) if len(shape) == 2 else room((shape[2], shape[0], shape[1])).transpose(1, 2, 0)


def is_coded(dtype: np.dtype[Any], curve: str) -> bool:
    """Whether samples of this kind are code values of sRGB."""
    if curve not in CURVES:
        raise _esra.Error(f"curve is {curve!r}: it must be one of {', '.join(CURVES)}")
    return curve == "srgb" or (curve == "auto" and dtype.kind == "u")


def to_floats(array: Array, srgb: bool = False) -> Array:
    """The array itself where it can be lent, otherwise a float32 copy."""
    if array.dtype == np.float32 and array.flags.aligned and not srgb:
        return array
    copy = planar_room(array.shape)
    _esra.load(array, copy, srgb)
    return copy


def to_list(images: Iterable[Array]) -> list[Array]:
    return [to_floats(image) for image in images]


class Layer:
    """A layer to be filled with floats by the library, which then becomes one of the kind wanted."""

    def __init__(self, shape: Sequence[int], dtype: np.dtype[Any]):
        self.dtype = dtype
        self.floats = room(shape) if dtype == np.float32 else planar_room(shape)

    def finish(self, srgb: bool) -> Array:
        """Of light, where srgb its code values; the floats are used up."""
        if self.dtype == np.float32 and not srgb:
            return self.floats
        layer = self.floats if self.dtype == np.float32 else room(self.floats.shape, self.dtype)
        _esra.save(self.floats, layer, srgb)
        self.floats = layer
        return layer


def as_numbers(values: Any, shape: Sequence[int], name: str) -> Numbers:
    try:
        numbers = np.asarray(values)
    except ValueError:
        raise _esra.Error(f"{name}: numbers of shape {tuple(shape)} are needed") from None
    if numbers.shape != tuple(shape):
        raise _esra.Error(f"{name} have shape {numbers.shape}: {tuple(shape)} is needed")
    if numbers.dtype.kind not in "fiu" and numbers.size > 0:
        raise _esra.Error(f"{name} hold {numbers.dtype}: numbers are needed")
    return np.ascontiguousarray(numbers, np.float64)


def as_gradients(gradients: Any, layers: int, name: str = "gradients") -> list[Array]:
    """The 2(m+1) images of an array (m+1, 2, h, w[, c]), or of as many pairs."""
    pairs = [list(each(pair, f"{name}[{n}]")) for n, pair in enumerate(each(gradients, name))]
    if len(pairs) != layers or any(len(pair) != 2 for pair in pairs):
        raise _esra.Error(f"{name}: {layers} pairs are needed, the vertical and the horizontal of each layer")
    return to_list(as_image(image, f"{name}[{n}]", FLOATS) for n, pair in enumerate(pairs) for image in pair)


def telling(progress: Optional[Progress]) -> Optional[Callable[[dict[str, Any]], object]]:
    """The caller's function as the C half calls it."""
    if progress is None:
        return None
    if not callable(progress):
        raise TypeError(f"progress is {progress!r}: a function of an esra.Info is needed")
    told = progress
    return lambda info: told(Info(**info))
