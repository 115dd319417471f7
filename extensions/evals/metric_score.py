"""A score, and its computation as a share."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

Item = TypeVar("Item")
MAX_NAMED: Final = 5
"""Limit for the missing items named in a comment."""


@dataclass(frozen=True)
class Score:
    """The value of one metric, 0 to 1, and what was missing."""

    value: float
    comment: str = ""


def score_share(
    wanted: Collection[Item],
    is_met: Callable[[Item], bool],
    complaint: str,
    *,
    name: Callable[[Item], str] = str,
) -> Score | None:
    """Return the share of wanted items that are met; None if nothing is wanted."""
    if not wanted:
        return None
    missing = [name(item) for item in wanted if not is_met(item)]
    value = 1 - len(missing) / len(wanted)
    return Score(value, f"{complaint} {join_names(missing)}" if missing else "")


def join_names(names: Iterable[str]) -> str:
    """Join the first names, and count the rest."""
    known = list(names)
    more = f" and {len(known) - MAX_NAMED} more" if len(known) > MAX_NAMED else ""
    return ", ".join(known[:MAX_NAMED]) + more
