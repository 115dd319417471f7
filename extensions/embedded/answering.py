"""Composes the answer from the reports: what was computed first, then passages, by task."""

from collections.abc import Mapping, Sequence
from functools import partial
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
    show = partial(_show, headings=_list_headings(done, values.headings) if has_several else {})
    parts += [part for report in computed if (part := show(report))]
    if unread:
        parts.append(f"**{say(language, 'passages')}**")
    parts += [show(report) for report in _list_new(unread)]
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


def _list_headings(reports: Sequence[Report], asked: Mapping[str, str]) -> dict[str, str]:
    """Return the heading of each report: the words of the request that it answers, else its id."""
    found = {
        each.task: asked.get(each.task, "") or format_heading(each.task or "Result")
        for each in reports
    }
    return {name: f"{text[:1].upper()}{text[1:]}" for name, text in found.items()}


def _show(report: Report, *, headings: Mapping[str, str]) -> str:
    """Return a report as a section; its own headings go one level down."""
    lines = report.output.splitlines()
    body = "\n".join(f"#{line}" if line.startswith("#") else line for line in lines).strip()
    if not body or report.task not in headings:
        return body
    return f"## {headings[report.task]}\n\n{body}"


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
