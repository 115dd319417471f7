"""Trends in words: a table of series, every value with its source, and what cannot be said."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.patterns import Pattern
from nodes.tools.fhir.datatypes import plain_number
from nodes.tools.fhir.record import Record
from nodes.tools.fhir.resources import Observation, Range
from nodes.tools.fhir.series import MEANINGS, Series, Sorted, Value, sort_out
from nodes.tools.replies import Reply, counted, fitted, listed

SIZES = (60, 40, 25, 15)
"""Values shown in all, fewer where they are too long together; of each series at least the last."""
HEAD = (
    "| test (LOINC) | first | last | direction | own range of the last | flag |",
    "|---" * 6 + "|",
)
OUT = {
    "below": "below its own range",
    "above": "above its own range",
    "within": "within its own range",
}


def trends(record: Record, codes: str = "") -> dict[str, Any]:
    """Tell every series of a record, or those of some LOINC codes.

    Raises:
        ToolRefused: there are no values of these codes.
    """
    found = sort_out(record.all(Observation))
    wanted = [code for code in Pattern(r"[\s,;]+").split(codes) if code]
    if wanted:
        known = sorted({series.code for series in found.series})
        found.series = [series for series in found.series if series.code in wanted]
        if not found.series:
            raise ToolRefused(
                f"{record.source} has no dated values of {listed(wanted)}; it has "
                f"{listed(known) or 'none at all'}"
            )
    return fitted(lambda most: _told(record, found, most), SIZES)


def _told(record: Record, found: Sorted, most: int) -> Reply:
    reply = Reply(lines=[record.heading, ""])
    shown = found.series[:most]
    if shown:
        reply.lines += [*HEAD, *map(_row, shown), "", "### Every value", ""]
    else:
        reply.lines.append("No dated value with a LOINC code is there to follow.")
    for series in shown:
        _tell(reply, record, series, max(1, most // len(shown)))
    if found.in_words:
        _tell_words(reply, record, found, most)
    reply.gaps += _gaps(record, found)
    if unshown := found.series[most:]:
        names = listed(f"{series.title} ({series.code})" for series in unshown)
        reply.gaps.append(f"Not shown, for length: {names}; ask for them by code.")
    reply.gaps += record.gaps(["Observation"])
    return reply


def _tell(reply: Reply, record: Record, series: Series, most: int) -> None:
    values = series.values[-most:]
    earlier = len(series.values) - len(values)
    told = [f"{earlier} earlier not shown"] if earlier else []
    for value in values:
        flag = f" {'/'.join(value.flags)}" if value.flags else ""
        told.append(f"{value.quantity.shown}{flag} on {_when(value)} ({value.name})")
        reply.claim(_statement(series, value), record.cite(value.name))
    reply.lines.append(f"- {series.title}: {'; '.join(told)}")
    for value in values:
        _flagged(reply, record, series, value)
    hidden = sum(value.is_critical for value in series.values[: -len(values)])
    if hidden:
        reply.gaps.append(f"{series.title}: {counted(hidden, 'earlier critical value')} not shown.")


def _flagged(reply: Reply, record: Record, series: Series, value: Value) -> None:
    """Put into findings what is out of range now, what was critical, and what does not agree."""
    said, source = _statement(series, value), record.cite(value.name)
    if value.is_out and (value is series.last or value.is_critical):
        reply.finding("high" if value.is_critical else "medium", said, source)
    if value.contradicts_itself:
        reply.finding(
            "medium",
            f"Interpretation and range do not agree: {said}.",
            source,
            "See the laboratory's report.",
        )


def _tell_words(reply: Reply, record: Record, found: Sorted, most: int) -> None:
    reply.lines += ["", "### Results in words", ""]
    for name, observation, told in found.in_words[:most]:
        when = observation.when.day if observation.when else "not dated"
        reply.lines.append(f"- {told}, {when} ({name})")
        reply.claim(f"{told}, {when}", record.cite(name))
    if len(found.in_words) > most:
        reply.gaps.append(f"{len(found.in_words) - most} more results in words are not shown.")


def _row(series: Series) -> str:
    first, last = series.values[0], series.last
    cells = (
        f"{series.title} ({series.code})",
        f"{first.quantity.shown} on {_when(first)}" if first is not last else "",
        f"{last.quantity.shown} on {_when(last)}",
        series.direction,
        _range(last.range) if last.range else "",
        _flag(last),
    )
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _statement(series: Series, value: Value) -> str:
    parts = [f"{series.title} (LOINC {series.code}) {value.quantity.shown} on {_when(value)}"]
    if value.side and value.range:
        parts.append(f"{OUT[value.side]} ({_range(value.range)})")
    if value.flags:
        parts.append(f"interpretation {_meaning(value)}")
    if value.is_preliminary:
        parts.append("preliminary")
    return ", ".join(parts)


def _flag(value: Value) -> str:
    side = OUT[value.side].split()[0] if value.side else ""
    return "; ".join(filter(None, (side, _meaning(value), "preliminary" * value.is_preliminary)))


def _meaning(value: Value) -> str:
    return ", ".join(
        f"{flag} ({MEANINGS[flag]})" if flag in MEANINGS else flag for flag in value.flags
    )


def _range(span: Range) -> str:
    """Write a range out, such as `4.0 to 5.6 %`; in its own words where it has no numbers."""
    low = plain_number(span.low.value) if span.low else ""
    high = span.high.shown if span.high else ""
    if low and high:
        return f"{low} to {high}"
    if low and span.low:
        return f"at least {span.low.shown}"
    return f"at most {high}" if high else span.text


def _when(value: Value) -> str:
    """Give the day, and the time where the resource has one."""
    text = value.when.text
    return text[:16].replace("T", " ") if "T" in text else text


def _gaps(record: Record, found: Sorted) -> Iterator[str]:
    if not (found.series or found.in_words):
        yield f"{record.source} records no values; that does not mean that nothing was measured."
    titles = Counter(series.code for series in found.series)
    for code in (code for code, number in titles.items() if number > 1):
        same = [series for series in found.series if series.code == code]
        units = listed(series.measure or "none" for series in same)
        yield f"{same[0].title} comes in different units ({units}), which are not compared."
    bare = [series.title for series in found.series if not _has_yardstick(series.last)]
    if bare:
        yield f"No reference range and no interpretation: {listed(dict.fromkeys(bare))}."
    unheld = [series.title for series in found.series if _is_unheld(series.last)]
    if unheld:
        yield (
            "Not held against their range, which is for some people only, in another unit or in "
            f"words: {listed(unheld)}."
        )
    named = {
        "Without a date, so in no trend": found.undated,
        "Without a LOINC code, so in no trend": found.uncoded,
        "Without a result": found.empty,
        "Cancelled": found.cancelled,
    }
    for why, names in named.items():
        if names:
            yield f"{why}: {listed(names)}."
    if any(len(series.values) > 1 for series in found.series):
        yield (
            "A direction compares the last value with the first; whether a change matters is for "
            "a clinician to judge."
        )


def _has_yardstick(value: Value) -> bool:
    return bool(value.ranges or value.interpretation)


def _is_unheld(value: Value) -> bool:
    return bool(value.ranges) and not value.side and not value.quantity.comparator
