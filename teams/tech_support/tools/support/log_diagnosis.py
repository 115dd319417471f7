"""Report what a log shows: its kinds of errors, what failed first, how often, where, and why."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from extensions.tools.logs.entries import (
    FAILING_LEVELS,
    Log,
    LogEntry,
    format_duration,
    make_template,
)
from extensions.tools.logs.failures import Failure, StackFrame
from extensions.tools.logs.secrets import mask_secrets
from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names
from state import Severity

MAX_TITLE_CHARS: Final = 240
MAX_ANNOUNCEMENT_LINES: Final = 2
"""Lines between an entry and the failure that it announces."""


@dataclass
class ErrorKind:
    """Errors, or warnings, of one kind."""

    title: str
    level: str
    failure: Failure | None
    """The first of them, if its calls are known."""
    line_numbers: list[int] = field(default_factory=list)
    """Lines that report it, counted from 1."""
    announcement: str = ""
    """The log's message about the first one."""

    @property
    def root_title(self) -> str:
        """Return the name of the root error."""
        return self.failure.chain[-1].title if self.failure else self.title

    @property
    def own_frame(self) -> StackFrame | None:
        """Return the product's own call nearest to the root, if it is known."""
        return self.failure.own_frame if self.failure else None

    @property
    def line(self) -> int:
        """Return the first line that reports it."""
        return self.line_numbers[0]

    @property
    def times(self) -> str:
        """Return how often it is reported, as an addition; empty for once."""
        return f", {len(self.line_numbers)} times" if len(self.line_numbers) > 1 else ""


_Occurrence = tuple[str, int, ErrorKind]
"""What occurrences of one kind share, the line of one, and its kind."""


def list_error_kinds(log: Log) -> list[ErrorKind]:
    """Return the kinds of errors of a log, in order of first occurrence."""
    return sorted(_group_by_kind(_iterate_errors(log)), key=lambda each: each.line_numbers[0])


def list_warning_kinds(log: Log) -> list[ErrorKind]:
    """Return the kinds of warnings of a log, the most frequent first."""
    warned = (_build_kind(entry) for entry in log.entries if entry.level == "warning")
    return sorted(_group_by_kind(warned), key=lambda each: -len(each.line_numbers))


def redact_line(text: str) -> str:
    """Return words of a log as one line of a report: of limited length, without a secret."""
    return sanitize_line(mask_secrets(text), MAX_TITLE_CHARS)


def redact_as_code(text: str) -> str:
    """Return words of a log as code, so that no link or picture in them becomes active."""
    return format_as_code(redact_line(text))


def _group_by_kind(found: Iterable[_Occurrence]) -> Iterable[ErrorKind]:
    kinds: dict[str, ErrorKind] = {}
    for key, number, trouble in found:
        kinds.setdefault(key, trouble).line_numbers.append(number)
    return kinds.values()


def _build_kind(entry: LogEntry) -> _Occurrence:
    kind = ErrorKind(entry.message or f"{entry.level} without words", entry.level, None)
    return make_template(entry.message), entry.line, kind


def _iterate_errors(log: Log) -> Iterator[_Occurrence]:
    by_line = {entry.line: entry for entry in log.entries}
    announcing: set[int] = set()
    for failure in log.failures:
        entry = _find_announcement(by_line, failure)
        if entry:
            announcing.add(entry.line)
        announcing.update(range(failure.first_line, failure.last_line + 1))
        said = entry.message if entry and failure.message not in entry.message else ""
        level = entry.level if entry and entry.level == "critical" else "error"
        key = " < ".join(f"{each.error}: {make_template(each.message)}" for each in failure.chain)
        yield key, failure.error_line, ErrorKind(failure.title, level, failure, announcement=said)
    for entry in log.entries:
        if entry.level in FAILING_LEVELS and entry.line not in announcing:
            yield _build_kind(entry)


def _find_announcement(by_line: dict[int, LogEntry], failure: Failure) -> LogEntry | None:
    """Return the entry that a failure belongs to: its own first line, or one directly above it."""
    near = range(failure.first_line, failure.first_line - MAX_ANNOUNCEMENT_LINES - 1, -1)
    entry = next((by_line[number] for number in near if number in by_line), None)
    return entry if entry and entry.level not in ("info", "debug") else None


SHOWN_COUNTS: Final = (8, 5, 3, 1)
"""Kinds of errors reported for a log, if they fit."""
MAX_LOGS: Final = 4
MAX_QUOTE_CHARS: Final = 400
COLUMNS: Final = ("error", "times", "first", "last", "line", "where")


def diagnose_logs(logs: Sequence[Log], *, is_pasted: bool = False) -> dict[str, Any]:
    """Report what failed in each log; a pasted one is no source that can be cited."""
    return fit_to_size(lambda most: _build_report(logs, most, is_pasted), SHOWN_COUNTS)


def add_claims(reply: ToolReport, log: Log, found: Sequence[ErrorKind]) -> None:
    """Add a claim for each kind of error, with the line of the log that supports it."""
    for each in found:
        begun, ended = log.find_stamp(each.line), log.find_stamp(each.line_numbers[-1])
        period = f", {begun}" * bool(begun) + f" to {ended}" * (ended != begun)
        times = each.times.removeprefix(", ") or "once"
        told = f"{redact_line(each.title)} occurs {times} in {log.name}, line {each.line}{period}."
        said = [(told, each.line)]
        if each.failure and each.failure.causes:
            root = each.failure.chain[-1]
            told = f"At its root is {redact_line(root.title)} (line {root.error_line})."
            said.append((told, root.error_line))
        if own := each.own_frame:
            told = f"The product's nearest call is {redact_line(str(own))}."
            said.append((told, own.log_line))
        for text, number in said:
            line = log.get_line(number)
            quote = line[:MAX_QUOTE_CHARS] if mask_secrets(line) == line else ""
            reply.add_claim(text, log.name, quote)


def _build_report(logs: Sequence[Log], most: int, is_pasted: bool) -> ToolReport:
    reply = ToolReport()
    for log in logs[:MAX_LOGS]:
        errors = list_error_kinds(log)
        every = errors or list_warning_kinds(log)
        found = every[:most]
        reply.lines.append(_format_overview(log, errors) + "\n")
        if errors:
            _add_errors(reply, log, found)
        elif found:
            rows = [_list_cells(log, each)[:-1] for each in found]
            reply.add_table(("warning", *COLUMNS[1:-1]), rows, "The most frequent warnings")
        if not is_pasted:
            add_claims(reply, log, found)
        for each in found:
            reply.add_finding(
                _rate(each),
                f"{redact_line(each.title)}{each.times}",
                "" if is_pasted else log.name,
                f"Begin at {redact_line(str(each.own_frame))}." if each.own_frame else "",
                None if is_pasted else each.line,
            )
        gaps, cut = log.describe_limits()
        reply.gaps += [*gaps, *_list_gaps(log, len(every), len(found), has_error=bool(errors))]
        reply.failures += cut
    if left := [log.name for log in logs[MAX_LOGS:]]:
        reply.failures.append(
            f"{len(left)} more logs were not read, name them one by one: {join_names(left)}"
        )
    return reply


def _format_overview(log: Log, found: Sequence[ErrorKind]) -> str:
    dated = [entry for entry in log.entries if entry.time]
    between = f", from {dated[0].stamp} to {dated[-1].stamp}" if dated else ""
    if len(dated) > 1 and dated[0].time and dated[-1].time and dated[0].time <= dated[-1].time:
        seconds = (dated[-1].time - dated[0].time).total_seconds()
        between += f" ({format_duration(seconds)})"
    count = sum(len(each.line_numbers) for each in found)
    kinds = "" if len(found) == count else f" of {format_count(len(found), 'kind')}"
    said = f"{format_count(count, 'error')}{kinds}, {len(log.failures)} with a traceback"
    warnings = sum(entry.level == "warning" for entry in log.entries)
    extra = f", {format_count(warnings, 'warning')}" if warnings else ""
    lines = format_count(len(log.lines), "line")
    return f"**{log.name}**: {lines}{between}; {said if found else 'no error'}{extra}."


def _add_errors(reply: ToolReport, log: Log, found: Sequence[ErrorKind]) -> None:
    reply.add_table(COLUMNS, [_list_cells(log, each) for each in found])
    first = found[0]
    if len(found) > 1:
        at = ", ".join(filter(None, (f"line {first.line}", log.find_stamp(first.line))))
        reply.lines.append(f"First error, {at}: {redact_as_code(first.title)}\n")
    warned = [e for e in log.entries if e.level == "warning" and e.line < first.line][-1:]
    reply.lines += [
        f"Last warning before the first error, line {e.line}: {redact_as_code(e.message)}\n"
        for e in warned
    ]
    for each in found:
        if each.failure:
            reply.lines += [*_format_trace(each.failure, each.announcement), ""]


def _list_cells(log: Log, each: ErrorKind) -> tuple[object, ...]:
    own = each.own_frame
    where = redact_as_code(f"{own.file.rsplit('/', 1)[-1]}:{own.line}") if own else ""
    stamps = (log.find_stamp(number) for number in (each.line, each.line_numbers[-1]))
    return redact_as_code(each.title), len(each.line_numbers), *stamps, each.line, where


def _format_trace(failure: Failure, announced: str) -> Iterator[str]:
    after = f", after {redact_as_code(announced)}" if announced else ""
    name = redact_as_code(failure.error or "The stack")
    yield f"{name}, line {failure.error_line}, {failure.language}{after}:\n"
    for outer, cause in pairwise(failure.chain):
        yield f"- {outer.link} {redact_as_code(cause.title)} (line {cause.error_line})"
    raised, own = failure.chain[-1].frames[:1], failure.own_frame
    places = [("raised at", frame) for frame in raised]
    places += [("nearest call of the product:", own)] if own and own not in raised else []
    for what, frame in places:
        yield f"- {what} {redact_as_code(str(frame))} (line {frame.log_line})"


def _rate(kind: ErrorKind) -> Severity:
    if kind.level in ("warning", "critical"):
        return "low" if kind.level == "warning" else "critical"
    return "high" if kind.failure else "medium"


def _list_gaps(log: Log, count: int, shown_count: int, *, has_error: bool) -> Iterator[str]:
    if has_error:
        yield (
            f"{log.name} shows what failed and where; why, and what to change, is to be judged "
            "from the code and the help documents"
        )
    else:
        cause = ": whether a warning is the cause is open" if count else ""
        yield f"{log.name} holds no error{cause}; a log of the moment when it failed is needed"
    if count and not any(entry.stamp for entry in log.entries):
        yield f"{log.name} names no times, so it is not known when it failed"
    if any(not each.error for failure in log.failures for each in failure.chain):
        yield f"A traceback of {log.name} is cut off: the line that names its error is missing"
    if count > shown_count:
        kinds = "errors" if has_error else "warnings"
        yield f"{count - shown_count} more kinds of {kinds} in {log.name} are left out"
