"""The answer without a synthesizer: what is known, what is missing, and whom to ask."""

from collections.abc import Iterable

from nodes.errors import is_model_failure
from nodes.synthesis.confidence import bound_confidence
from nodes.synthesis.evidence import SynthesisInput
from nodes.synthesis.remedy import name_remedy
from state import Answer, Report

MAX_MISSING = 8
"""Limit for the gaps in the text of an answer without results; its `gaps` list all."""
MAX_MISSING_CHARS = 600


def write_fallback_answer(evidence: SynthesisInput, contact: str) -> Answer:
    """Return an answer that lists the reports, and names whom to ask for the rest."""
    paragraphs = [
        f"**{report.task}**{_format_author(report)}: {describe_result(report)}"
        for report in evidence.reports
        if describe_result(report)
    ]
    remedy = name_remedy(evidence, contact)
    if not paragraphs:
        remedy = f"For an answer, {remedy}."
        paragraphs = [_describe_no_result(evidence), *_list_missing(evidence), remedy]
    elif evidence.missing:
        paragraphs.append(f"For what is missing, {remedy}.")
    else:
        paragraphs.append(f"No answer could be written from these reports; for one, {remedy}.")
    return Answer(
        text="\n\n".join(paragraphs),
        confidence=bound_confidence((), evidence.reports) if evidence.reports else 0,
    )


def has_results(reports: Iterable[Report]) -> bool:
    """Return whether any report contains something to write an answer from."""
    return any(report.output or report.claims or report.findings for report in reports)


def has_usable_result(report: Report) -> bool:
    """Return whether a report has a requested result, or a question to a human.

    The output of a failed worker is only the reason of its failure.
    """
    if report.status in ("completed", "escalated"):
        return True
    partial = report.escalation.partial if report.escalation else ""
    has_more = bool(report.output) and report.output != report.error
    return bool(report.claims or report.findings or partial or has_more)


def describe_result(report: Report) -> str:
    """Return the result of a report as text."""
    partial = report.escalation.partial if report.escalation else ""
    return report.output or partial or "; ".join(claim.text for claim in report.claims)


def _describe_no_result(evidence: SynthesisInput) -> str:
    """Return the reason for an empty answer: no task was completed, or nothing was found."""
    failed = [report.error or "" for report in evidence.reports if report.status == "failed"]
    if failed and all(map(is_model_failure, failed)):
        return "No task could be completed, as no model could be used."
    if all(report.status in ("failed", "skipped") for report in evidence.reports):
        return "No task could be completed."
    return "Nothing could be found out."


def _list_missing(evidence: SynthesisInput) -> list[str]:
    lines = [f"- {_shorten_gap(gap)}" for gap in evidence.missing[:MAX_MISSING]]
    more = len(evidence.missing) - len(lines)
    return ["\n".join([*lines, *([f"- and {more} more"] if more else [])])] if lines else []


def _format_author(report: Report) -> str:
    return "" if report.task == report.worker else f" ({report.worker})"


def _shorten_gap(gap: str) -> str:
    words = " ".join(gap.split())
    return words if len(words) <= MAX_MISSING_CHARS else f"{words[: MAX_MISSING_CHARS - 1]}…"
