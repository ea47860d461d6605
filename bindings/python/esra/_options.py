"""The library's tables: keywords, defaults, ranges and help of every option. A new row of a table needs no line here."""
from __future__ import annotations

import difflib
import inspect
import keyword
import textwrap
from typing import Any, Callable, Mapping, NamedTuple, Optional, TypeVar, Union

import numpy as np

from . import _esra
from ._types import PhotoWarning

Option = Union[float, int, str, bool]
Function = TypeVar("Function", bound=Callable[..., Any])


class Setting(NamedTuple):
    """One option: a row of the library's table."""
    name: str  # the keyword
    type: str  # "real", "count", "toggle", "choice", "one of" or "seed"
    default: Option
    lowest: float
    highest: float
    unit: str
    choices: tuple[str, ...]
    help: str


# "lambda" is a word of Python's own.
_SPELT = {"lambda": "lam"}


def _spell(name: str) -> str:
    return _SPELT.get(name, name + "_" if keyword.iskeyword(name) else name)


def _default(kind: str, value: Any, choices: tuple[str, ...]) -> Option:
    default: Option = choices[value] if kind == "choice" else bool(value) if kind == "toggle" else value
    return default


def _setting(name: str, kind: str, default: Any, lowest: float, highest: float, unit: str, names: Optional[str],
             text: str) -> Setting:
    choices = tuple(names.split("|")) if names else ()
    return Setting(_spell(name), kind, _default(kind, default, choices), lowest, highest, unit, choices, text)


_tables = _esra.tables()
_names = {group: [row[0] for row in _tables[group]] for group in ("solve", "separate", "photos", "synth")}
_rows = {group: {_spell(row[0]): _setting(*row) for row in _tables[group]} for group in _names}

# Which tables a function's keywords are from. A plan's settings are those of the call that it is of.
_GROUPS = {
    "separate": ("photos", "separate"),
    "align": ("photos", "separate"),
    "solve": ("solve", ),
    "synth": ("synth", ),
    "plan": ("separate", ),
}

#: Every warning there is, in the order in which they are told.
WARNINGS: tuple[PhotoWarning, ...] = tuple(PhotoWarning(*row[1:]) for row in _tables["warnings"])
#: What each number of Separation.evidence means.
EVIDENCE: dict[str, str] = {name: meaning for name, meaning, _ in _tables["evidence"]}

evidence_rows = [(name, bool(of_photo)) for name, _, of_photo in _tables["evidence"]]


def warnings_of(bits: int) -> tuple[PhotoWarning, ...]:
    return tuple(PhotoWarning(*row[1:]) for row in _tables["warnings"] if bits & row[0])


def settings(of: str = "separate") -> dict[str, Setting]:
    """Everything that can be set by keyword in separate(), align(), solve(), synth() or plan(): name -> Setting."""
    if of not in _GROUPS:
        raise _esra.Error(f"settings of {of!r}: it must be one of {', '.join(_GROUPS)}")
    return {name: row for group in _GROUPS[of] for name, row in _rows[group].items()}


def _refuse(function: str, name: str) -> TypeError:
    near = difflib.get_close_matches(name, settings(function), 1)
    hint = f"; did you mean '{near[0]}'?" if near else ""
    return TypeError(f"{function}() got an unexpected keyword argument '{name}'{hint}")


def split(function: str, options: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The keywords by the tables of the function, under the library's names."""
    groups: list[dict[str, Any]] = [{} for _ in _GROUPS[function]]
    for name, value in options.items():
        for taken, group in zip(groups, _GROUPS[function]):
            known = next((own for own in _names[group] if name in (own, _spell(own))), None)
            if known in taken:
                raise TypeError(f"{function}() got two values for '{_spell(name)}'")
            if known is not None:
                taken[known] = bool(value) if isinstance(value, np.bool_) else value
                break
        else:
            raise _refuse(function, name)
    return groups


def _range(row: Setting) -> str:
    if row.choices:
        return ", ".join(row.choices)
    if row.type in ("toggle", "seed"):
        return ""
    return f"{row.lowest:.10g} to {row.highest:.10g}{' ' + row.unit if row.unit else ''}"


def _describe(row: Setting) -> str:
    facts = "; ".join(part for part in (_range(row), f"default {row.default!r}") if part)
    return textwrap.fill(f"{row.name}: {row.help} ({facts})", 100, initial_indent="    ", subsequent_indent="        ")


def documented(name: str) -> Callable[[Function], Function]:
    """Adds the options of the tables to a function's help and signature, in place of its ** parameter."""

    def add(function: Function) -> Function:
        rows = settings(name).values()
        text = inspect.cleandoc(function.__doc__ or "")
        function.__doc__ = text + "\n\nOptions, by keyword:\n" + "\n".join(map(_describe, rows)) + "\n"
        signature = inspect.signature(function)
        own = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
        own += [inspect.Parameter(row.name, inspect.Parameter.KEYWORD_ONLY, default=row.default) for row in rows]
        setattr(function, "__signature__", signature.replace(parameters=own))
        return function

    return add
