"""Tracebacks as Python prints them, chains and all, with whatever a log puts in front."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.tools.failures.failure import MAX_CHAIN, Failure, Frame, Link

HEADER: Final = "Traceback (most recent call last):"
MAX_BETWEEN: Final = 50
"""Lines between two parts of a chain."""

_FRAME = Pattern(r'File "([^"]+)", line (\d+)(?:, in (.+))?$')
_ERROR = Pattern(r"(?<![\w.])([A-Za-z_]\w*+(?:\.\w++)*+)(?::\s?(.*))?$")
_MARGIN = Pattern(r"^[^|]{0,60}\|\s?")
_NO_ERROR = frozenset(("DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL"))
_LINKS: Final[tuple[tuple[str, Link], ...]] = (
    ("above exception was the direct cause of the following", "caused by"),
    ("handling of the above exception, another exception", "raised while handling"),
)


def python_failures(lines: Sequence[str]) -> list[Failure]:
    """Find the tracebacks of a log; one that another led to holds it as its cause."""
    found: list[Failure] = []
    for failure in _tracebacks(lines):
        link = _link(lines, found[-1], failure) if found else ""
        if link:
            earlier = found.pop()
            if len(earlier.chain) >= MAX_CHAIN - 1:
                earlier = earlier.cause or earlier
            failure = replace(failure, cause=earlier, link=link, first=earlier.first)
        found.append(failure)
    return found


def _tracebacks(lines: Sequence[str]) -> Iterator[Failure]:
    at = 0
    while at < len(lines):
        before, header, _ = lines[at].partition(HEADER)
        if not header:
            at += 1
            continue
        failure = _read(lines, at, has_margin="|" in before or "+" in before)
        yield failure
        at = max(failure.last, at + 1)


def _read(lines: Sequence[str], header: int, *, has_margin: bool) -> Failure:
    frames: list[Frame] = []
    error, message, end = "", "", header + 1
    for end in range(header + 1, len(lines)):
        text = _MARGIN.sub("", lines[end]) if has_margin else lines[end]
        if HEADER in text:
            break
        if frame := _FRAME.match(text.strip()):
            file, line, function = frame.groups()
            frames.append(Frame(file, int(line), function or "", end + 1))
        elif text.startswith((" ", "\t")):
            if frames and not frames[-1].code:
                frames[-1] = replace(frames[-1], code=text.strip())
        else:
            named = _ERROR.match(text.strip())
            if named and named[1] not in _NO_ERROR:
                error, message = named[1], (named[2] or "").strip()
            break
    frames.reverse()
    last = end + 1 if error else max(frames[0].number if frames else header + 1, header + 1)
    return Failure("Python", error, message, tuple(frames), header + 1, last, last)


def _link(lines: Sequence[str], earlier: Failure, later: Failure) -> Link:
    if later.first - earlier.last > MAX_BETWEEN:
        return ""
    between = "\n".join(lines[earlier.last : later.first])
    return next((link for words, link in _LINKS if words in between), "")
