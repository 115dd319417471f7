"""Count misses and false refusals of the vagueness check over labelled descriptions."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from nodes.planning.vagueness import explain_vagueness

Half = Literal["development", "held_out"]
Label = Literal["good", "vague"]
HALVES: tuple[Half, ...] = ("development", "held_out")
FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Description:
    """A labelled description."""

    half: Half
    label: Label
    domain: str
    text: str

    @property
    def is_judged_right(self) -> bool:
        """Return whether the check agrees with the label."""
        return (explain_vagueness(self.text) is None) == (self.label == "good")


@dataclass(frozen=True)
class ErrorCounts:
    """Errors and totals of a set of descriptions."""

    good: int
    refused: int
    vague: int
    missed: int

    @property
    def false_refusal_rate(self) -> float:
        """Share of the good ones that are refused, 0 to 1."""
        return self.refused / max(1, self.good)

    @property
    def miss_rate(self) -> float:
        """Share of the vague ones that pass, 0 to 1."""
        return self.missed / max(1, self.vague)


def read_descriptions(half: Half, rows: int | None = None) -> list[Description]:
    """Read the labelled descriptions of one half, at most so many of each label."""
    found = []
    for label in ("good", "vague"):
        text = (FOLDER / half / f"{label}.txt").read_text(encoding="utf-8")
        for line in text.splitlines()[:rows]:
            domain, text = line.split(" | ", 1)
            found.append(Description(half, label, domain, text))
    return found


def count_errors(items: Iterable[Description]) -> ErrorCounts:
    """Count the errors of the check."""
    items = list(items)
    good = [item for item in items if item.label == "good"]
    vague = [item for item in items if item.label == "vague"]
    return ErrorCounts(
        good=len(good),
        refused=sum(not item.is_judged_right for item in good),
        vague=len(vague),
        missed=sum(not item.is_judged_right for item in vague),
    )
