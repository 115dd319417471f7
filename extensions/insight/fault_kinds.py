"""What can go wrong in a run: the words for it, what helps, and its mode in the MAST taxonomy.

MAST has 14 modes by which systems of several agents fail (arXiv 2503.13657). A kind has one only
where the mode says what the program has seen: what an endpoint or a human did is none of them.
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from nodes.limits.nesting import parse_json


@dataclass(frozen=True)
class Remedy:
    """What a user can change so that it does not happen again: where, its name, what to do."""

    kind: str
    """`setting`, `option`, `worker's file`, `team's file`, `tool`, `request`, `file`, `command`."""
    name: str
    text: str


@dataclass(frozen=True)
class FaultKind:
    """One kind of fault."""

    words: str
    """What happened, after the name of the task or the part of the run."""
    remedies: tuple[Remedy, ...]
    """`{worker}`, `{tool}`, `{tier}`, `{provider}`, `{thread}` and `{option}` are filled in."""
    mast: str = ""
    """The number and the published name of a mode; empty where none fits."""
    makes_case: bool = False
    """It is of the content: a row of the exam shows whether new words help."""
    is_of_run: bool = False
    """One cause, however many tasks it hit."""
    is_by_detail: bool = False
    """Of one task or answer as many causes as there are details, such as files."""
    reason: str = ""
    """Of the escalations that are of this kind."""
    starts: tuple[str, ...] = ()
    """How the program's own errors of attempts begin that are of this kind."""


def get_fault_kind(name: str) -> FaultKind:
    """Return a kind; one without a row, such as the code of a new error, in words of its own."""
    known = load_fault_kinds()
    family = "remote_failed" if name.startswith("remote_") else name
    other = FaultKind(f"the run met the error {name.upper()}", known["unexplained"].remedies)
    return known.get(name) or known.get(family, other)


@cache
def load_fault_kinds() -> dict[str, FaultKind]:
    """Return all kinds by name, as `supervise why --json` has them."""
    rows = parse_json(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
    return {
        name: FaultKind(**{**row, "remedies": tuple(Remedy(*each) for each in row["remedies"])})
        for name, row in rows.items()
    }
