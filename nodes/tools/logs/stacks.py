"""Find stacks of `at` lines below their error, as Java and JavaScript print them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from nodes.limits.patterns import Pattern
from nodes.tools.logs.failure import (
    MAX_CHAIN_LENGTH,
    Failure,
    Language,
    StackFrame,
    chain_failures,
)

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


@dataclass
class _OpenStack:
    language: Language
    frames: list[StackFrame] = field(default_factory=list)
    error: str = ""
    message: str = ""
    stated: int = 0
    is_cause: bool = False
    is_suppressed: bool = False

    def to_failure(self) -> Failure:
        first, last = self.stated or self.frames[0].log_line, self.frames[-1].log_line
        frames = tuple(self.frames)
        return Failure(self.language, self.error, self.message, frames, first, last, first)


def find_stack_failures(lines: Sequence[str]) -> list[Failure]:
    """Return the stacks of a log; causes are joined to their effects, suppressed ones left out."""
    chains: list[list[_OpenStack]] = []
    for stack in _find_stacks(lines):
        if stack.is_suppressed:
            continue
        if not (stack.is_cause and chains):
            chains.append([stack])
        elif len(chains[-1]) < MAX_CHAIN_LENGTH:
            chains[-1].append(stack)
        else:
            chains[-1][-1] = stack
    return [chain_failures([stack.to_failure() for stack in chain]) for chain in chains]


def _find_stacks(lines: Sequence[str]) -> list[_OpenStack]:
    found: list[_OpenStack] = []
    open_stack: _OpenStack | None = None
    for number, line in enumerate(lines, start=1):
        read = _parse_frame(line, number) if " at " in line or "\tat " in line else None
        if read is None:
            open_stack = None
            continue
        language, frame = read
        if open_stack is None:
            open_stack = _start_stack(language, lines, number)
            found.append(open_stack)
        open_stack.frames.append(frame)
    return found


def _parse_frame(line: str, number: int) -> tuple[Language, StackFrame] | None:
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


def _start_stack(language: Language, lines: Sequence[str], number: int) -> _OpenStack:
    """Begin a stack with the error above its first call."""
    stack = _OpenStack(language)
    for back in range(number - 1, max(0, number - 1 - MAX_MESSAGE_LINES), -1):
        line = lines[back - 1]
        if _parse_frame(line, back):
            break
        if named := _parse_error(language, line):
            stack.error, stack.message = named[0], (named[1] or "").strip()
            stack.stated = back
            stack.is_cause, stack.is_suppressed = (
                bool(_CAUSE_LINE.match(line)),
                bool(_SUPPRESSED_LINE.match(line)),
            )
            break
    return stack


def _parse_error(language: Language, line: str) -> tuple[str, str | None] | None:
    patterns = (_JAVA_ERROR, _JAVA_OPENING) if language == "Java" else (_SCRIPT_ERROR,)
    hits = [hit for pattern in patterns if (hit := pattern.search(line))]
    return (hits[0][1], hits[0][2]) if hits else None
