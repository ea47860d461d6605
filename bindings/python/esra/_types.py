"""What the functions return. All of it can be pickled, and tells the gap and the warnings when printed."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Info:
    """How a solve went, or goes: F of the layers, the proven lower bound of the least F, and the gap between them."""
    outcome: str  # "optimal", "inaccurate" or "stopped"
    objective: float
    bound: float
    gap: float
    iterations: int
    inner_iterations: int
    threads: int
    seconds: float
    stage: str  # "align", "separate", "solve", "return" or "synth"
    certificate_seconds: float
    remaining_seconds: float  # told to progress: about how long a separation goes on; 0: not known


class PhotoWarning(NamedTuple):
    """What a photographer should know."""
    id: str
    text: str
    advice: str

    def __str__(self) -> str:
        return f"{self.text} {self.advice}"


class Facts(NamedTuple):
    """Of one photo; NaN: not measured."""
    aligned: bool  # the scene behind the glass was found in it
    explained: float  # share of the reference's gradients that move as the scene does
    explained_reflected: float  # ... as the reflection does
    overlap: float  # share of the reference frame that the photo sees
    apart_px: float  # how far apart the two layers moved


class Motion(NamedTuple):
    """Of both layers, (m, 3, 3) each: pixel (x, y, 1) of the reference -> pixel of the photo. By depth, the median shift."""
    transmitted: Numbers  # nine zeros: the scene was not found in that photo
    reflected: Optional[Numbers]  # None: not found
    kind: str  # "homography", "affine", "translation" or "depth"


def _ids(warnings: tuple[PhotoWarning, ...]) -> str:
    return "; warnings: " + ", ".join(warning.id for warning in warnings) if warnings else ""


@dataclass(frozen=True, eq=False, repr=False)
class Alignment:
    """What align() finds."""
    motion: Motion
    mixing: Numbers  # (m,): how brightly each photo shows the scene, relative to the reference
    reflection_gain: Numbers  # (m,): the same of the reflection
    facts: tuple[Facts, ...]
    warnings: tuple[PhotoWarning, ...]
    reference: int

    def __repr__(self) -> str:
        aligned = sum(facts.aligned for facts in self.facts)
        return f"<esra.Alignment: {aligned} of {len(self.facts)} photos aligned by {self.motion.kind}{_ids(self.warnings)}>"


@dataclass(frozen=True, eq=False, repr=False)
class Separation(Alignment):
    """What separate() finds. Layers have the kind and range of the photos."""
    transmitted: Array  # the scene behind the glass, as the reference shows it
    reflected: tuple[Array, ...]  # what each photo reflects, in its own frame
    confidence: npt.NDArray[np.float32]  # (h, w) in [0, 1]
    method: str  # "joint", "voting", "given"; "none": the photos could not be separated, and transmitted is the reference
    info: Info  # of the certified solve
    evidence: dict[str, Any]  # what was measured: a number, or one for each photo; esra.EVIDENCE has the meanings
    joint_objective: float
    joint_residual: float
    joint_trusted: float
    in_roots: bool  # layers were told apart in the root of light
    prediction_error: float
    prediction_base: float
    scale: float  # of the photos that were separated: less than 1 for a draft, whose layers are enlarged
    exchange_probability: float  # that the layers are named the wrong way round
    taken_off: float  # share of the reflection found that was taken off the scene: less than 1 where the photos do not tell it
    align_s: float
    joint_s: float
    solve_s: float
    total_s: float

    def __repr__(self) -> str:
        height, width = self.confidence.shape
        proof = f"{self.method}, {self.motion.kind}, gap {self.info.gap:.3g} ({self.info.outcome})"
        return (f"<esra.Separation of {len(self.reflected)} photos {height} x {width}: "
                f"{'not separated' if self.method == 'none' else proof}{_ids(self.warnings)}>")


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """What solve() finds: the layers, and the field u that proves the bound of their objective."""
    layers: Array  # (m + 1, h, w[, c]): the scene, then what each photo reflects
    duals: Array  # (m + 1, 2, h, w[, c])
    info: Info

    def __repr__(self) -> str:
        return (f"<esra.Solution {self.layers.shape}: objective {self.info.objective:.6g}, gap {self.info.gap:.3g} "
                f"({self.info.outcome})>")


@dataclass(frozen=True, eq=False, repr=False)
class Scene:
    """What synth() makes. Photos and truth have the kind and range of the picture behind the glass."""
    photos: tuple[Array, ...]  # photos[0] is the reference
    transmitted: Array
    reflected: Array
    motion: Optional[Motion]  # None with depth
    mixing: Numbers
    reflection_gain: Numbers
    rotations: Optional[Numbers]  # (m, 3, 3), with depth only, as the next four
    translations: Optional[Numbers]  # (m, 3)
    transmitted_inverse: Optional[Array]  # inverse depth as the reference sees it
    reflected_inverse: Optional[Array]
    focal_px: float

    def __repr__(self) -> str:
        height, width = self.transmitted.shape[:2]
        return f"<esra.Scene of {len(self.photos)} photos {height} x {width}{', with depth' if self.motion is None else ''}>"


@dataclass(frozen=True)
class Comparison:
    """How alike two images are: plain, after a gain and an offset a channel (fit), after one gain for all (exposure)."""
    psnr: float
    ssim: float
    ncc: float
    psnr_fit: float
    ssim_fit: float
    psnr_exposure: float
    ssim_exposure: float
    exposure: float


@dataclass(frozen=True)
class Plan:
    """What a call will take: bytes of memory besides the arrays, and seconds of one core, very roughly."""
    bytes: float
    stage: str
    core_seconds: float
