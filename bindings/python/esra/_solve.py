"""solve(): the paper's problem."""
from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from . import _esra
from ._arrays import FLOATS, Progress, as_gradients, as_images, as_numbers, room, telling, to_list
from ._options import Option, documented, split
from ._types import Array, Info, Solution


def _start(start: Any, layers: int) -> dict[str, Any]:
    if start is None:
        return {}
    before = (start.layers, start.duals) if isinstance(start, Solution) else tuple(start)
    if len(before) != 2:
        raise _esra.Error("start: layers and duals are needed, as a Solution has them")
    return {
        "start_layers": to_list(as_images(before[0], "start layers", FLOATS)),
        "start_duals": as_gradients(before[1], layers, "start duals")
    }


@documented("solve")
def solve(mixtures: Any, gradients: Any, mixing: Any, *, weights: Any = None,
          start: Union[Solution, tuple[Array, Array], None] = None, progress: Optional[Progress] = None,
          **options: Option) -> Solution:
    """Layers of photos that are already aligned, from given gradients: the minimiser of

        F(L) = 1/2 sum_i sum_x w_i (I_i - a_i L_0 - L_i)^2  +  lam sum_l sum_x |D L_l - E_l|      over 0 <= L <= 1

    with D the forward differences; and the field u that proves a lower bound of the least F.

    mixtures: I, (m, h, w[, c]), or a sequence of m arrays (h, w[, c]); float32 or float64, computed in float32.
    gradients: E, (m + 1, 2, h, w[, c]): of each layer L[y+1] - L[y], its last row ignored, and L[x+1] - L[x], its last
        column ignored.
    mixing: a, m numbers from 0 to 1000.
    weights: w, (m, h, w) in 0..1; None: all are 1.
    start: a Solution, or its layers and duals, of a problem much like this one. The fast engine goes on from there.
    progress: is called with an Info now and then; returns true to stop with the best layers so far."""
    settings, = split("solve", options)
    images = as_images(mixtures, "mixtures", FLOATS)
    count, kind = len(images), np.dtype(np.float64 if any(i.dtype == np.float64 for i in images) else np.float32)
    given = {"mixing": as_numbers(mixing, (count, ), "mixing"), "gradients": as_gradients(gradients, count + 1)}
    if weights is not None:
        given["weights"] = to_list(as_images(weights, "weights", FLOATS))
    given.update(_start(start, count + 1))
    shape = images[0].shape if images else (0, 0)
    layers, duals = room((count + 1, ) + shape), room((count + 1, 2) + shape)
    duals.fill(0)
    filled = {"layers": list(layers), "duals": [part for pair in duals for part in pair]}
    info = _esra.solve(to_list(images), given, settings, filled, telling(progress))
    return Solution(layers.astype(kind, copy=False), duals.astype(kind, copy=False), Info(**info))
