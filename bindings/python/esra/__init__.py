"""Looks through glass: a few photos in, the scene behind the glass and what it reflects out.

    import esra
    result = esra.separate([photo1, photo2, photo3])
    result.transmitted, result.reflected[0], result.confidence, result.warnings

separate() takes photos, align() finds their motions alone, solve() is the paper's problem with its certificate; synth()
makes scenes whose truth is known, compare() measures, plan() tells the memory before it is taken, and settings() lists
all that can be set. help() of each has its options, from the library's own tables.
"""
from ._esra import Error, OutOfMemory
from ._esra import version as __version__
from ._measure import compare, plan
from ._options import EVIDENCE, WARNINGS, Setting, settings
from ._separate import align, separate
from ._solve import solve
from ._synth import synth
from ._types import (Alignment, Comparison, Facts, Info, Motion, PhotoWarning, Plan, Scene, Separation, Solution)

__all__ = [
    "Alignment", "Comparison", "Error", "EVIDENCE", "Facts", "Info", "Motion", "OutOfMemory", "PhotoWarning", "Plan", "Scene",
    "Separation", "Setting", "Solution", "WARNINGS", "__version__", "align", "compare", "plan", "separate", "settings",
    "solve", "synth"
]
