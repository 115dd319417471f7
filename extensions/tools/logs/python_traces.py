"""Find tracebacks as Python prints them, with their chains, behind any prefix that a log adds."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from extensions.tools.logs.failure import Failure, FailureLink, StackFrame, chain_failures
from nodes.limits.patterns import Pattern

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
