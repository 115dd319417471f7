"""Composes the answer from the reports: what was computed first, then passages, by task."""

from collections.abc import Sequence
from typing import Any

from nodes.schemas.beside import AnswerValues
from nodes.text.phrases import say
from state import Report


def write_answer(values: AnswerValues) -> dict[str, Any]:
    """Return the fields of the answer; no model judged it, so it has no confidence."""
    language = values.language
    done = [report for report in values.reports if report.status == "completed"]
    computed = [report for report in done if not report.is_unread]
    unread = [report for report in done if report.is_unread]
    has_several = len(done) > 1
    parts = [say(language, "no_model")]
    parts += [part for report in computed if (part := _show(report, has_headings=has_several))]
    if unread:
        parts.append(f"**{say(language, 'passages')}**")
    parts += [_show(report, has_headings=has_several) for report in _list_new(unread)]
    if not done:
        parts.append(say(language, "none_completed"))
    gaps = list(values.missing)
    named = "\n".join(gaps)
    failed = [report for report in values.reports if report not in done]
    gaps += [_describe_failure(report) for report in failed if report.task not in named]
    claims = [claim for report in done for claim in report.claims]
    return {
        "text": "\n\n".join(filter(None, parts)),
        "gaps": list(dict.fromkeys(gaps)),
        "sources": list(dict.fromkeys(claim.source for claim in claims if claim.source)),
    }


def format_heading(identifier: str) -> str:
    """Return a task's id as a heading."""
    text = identifier.replace("_", " ").replace("-", " ").strip()
    return text[:1].upper() + text[1:]


def _show(report: Report, *, has_headings: bool) -> str:
    """Return a report as a section; its own headings go one level down."""
    lines = report.output.splitlines()
    body = "\n".join(f"#{line}" if line.startswith("#") else line for line in lines).strip()
    if not body or not has_headings:
        return body
    return f"## {format_heading(report.task or 'Result')}\n\n{body}"


def _list_new(reports: Sequence[Report]) -> list[Report]:
    """Return the reports that quote a passage which no report before them quotes."""
    seen: set[tuple[str, str]] = set()
    kept = []
    for report in reports:
        quoted = {(claim.source, claim.text) for claim in report.claims}
        if not quoted <= seen or not quoted:
            kept.append(report)
        seen |= quoted
    return kept


def _describe_failure(report: Report) -> str:
    escalation = report.escalation
    cause = (escalation.message if escalation else "") or report.error or "no result"
    return f"{report.task}: {cause}"
