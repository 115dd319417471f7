"""Report what a log shows: what failed first, how often, where, and why."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from nodes.text.counts import format_count
from nodes.text.plain_text import format_as_code, sanitize_line
from nodes.tools.failures.failure import Failure
from nodes.tools.failures.secrets import mask_secrets
from nodes.tools.framework.tool_report import build_failures_part

from .durations import format_time_between
from .error_kinds import ErrorKind, list_error_kinds
from .log import Log, count_levels

SHOWN_COUNTS: Final = (8, 5, 3, 1)
"""Kinds of errors reported for a log, if they fit."""
MAX_LOGS: Final = 4
MAX_CHARS: Final = 16_000
"""Limit on the report, as JSON."""
MAX_TITLE_CHARS: Final = 240
MAX_QUOTE_CHARS: Final = 400
MAX_FRAMES: Final = 5
MAX_LINKS: Final = 4
CONFIDENCE: Final = 95
"""The log states it; whether it is the whole cause is not known."""


def diagnose_logs(logs: Sequence[Log], *, is_pasted: bool = False) -> dict[str, Any]:
    """Report what failed in each log; a pasted one is no source that can be cited."""
    told = dict[str, Any]()
    for most in SHOWN_COUNTS:
        told = _build_report(logs, most, is_pasted)
        if len(json.dumps(told)) <= MAX_CHARS:
            break
    return told


def _build_report(logs: Sequence[Log], most: int, is_pasted: bool) -> dict[str, Any]:
    parts, claims, findings = list[str](), list[dict[str, Any]](), list[dict[str, Any]]()
    gaps, failures = list[str](), [said for log in logs[:MAX_LOGS] for said in describe_cut(log)]
    for log in logs[:MAX_LOGS]:
        every = list_error_kinds(log)
        found = every[:most]
        parts += [_format_overview(log, every), *_describe_errors(log, found)]
        claims += [] if is_pasted else build_claims(log, found)
        findings += [_build_finding(log, each, is_pasted) for each in found]
        gaps += _list_gaps(log, len(every), len(found))
    if left := [log.name for log in logs[MAX_LOGS:]]:
        failures.append(
            f"{len(left)} more logs were not read, name them one by one: {', '.join(left)[:300]}"
        )
    told = {"summary": "\n\n".join(parts), "claims": claims, "findings": findings, "gaps": gaps}
    return {**told, **build_failures_part(failures)}


def describe_cut(log: Log) -> list[str]:
    """Return how much of a log was read, in words, if it was not all."""
    return [f"only the first {len(log.lines):,} lines of {log.name} were read"] * log.is_cut


def redact_line(text: str) -> str:
    """Return words of a log as one line of a report: of limited length, without a secret."""
    return sanitize_line(mask_secrets(text), MAX_TITLE_CHARS)


def redact_as_code(text: str) -> str:
    """Return words of a log as code, so that no link or picture in them becomes active."""
    return format_as_code(redact_line(text))


def _describe_errors(log: Log, found: Sequence[ErrorKind]) -> Iterator[str]:
    if not found:
        return
    yield _format_table(log, found)
    if len(found) > 1:
        at = ", ".join(
            filter(
                None,
                (f"line {found[0].line_numbers[0]}", log.find_timestamp(found[0].line_numbers[0])),
            )
        )
        yield f"First error, {at}: {redact_as_code(found[0].title)}"
    if warned := _find_warning_before(log, found[0].line_numbers[0]):
        yield f"Last warning before the first error, line {warned[0]}: {redact_as_code(warned[1])}"
    yield from (
        "\n".join(_format_trace(each.failure, each.announcement)) for each in found if each.failure
    )


def _format_overview(log: Log, found: Sequence[ErrorKind]) -> str:
    stamps = [entry.timestamp for entry in log.entries if entry.timestamp]
    between = f", from {stamps[0]} to {stamps[-1]}" if stamps else ""
    lasting = format_time_between(stamps[0], stamps[-1]) if len(stamps) > 1 else ""
    count, traced = sum(len(each.line_numbers) for each in found), len(log.failures)
    kinds = "" if len(found) == count else f" of {format_count(len(found), 'kind')}"
    said = (
        f"{format_count(count, 'error')}{kinds}, {traced} with a traceback" if found else "no error"
    )
    warnings = count_levels(log)["warning"]
    extra = f", {format_count(warnings, 'warning')}" if warnings else ""
    return (
        f"**{log.name}**: {format_count(len(log.lines), 'line')}{between}"
        f"{f' ({lasting})' if lasting else ''}; {said}{extra}."
    )


def _format_table(log: Log, found: Sequence[ErrorKind]) -> str:
    rows = [
        "| error | times | first | last | line | where |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for each in found:
        first, last = each.line_numbers[0], each.line_numbers[-1]
        own = each.failure.own_frame if each.failure else None
        where = f"{own.file.rsplit('/', 1)[-1]}:{own.line}" if own else ""
        cells = (
            redact_as_code(each.title),
            str(len(each.line_numbers)),
            log.find_timestamp(first),
            log.find_timestamp(last),
            str(first),
            redact_as_code(where) if where else "",
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _format_trace(failure: Failure, announced: str) -> Iterator[str]:
    root = failure.chain[-1]
    after = f", after {redact_as_code(announced)}" if announced else ""
    name = redact_as_code(failure.error or "The stack")
    yield f"{name}, line {failure.error_line}, {failure.language}{after}:"
    yield ""
    links = list(zip(failure.chain, failure.chain[1:], strict=False))
    for outer, cause in links[: MAX_LINKS - 1] + links[MAX_LINKS - 1 :][-1:]:
        yield f"- {outer.link} {redact_as_code(cause.title)} (line {cause.error_line})"
    if root.frames:
        yield f"- raised at {redact_as_code(str(root.frames[0]))} (line {root.frames[0].log_line})"
    if failure.own_frame and failure.own_frame not in root.frames[:1]:
        place = f"{redact_as_code(str(failure.own_frame))} (line {failure.own_frame.log_line})"
        yield f"- nearest call of the product: {place}"
    calls = [frame for frame in failure.frames if frame.is_own_code][:MAX_FRAMES]
    if len(calls) > 1:
        path = " → ".join(
            str(frame.function or frame.file.rsplit("/", 1)[-1]) for frame in reversed(calls)
        )
        yield f"- calls of the product: {redact_as_code(path)}"


def build_claims(log: Log, found: Sequence[ErrorKind]) -> Iterator[dict[str, Any]]:
    """Build a claim for each kind of error, with the line of the log that supports it."""
    for each in found:
        times = "once" if len(each.line_numbers) == 1 else f"{len(each.line_numbers)} times"
        text = (
            f"{redact_line(each.title)} occurs {times} in {log.name}, {_format_period(log, each)}"
        )
        yield _build_claim(log, f"{text}.", each.line_numbers[0])
        if each.failure and each.failure.cause:
            root = each.failure.chain[-1]
            yield _build_claim(
                log,
                f"At its root is {redact_line(root.title)} (line {root.error_line}).",
                root.error_line,
            )
        if each.failure and (own := each.failure.own_frame):
            yield _build_claim(
                log, f"The product's nearest call is {redact_line(str(own))}.", own.log_line
            )


def _build_claim(log: Log, text: str, number: int) -> dict[str, Any]:
    line = log.get_line(number)
    quote = line[:MAX_QUOTE_CHARS] if mask_secrets(line) == line else ""
    return {"text": text, "source": log.name, "quote": quote, "confidence": CONFIDENCE}


def _build_finding(log: Log, each: ErrorKind, is_pasted: bool) -> dict[str, Any]:
    times = f", {len(each.line_numbers)} times" if len(each.line_numbers) > 1 else ""
    severity = "critical" if each.level == "critical" else "high" if each.failure else "medium"
    place = {} if is_pasted else {"file": log.name, "line": each.line_numbers[0]}
    return {
        "severity": severity,
        "message": f"{redact_line(each.title)}{times}",
        **place,
        "suggestion": f"Begin at {redact_line(str(each.failure.own_frame))}."
        if each.failure and each.failure.own_frame
        else "",
        "confidence": CONFIDENCE,
    }


def _list_gaps(log: Log, count: int, shown_count: int) -> Iterator[str]:
    if not count:
        yield f"{log.name} holds no error; a log of the moment when it failed is needed"
        return
    yield (
        f"{log.name} shows what failed and where; why, and what to change, is to be judged from "
        "the code and the help documents"
    )
    if not any(entry.timestamp for entry in log.entries):
        yield f"{log.name} names no times, so it is not known when it failed"
    if any(not each.error for failure in log.failures for each in failure.chain):
        yield f"A traceback of {log.name} is cut off: the line that names its error is missing"
    if count > shown_count:
        yield f"{count - shown_count} more kinds of errors in {log.name} are left out"


def _format_period(log: Log, each: ErrorKind) -> str:
    first, last = each.line_numbers[0], each.line_numbers[-1]
    begun, ended = log.find_timestamp(first), log.find_timestamp(last)
    if not begun:
        return f"line {first}"
    until = f" to {ended}" if ended != begun else ""
    return f"line {first}, {begun}{until}"


def _find_warning_before(log: Log, number: int) -> tuple[int, str] | None:
    warned = [e for e in log.entries if e.level == "warning" and e.number < number]
    return (warned[-1].number, warned[-1].message) if warned else None
