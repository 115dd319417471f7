"""How each state of a task looks: colours in a light and a dark picture, outline, mark."""

from dataclasses import dataclass
from typing import Final

from graph.display.progress import COULD_NOT


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
        Colours("#fdeae8", "#b3261e"),
        Colours("#3d1b19", "#ff9d94"),
        "M2.5 2.5 9.5 9.5M9.5 2.5 2.5 9.5",
    ),
    StateLook(
        "escalated",
        Colours("#fdf0dc", "#8a4b00"),
        Colours("#38270f", "#f3bd72"),
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
        Colours("#e4eefc", "#1556b8"),
        Colours("#1b2f4d", "#8ab8ff"),
        "M3.5 2 10 6 3.5 10Z",
    ),
    StateLook(
        "skipped",
        Colours("#eceef1", "#5b6472"),
        Colours("#272c34", "#a9b2bf"),
        "M2 2.5 6 6 2 9.5M6 2.5 10 6 6 9.5",
        is_dashed=True,
    ),
    StateLook(
        "waiting",
        Colours("#ffffff", "#5b6472"),
        Colours("#14171c", "#a9b2bf"),
        "M2 6h.6M5.7 6h.6M9.4 6h.6",
        is_dashed=True,
    ),
    StateLook(
        "done",
        Colours("#e2f4e8", "#1b6e3c"),
        Colours("#16301f", "#7fd6a0"),
        "M2 6.5 5 9.5 10.5 3",
    ),
)
LOOKS: Final = {look.name: look for look in _LOOKS}
"""By name; what needs attention most comes first."""
_NAMES: Final = {
    COULD_NOT: "escalated",
    "cut off": "failed",
    "waiting for your answer": "asking",
    "ready": "waiting",
}


def find_look(state: str) -> StateLook:
    """Return the look of a state's label; that of `waiting` for an unknown one."""
    return LOOKS.get(_NAMES.get(state, state), LOOKS["waiting"])
