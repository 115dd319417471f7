"""How each state of a task looks: colours in a light and a dark picture, outline, mark."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Colours:
    """The fill and the line of a box, as #rrggbb."""

    fill: str
    line: str


@dataclass(frozen=True)
class StateLook:
    """One state: it differs from the others by colour and by mark."""

    name: str
    light: Colours
    dark: Colours
    mark: str
    """Path of a mark in a square of 12 pixels."""
    is_dashed: bool = False


_LOOKS: Final = (
    StateLook(
        "failed",
        Colours("#ffebe9", "#cf222e"),
        Colours("#2d1214", "#ff7b72"),
        "M2.5 2.5 9.5 9.5M9.5 2.5 2.5 9.5",
    ),
    StateLook(
        "escalated",
        Colours("#fff1e5", "#bc4c00"),
        Colours("#2b1a0e", "#ffa657"),
        "M6 10.5V2M2.5 5.5 6 2 9.5 5.5",
    ),
    StateLook(
        "asking",
        Colours("#fbefff", "#8250df"),
        Colours("#21162f", "#d2a8ff"),
        "M3.5 4a2.5 2.5 0 1 1 3.5 2.3c-.8.4-1 .8-1 1.6M6 10v.6",
    ),
    StateLook(
        "working",
        Colours("#ddf4ff", "#0969da"),
        Colours("#0c2135", "#58a6ff"),
        "M3.5 2 10 6 3.5 10Z",
    ),
    StateLook(
        "skipped",
        Colours("#fff8c5", "#7d4e00"),
        Colours("#272008", "#d29922"),
        "M2 2.5 6 6 2 9.5M6 2.5 10 6 6 9.5",
        is_dashed=True,
    ),
    StateLook(
        "waiting",
        Colours("#f6f8fa", "#59636e"),
        Colours("#161b22", "#9198a1"),
        "M2 6h.6M5.7 6h.6M9.4 6h.6",
        is_dashed=True,
    ),
    StateLook(
        "done",
        Colours("#e6f4ea", "#1a7f37"),
        Colours("#10261a", "#3fb950"),
        "M2 6.5 5 9.5 10.5 3",
    ),
)
LOOKS: Final = {look.name: look for look in _LOOKS}
"""By name; what needs attention most comes first."""
_NAMES: Final = {"cut off": "failed", "waiting for your answer": "asking", "ready": "waiting"}


def find_look(state: str) -> StateLook:
    """Return the look of a state's label; that of `waiting` for an unknown one."""
    return LOOKS.get(_NAMES.get(state, state), LOOKS["waiting"])
