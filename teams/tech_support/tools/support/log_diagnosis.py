"""Report what a log shows: what failed first, how often, where, and why."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

from extensions.tools.logs.entry import Log
from extensions.tools.logs.failure import Failure
from extensions.tools.logs.secrets import mask_secrets
from extensions.tools.logs.timestamps import format_duration
from nodes.text.counts import format_count
from nodes.tools.framework.tool_report import ToolReport, fit_to_size, join_names
from state import Severity

from .error_kinds import (
    ErrorKind,
    list_error_kinds,
    list_warning_kinds,
    redact_as_code,
    redact_line,
)

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
