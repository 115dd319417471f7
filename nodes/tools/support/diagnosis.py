"""What a log tells, in the report's own words: what failed first, how often, where, and why."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from nodes.tools.failures.failure import Failure
from nodes.tools.plain_text import code, plain_line
from nodes.tools.replies import counted, with_failures
from nodes.tools.secrets import masked
from nodes.tools.support.log import Log, levels
from nodes.tools.support.moments import apart
from nodes.tools.support.troubles import Trouble, troubles

MOST_TROUBLES: Final = (8, 5, 3, 1)
"""Kinds of errors told of a log: as many as fit."""
MAX_LOGS: Final = 4
MAX_CHARS: Final = 16_000
"""Of all that is told, as JSON."""
MAX_TITLE_CHARS: Final = 240
MAX_QUOTE_CHARS: Final = 400
MAX_FRAMES: Final = 5
MAX_LINKS: Final = 4
CONFIDENCE: Final = 95
"""The log says so; whether that is the whole story is another matter."""


def diagnosed(logs: Sequence[Log], *, is_pasted: bool = False) -> dict[str, Any]:
    """Tell of each log what failed; a pasted one is no source that can be cited."""
    told = dict[str, Any]()
    for most in MOST_TROUBLES:
        told = _composed(logs, most, is_pasted)
        if len(json.dumps(told)) <= MAX_CHARS:
            break
    return told


def _composed(logs: Sequence[Log], most: int, is_pasted: bool) -> dict[str, Any]:
    parts, claims, findings = list[str](), list[dict[str, Any]](), list[dict[str, Any]]()
    gaps, failures = list[str](), [said for log in logs[:MAX_LOGS] for said in cut_off(log)]
    for log in logs[:MAX_LOGS]:
        every = troubles(log)
        found = every[:most]
        parts += [_overview(log, every), *_told(log, found)]
        claims += [] if is_pasted else claims_on(log, found)
        findings += [_finding(log, each, is_pasted) for each in found]
        gaps += _gaps(log, len(every), len(found))
    if left := [log.name for log in logs[MAX_LOGS:]]:
        failures.append(
            f"{len(left)} more logs were not read, name them one by one: {', '.join(left)[:300]}"
        )
    told = {"summary": "\n\n".join(parts), "claims": claims, "findings": findings, "gaps": gaps}
    return {**told, **with_failures(failures)}


def cut_off(log: Log) -> list[str]:
    """Return in words how much of a log was read, where it was not all."""
    return [f"only the first {len(log.lines):,} lines of {log.name} were read"] * log.is_cut


def shown(text: str) -> str:
    """Give words of a log as one line of a report: of limited length, without a secret."""
    return plain_line(masked(text), MAX_TITLE_CHARS)


def shown_as_code(text: str) -> str:
    """Give words of a log so that no link or picture in them comes to life."""
    return code(shown(text))


def _told(log: Log, found: Sequence[Trouble]) -> Iterator[str]:
    if not found:
        return
    yield _table(log, found)
    if len(found) > 1:
        at = ", ".join(
            filter(None, (f"line {found[0].numbers[0]}", log.stamp(found[0].numbers[0])))
        )
        yield f"First error, {at}: {shown_as_code(found[0].title)}"
    if warned := _warning_before(log, found[0].numbers[0]):
        yield f"Last warning before the first error, line {warned[0]}: {shown_as_code(warned[1])}"
    yield from ("\n".join(_trace(each.failure, each.announced)) for each in found if each.failure)


def _overview(log: Log, found: Sequence[Trouble]) -> str:
    stamps = [entry.stamp for entry in log.entries if entry.stamp]
    between = f", from {stamps[0]} to {stamps[-1]}" if stamps else ""
    lasting = apart(stamps[0], stamps[-1]) if len(stamps) > 1 else ""
    count, traced = sum(len(each.numbers) for each in found), len(log.failures)
    kinds = "" if len(found) == count else f" of {counted(len(found), 'kind')}"
    said = f"{counted(count, 'error')}{kinds}, {traced} with a traceback" if found else "no error"
    warnings = levels(log)["warning"]
    extra = f", {counted(warnings, 'warning')}" if warnings else ""
    return (
        f"**{log.name}**: {counted(len(log.lines), 'line')}{between}"
        f"{f' ({lasting})' if lasting else ''}; {said}{extra}."
    )


def _table(log: Log, found: Sequence[Trouble]) -> str:
    rows = [
        "| error | times | first | last | line | where |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for each in found:
        first, last = each.numbers[0], each.numbers[-1]
        own = each.failure.own if each.failure else None
        where = f"{own.file.rsplit('/', 1)[-1]}:{own.line}" if own else ""
        cells = (
            shown_as_code(each.title),
            str(len(each.numbers)),
            log.stamp(first),
            log.stamp(last),
            str(first),
            shown_as_code(where) if where else "",
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _trace(failure: Failure, announced: str) -> Iterator[str]:
    root = failure.chain[-1]
    after = f", after {shown_as_code(announced)}" if announced else ""
    name = shown_as_code(failure.error or "The stack")
    yield f"{name}, line {failure.stated}, {failure.language}{after}:"
    yield ""
    links = list(zip(failure.chain, failure.chain[1:], strict=False))
    for outer, cause in links[: MAX_LINKS - 1] + links[MAX_LINKS - 1 :][-1:]:
        yield f"- {outer.link} {shown_as_code(cause.title)} (line {cause.stated})"
    if root.frames:
        yield f"- raised at {shown_as_code(str(root.frames[0]))} (line {root.frames[0].number})"
    if failure.own and failure.own not in root.frames[:1]:
        place = f"{shown_as_code(str(failure.own))} (line {failure.own.number})"
        yield f"- nearest call of the product: {place}"
    calls = [frame for frame in failure.frames if frame.is_own][:MAX_FRAMES]
    if len(calls) > 1:
        path = " → ".join(
            str(frame.function or frame.file.rsplit("/", 1)[-1]) for frame in reversed(calls)
        )
        yield f"- calls of the product: {shown_as_code(path)}"


def claims_on(log: Log, found: Sequence[Trouble]) -> Iterator[dict[str, Any]]:
    """State each kind of error with the line of the log that carries it."""
    for each in found:
        times = "once" if len(each.numbers) == 1 else f"{len(each.numbers)} times"
        text = f"{shown(each.title)} stands {times} in {log.name}, {_when(log, each)}"
        yield _claim(log, f"{text}.", each.numbers[0])
        if each.failure and each.failure.cause:
            root = each.failure.chain[-1]
            yield _claim(
                log, f"At its root is {shown(root.title)} (line {root.stated}).", root.stated
            )
        if each.failure and (own := each.failure.own):
            yield _claim(log, f"The product's nearest call is {shown(str(own))}.", own.number)


def _claim(log: Log, text: str, number: int) -> dict[str, Any]:
    line = log.line(number)
    quote = line[:MAX_QUOTE_CHARS] if masked(line) == line else ""
    return {"text": text, "source": log.name, "quote": quote, "confidence": CONFIDENCE}


def _finding(log: Log, each: Trouble, is_pasted: bool) -> dict[str, Any]:
    times = f", {len(each.numbers)} times" if len(each.numbers) > 1 else ""
    severity = "critical" if each.level == "critical" else "high" if each.failure else "medium"
    place = {} if is_pasted else {"file": log.name, "line": each.numbers[0]}
    return {
        "severity": severity,
        "message": f"{shown(each.title)}{times}",
        **place,
        "suggestion": f"Begin at {shown(str(each.failure.own))}."
        if each.failure and each.failure.own
        else "",
        "confidence": CONFIDENCE,
    }


def _gaps(log: Log, count: int, shown_count: int) -> Iterator[str]:
    if not count:
        yield f"{log.name} holds no error; a log of the moment when it failed is needed"
        return
    yield (
        f"{log.name} tells what failed and where; why, and what to change, is to be judged from "
        "the code and the help documents"
    )
    if not any(entry.stamp for entry in log.entries):
        yield f"{log.name} names no times, so it is not known when it failed"
    if any(not each.error for failure in log.failures for each in failure.chain):
        yield f"A traceback of {log.name} is cut off: the line that names its error is missing"
    if count > shown_count:
        yield f"{count - shown_count} more kinds of errors in {log.name} are left out"


def _when(log: Log, each: Trouble) -> str:
    first, last = each.numbers[0], each.numbers[-1]
    begun, ended = log.stamp(first), log.stamp(last)
    if not begun:
        return f"line {first}"
    until = f" to {ended}" if ended != begun else ""
    return f"line {first}, {begun}{until}"


def _warning_before(log: Log, number: int) -> tuple[int, str] | None:
    warned = [e for e in log.entries if e.level == "warning" and e.number < number]
    return (warned[-1].number, warned[-1].message) if warned else None
