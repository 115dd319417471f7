"""Find what went wrong in a log: tracebacks of Python, stacks of Java and JavaScript."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from nodes.limits.patterns import Pattern

NAMES: Final[dict[str, Any]] = yaml.safe_load(
    Path(__file__).with_name("names.yaml").read_text(encoding="utf-8")
)


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


HEADER: Final = "Traceback (most recent call last):"
MAX_LINES_BETWEEN: Final = 50
"""Lines allowed between two parts of a chain."""

_FRAME = Pattern(r'File "([^"]+)", line (\d+)(?:, in (.+))?$')
_ERROR = Pattern(r"(?<![\w.])([A-Za-z_]\w*+(?:\.\w++)*+)(?::\s?(.*))?$")
_MARGIN = Pattern(r"^[^|]{0,60}\|\s?")
_LOG_LEVELS = frozenset(("DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL"))
_LINKS: Final[tuple[tuple[str, FailureLink], ...]] = (
    ("above exception was the direct cause of the following", "caused by"),
    ("handling of the above exception, another exception", "raised while handling"),
)


def find_python_failures(lines: Sequence[str]) -> list[Failure]:
    """Find the tracebacks of a log; one caused by another holds that one as its cause."""
    found: list[Failure] = []
    for failure in _find_tracebacks(lines):
        link = _find_link(lines, found[-1], failure) if found else ""
        if link:
            failure = chain_failures([failure, *found.pop().chain], link)
        found.append(failure)
    return found


def _find_tracebacks(lines: Sequence[str]) -> Iterator[Failure]:
    at = 0
    while at < len(lines):
        before, header, _ = lines[at].partition(HEADER)
        if not header:
            at += 1
            continue
        failure = _read_traceback(lines, at, has_margin="|" in before or "+" in before)
        yield failure
        at = max(failure.last_line, at + 1)


def _read_traceback(lines: Sequence[str], header: int, *, has_margin: bool) -> Failure:
    frames: list[StackFrame] = []
    error, message, end = "", "", header + 1
    for end in range(header + 1, len(lines)):
        text = _MARGIN.sub("", lines[end]) if has_margin else lines[end]
        if HEADER in text:
            break
        if frame := _FRAME.match(text.strip()):
            file, line, function = frame.groups()
            frames.append(StackFrame(file, int(line), function or "", end + 1))
        elif text.startswith((" ", "\t")):
            if frames and not frames[-1].code:
                frames[-1] = replace(frames[-1], code=text.strip())
        else:
            named = _ERROR.match(text.strip())
            if named and named[1] not in _LOG_LEVELS:
                error, message = named[1], (named[2] or "").strip()
            break
    frames.reverse()
    last = end + 1 if error else max(frames[0].log_line if frames else header + 1, header + 1)
    return Failure("Python", error, message, tuple(frames), header + 1, last, last)


def _find_link(lines: Sequence[str], earlier: Failure, later: Failure) -> FailureLink:
    if later.first_line - earlier.last_line > MAX_LINES_BETWEEN:
        return ""
    between = "\n".join(lines[earlier.last_line : later.first_line])
    return next((link for words, link in _LINKS if words in between), "")


MAX_MESSAGE_LINES: Final = 12
"""Lines allowed between an error and its first call."""

_JAVA = Pattern(
    r"\s*at\s+([\w.$/@<>-]+)\(([\w$]+\.\w+:\d+|[\w$]+\.\w+|Native Method|Unknown Source)\)"
)
_CALL_NAME: Final = r"[^()\s]++(?: [^()\s]++)*+"
_SCRIPT = Pattern(
    rf"\s*at\s+(?:(?:async\s+)?({_CALL_NAME})\s+\()?([^()\s]+):(\d+):\d+\)?(?:\s*\{{)?\s*$"
)
_SCRIPT_BARE = Pattern(rf"^\s*+at\s++({_CALL_NAME})\s++\((<anonymous>|native)\)")
_JAVA_ERROR = Pattern(
    r"(?<![\w.$])((?:[A-Za-z_$][\w$]*+\.){1,20}[A-Z][\w$]*(?:Exception|Error|Throwable|Failure|Fault))(?::\s*(.*))?$"
)
_JAVA_OPENING = Pattern(
    r"(?:Caused by: |Exception in thread \"[^\"]*\" )"
    r"((?:[a-z_][\w$]*+\.){1,20}[A-Z][\w$]*)(?::\s*(.*))?$"
)
_SCRIPT_ERROR = Pattern(
    r"(?<![\w.])([A-Z][\w$]*(?:Error|Exception)|Error)(?: \[[A-Z0-9_]+\])?(?::\s*(.*))?$"
)
_CAUSE_LINE = Pattern(r"^\s*(?:Caused by:|\[cause\]:)")
_SUPPRESSED_LINE = Pattern(r"^\s*Suppressed:")
Call = tuple[Language, StackFrame]


def find_stack_failures(lines: Sequence[str]) -> list[Failure]:
    """Return the stacks of a log; causes are joined to their effects, suppressed ones left out."""
    chains: list[list[Failure]] = []
    called = (_parse_frame(line, number) for number, line in enumerate(lines, 1))
    for is_stack, group in groupby(called, key=bool):
        if not is_stack:
            continue
        failure = _build_failure([call for call in group if call], lines)
        opening = lines[failure.error_line - 1]
        if _SUPPRESSED_LINE.match(opening):
            continue
        if _CAUSE_LINE.match(opening) and chains:
            chains[-1].append(failure)
        else:
            chains.append([failure])
    return [chain_failures(chain) for chain in chains]


def _parse_frame(line: str, number: int) -> Call | None:
    if " at " not in line and "\tat " not in line:
        return None
    if called := _JAVA.match(line):
        function, place = called.groups()
        file, _, at = place.partition(":")
        return "Java", StackFrame(file, int(at) if at else None, function, number)
    if called := _SCRIPT.match(line):
        function, file, at = called.groups()
        return "JavaScript", StackFrame(file, int(at), function or "", number)
    if called := _SCRIPT_BARE.match(line):
        return "JavaScript", StackFrame(f"<{called[2].strip('<>')}>", None, called[1], number)
    return None


def _build_failure(calls: Sequence[Call], lines: Sequence[str]) -> Failure:
    """Build a failure of its calls and the error above the first of them."""
    language, frames = calls[0][0], tuple(frame for _, frame in calls)
    first, last, error, message = frames[0].log_line, frames[-1].log_line, "", ""
    patterns = (_JAVA_ERROR, _JAVA_OPENING) if language == "Java" else (_SCRIPT_ERROR,)
    for back in range(first - 1, max(0, first - 1 - MAX_MESSAGE_LINES), -1):
        line = lines[back - 1]
        if _parse_frame(line, back):
            break
        if named := next(filter(None, (each.search(line) for each in patterns)), None):
            first, error, message = back, named[1], (named[2] or "").strip()
            break
    return Failure(language, error, message, frames, first, last, first)
