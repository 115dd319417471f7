"""What can go wrong in a run: the words for it, what helps, and its mode in the MAST taxonomy."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from nodes.limits.nesting import parse_json

RemedyKind = Literal["setting", "option", "worker", "team", "tool", "request", "file", "command"]
"""Where something is changed: a variable, an option of `run` and `resume`, a worker's file, a
team's file, a tool's file, the words of the request, a file that is given, a command."""
MAST_MODES: Final = (
    *("1.1 Disobey task specification", "1.2 Disobey role specification"),
    *("1.3 Step repetition", "1.4 Loss of conversation history"),
    *("1.5 Unaware of termination conditions", "2.1 Conversation reset"),
    *("2.2 Fail to ask for clarification", "2.3 Task derailment", "2.4 Information withholding"),
    *("2.5 Ignored other agent's input", "2.6 Reasoning-action mismatch"),
    *("3.1 Premature termination", "3.2 No or incomplete verification"),
    "3.3 Incorrect verification",
)
"""The 14 modes by which systems of several agents fail, as published (arXiv 2503.13657)."""


@dataclass(frozen=True)
class Remedy:
    """What a user can change so that it does not happen again."""

    kind: RemedyKind
    name: str
    """Of the setting, the option, the key or the file, or the command."""
    text: str


@dataclass(frozen=True)
class FaultKind:
    """One kind of fault."""

    words: str
    """What happened, after the name of the task or the part of the run."""
    remedies: tuple[Remedy, ...]
    mast: str = ""
    """One of `MAST_MODES`; empty where none says what the program has seen."""
    makes_case: bool = False
    """It is of the content: a row of the exam shows whether new words help."""
    is_of_run: bool = False
    """One cause, however many tasks it hit."""


def get_fault_kind(name: str) -> FaultKind:
    """Return a kind; one without a row, such as the code of a new error, in words of its own."""
    known = load_fault_kinds()
    family = "remote_failed" if name.startswith("remote_") else name
    other = FaultKind(f"the run met the error {name.upper()}", known["unexplained"].remedies)
    return known.get(name) or known.get(family, other)


@cache
def load_fault_kinds() -> dict[str, FaultKind]:
    """Return all kinds by name, as `supervise why --json` has them.

    A remedy is where, its name, and what to do there; `{worker}`, `{tool}`, `{tier}`, `{provider}`,
    `{thread}` and `{option}` are filled in.
    """
    text = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
    kinds = dict[str, FaultKind]()
    for name, row in parse_json(text).items():
        remedies = tuple(Remedy(*each) for each in row.pop("remedies", ()))
        kinds[name] = FaultKind(**row, remedies=remedies)
    return kinds
