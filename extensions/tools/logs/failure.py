"""Types for what went wrong: stack frames, and the failure they belong to."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from extensions.tools.logs.names import NAMES

Language = Literal["Python", "Java", "JavaScript"]
FailureLink = Literal["", "caused by", "raised while handling"]
MAX_LINE_CHARS: Final = 2000
"""Limit of a line that is read; patterns need not be quick on longer ones."""
MAX_CHAIN_LENGTH: Final = 12
"""Failures that are kept of a chain: the outermost ones, and the root."""


@dataclass(frozen=True)
class StackFrame:
    """A call that was in progress."""

    file: str
    line: int | None
    function: str
    log_line: int
    """Line of the log that names it, counted from 1."""
    code: str = ""
    """Line of code, if the log shows it."""

    @property
    def is_own_code(self) -> bool:
        """Return whether it is in the product, not in a library or a runtime."""
        path = self.file.replace("\\", "/")
        if "/" in path or path.startswith(("<", "node:")):
            return not any(mark in path for mark in NAMES["library_paths"])
        return not self.function.split("/")[-1].startswith(tuple(NAMES["library_classes"]))

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place} in {self.function}" if self.function else place


@dataclass(frozen=True)
class Failure:
    """An error with the calls that led to it, innermost first."""

    language: Language
    error: str
    """Its type; empty if the log has only the calls."""
    message: str
    frames: tuple[StackFrame, ...]
    first_line: int
    last_line: int
    error_line: int
    """Lines of the log where it begins, ends, and names its error, counted from 1."""
    causes: tuple["Failure", ...] = ()
    """What caused it, what caused that, and so on to the root."""
    link: FailureLink = ""
    """How it is related to its cause."""

    @property
    def name(self) -> str:
        """Return its type without the module."""
        return self.error.rpartition(".")[2]

    @property
    def title(self) -> str:
        """Return type and message as logged."""
        named = self.error or "an error whose line is missing"
        return f"{named}: {self.message}" if self.message else named

    @property
    def chain(self) -> tuple["Failure", ...]:
        """Return the failure and its causes, the root last."""
        return self, *self.causes

    @property
    def own_frame(self) -> StackFrame | None:
        """Return the product's own call nearest to the root; None if there is none."""
        frames = (frame for each in reversed(self.chain) for frame in each.frames)
        return next((frame for frame in frames if frame.is_own_code), None)


def chain_failures(failures: Sequence[Failure], link: FailureLink = "caused by") -> Failure:
    """Chain failures, the outermost first, each caused by the next."""
    outer, *causes = failures
    if not causes:
        return outer
    inner = [replace(each, link=each.link or link, causes=()) for each in causes[:-1]]
    kept = [*inner[: MAX_CHAIN_LENGTH - 2], replace(causes[-1], causes=())]
    first_line = min(each.first_line for each in failures)
    return replace(outer, causes=tuple(kept), link=link, first_line=first_line)
