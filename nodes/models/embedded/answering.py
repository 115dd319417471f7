"""Composes the answer from the reports: first tables, then statements by task, with sources."""

import re
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage, HumanMessage

from nodes.limits.patterns import Pattern
from nodes.models.embedded.column_matching import COMPARING_WORDS
from nodes.models.embedded.prompt_reading import (
    list_claims,
    list_texts,
    parse_reports,
    read_section,
)
from nodes.models.embedded.table_reporting import is_ranking_sentence
from nodes.models.embedded.text_similarity import extract_words
from nodes.models.embedded.tool_calls import format_heading
from nodes.models.embedded.unanswered_parts import list_unanswered_parts
from nodes.models.embedded.uncomputed_parts import list_uncomputed_parts

INTRODUCTION = (
    "*Composed extractively by the built-in embedded model: no language model is configured. "
    "Sentences and figures are quoted from the sources.*"
)
MAX_CONFIDENCE = 75
MIN_SHARE_IN_LEAD = 0.8
"""Of a request's words, in the statement that answers it."""
_RANKING = Pattern(
    r"\b(?:most|least|fewest|best|worst|top|rank\w*|lead(?:s|ing)?|[a-z]{3,12}est)\b", re.IGNORECASE
)


def write_answer(messages: Sequence[BaseMessage]) -> dict[str, Any]:
    """Return the answer; its confidence is the mean of the known ones, failed reports count 0."""
    text = "\n".join(list_texts(messages, HumanMessage))
    reports = parse_reports(read_section(text, "results"))
    done = [report for report in reports if report.get("status") == "completed"]
    gaps = [line.removeprefix("- ") for line in read_section(text, "missing").splitlines() if line]
    named = "\n".join(gaps)
    failed = [report for report in reports if report not in done]
    gaps += [_describe_failure(report) for report in failed if str(report.get("task")) not in named]
    merged = {"findings": parse_reports(read_section(text, "findings"))}
    claims = [claim for report in done for claim in list_claims(report)]
    request = read_section(text, "request")
    lead = _choose_lead(request, done)
    parts = [
        part for report in sorted(done, key=_has_no_table) if (part := _format_report(report, lead))
    ]
    unanswered = list_unanswered_parts(request, [*done, merged])
    unanswered += list_uncomputed_parts(request, done)
    known = [int(report["confidence"]) for report in done if "confidence" in report]
    confidences = [*known, *(0 for _ in failed)]
    mean = sum(confidences) // max(1, len(confidences))
    return {
        "text": "\n\n".join(
            [INTRODUCTION, *filter(None, [lead]), *(parts or ["No task gave a result."])]
        ),
        "confidence": min(MAX_CONFIDENCE, mean) if confidences or not reports else None,
        "gaps": list(dict.fromkeys(gaps)),
        "unanswered": list(dict.fromkeys(unanswered)),
        "sources": list(dict.fromkeys(str(c["source"]) for c in claims if c.get("source"))),
    }


def _choose_lead(request: str, reports: Sequence[dict[str, Any]]) -> str:
    """Return the sentence that answers a request for a ranking; empty for other requests.

    It is a quoted statement if that has nearly all words of the request, else what a table says.
    """
    asked = set(extract_words(request)) - COMPARING_WORDS
    if not _RANKING.search(request) or not asked:
        return ""
    stated = [
        f"{claim['text']} ({claim['source']})"
        for report in reports
        for claim in list_claims(report)
        if claim.get("quote") and claim.get("source")
    ]
    best = max(stated, key=lambda text: len(asked & set(extract_words(text))), default="")
    if len(asked & set(extract_words(best))) >= MIN_SHARE_IN_LEAD * len(asked):
        return best
    heads = [str(report.get("output", "")).split("\n\n")[0] for report in reports]
    return next((head for head in heads if is_ranking_sentence(head)), "")


def _has_no_table(report: dict[str, Any]) -> bool:
    return "\n| --- |" not in str(report.get("output", ""))


def _format_report(report: dict[str, Any], lead: str = "") -> str:
    """Return a report as a section, without the lead of the answer."""
    output = str(report.get("output", ""))
    lines = (output.removeprefix(lead) if lead else output).splitlines()
    kept = [
        f"#{line}" if line.startswith("#") else line
        for line in lines
        if not line.startswith(INTRODUCTION)
    ]
    # Keep an empty line: text directly below a table would become a row.
    body = "\n".join(kept).strip()
    if not body:
        return ""
    sources = list(dict.fromkeys(str(c["source"]) for c in list_claims(report) if c.get("source")))
    if sources and not _has_no_table(report) and "\nSource: " not in body:
        body += f"\n\nSource: {', '.join(sources)}."
    return f"## {format_heading(str(report.get('task') or 'Result'))}\n\n{body}"


def _describe_failure(report: dict[str, Any]) -> str:
    escalation = report.get("escalation") or {}
    cause = escalation.get("message") or report.get("error") or "no result"
    return f"{report.get('task')} ({report.get('status')}): {cause}"
