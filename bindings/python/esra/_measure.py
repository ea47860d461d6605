"""compare() and plan(): numbers about images, and about what work on them takes."""
from __future__ import annotations

import operator
from typing import Any, Optional

from . import _esra
from ._arrays import as_image, as_photos, to_floats
from ._options import Option, documented, split
from ._types import Comparison, Plan

_INT_MOST = 2**31 - 1


def compare(image: Any, truth: Any) -> Comparison:
    """How alike two images of one size are, in the values that they hold: PSNR, SSIM and NCC, plain, after one exposure, and
    after a fit of gain and offset. Integers count from 0 to 1 at full scale, and no curve is undone; grey stands for equal
    channels."""
    return Comparison(**_esra.compare(to_floats(as_image(image, "image")), to_floats(as_image(truth, "truth"))))


def _shape(photos: Any, shape: Optional[tuple[int, ...]]) -> tuple[int, tuple[int, ...]]:
    """Of so many photos of this shape, or of the photos themselves."""
    if shape is None:
        images = as_photos(photos)
        return len(images), images[0].shape if images else (0, 0)
    return operator.index(photos), tuple(map(operator.index, shape))


@documented("plan")
def plan(photos: Any, shape: Optional[tuple[int, ...]] = None, *, solve: bool = False, **options: Option) -> Plan:
    """What separate() will take, or with solve=True solve(): plan(photos), or plan(5, (3000, 4000, 3))."""
    settings, = split("plan", options)
    count, size = _shape(photos, shape)
    if len(size) not in (2, 3):
        raise _esra.Error(f"photos have shape {size}: (h, w) or (h, w, channels) is needed")
    channels = size[2] if len(size) == 3 else 1
    if any(abs(number) > _INT_MOST for number in (count, *size)):
        raise _esra.Error(f"{count} photos of shape {size} cannot be held by any machine")
    return Plan(**_esra.plan(not solve, count, size[1], size[0], channels, settings))
