"""Types for what went wrong: stack frames, and the failure they belong to."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final, Literal

Language = Literal["Python", "Java", "JavaScript"]
FailureLink = Literal["", "caused by", "raised while handling"]
"""How a failure is related to the one before it."""

MAX_LINE_CHARS: Final = 2000
"""Limit of a line that is read; patterns need not be quick on longer ones."""
MAX_CHAIN_LENGTH: Final = 12
"""Failures that are kept of a chain: the outermost ones, and the root."""
_LIBRARY_MARKS: Final = (
    *("site-packages/", "dist-packages/", "lib/python3", "node_modules/"),
    *("<frozen ", "<anonymous", "<native", "node:"),
    *("java.", "javax.", "jdk.", "sun.", "com.sun.", "kotlin.", "scala.", "jakarta."),
    *("org.springframework.", "org.apache.", "org.hibernate.", "org.postgresql.", "org.eclipse."),
    *("io.netty.", "com.zaxxer.", "com.fasterxml.", "com.mysql.", "reactor."),
)
"""Locations of libraries and runtimes: part of a path, or the start of a Java class."""


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
            return not any(mark in path for mark in _LIBRARY_MARKS if not mark.endswith("."))
        return not self.function.split("/")[-1].startswith(_LIBRARY_MARKS)

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
    cause: "Failure | None" = None
    link: FailureLink = ""

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
        """Return the failure, its cause, the cause of that, and so on to the root."""
        found: list[Failure] = []
        at: Failure | None = self
        while at is not None:
            found.append(at)
            at = at.cause
        return tuple(found)

    @property
    def own_frame(self) -> StackFrame | None:
        """Return the product's own call nearest to the root; None if there is none."""
        frames = (frame for each in reversed(self.chain) for frame in each.frames)
        return next((frame for frame in frames if frame.is_own_code), None)


def chain_failures(failures: Iterable[Failure], link: FailureLink = "caused by") -> Failure:
    """Chain failures, the outermost first, each caused by the next."""
    *outer, at = failures
    for each in reversed(outer):
        at = replace(each, cause=at, link=link, first_line=min(each.first_line, at.first_line))
    return at
