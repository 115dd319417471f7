"""Find stacks of `at` lines below their error, as Java and JavaScript print them."""

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from extensions.tools.logs.failure import Failure, Language, StackFrame, chain_failures
from nodes.limits.patterns import Pattern

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
