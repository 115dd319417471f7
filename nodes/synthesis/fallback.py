"""The answer without a synthesizer: what is known, what is missing, and whom to ask."""

from collections.abc import Iterable

from nodes.synthesis.evidence import SynthesisInput
from state import Answer, Report

DEFAULT_CONTACT = "a person who can do this"
MAX_MISSING = 8
"""Gaps told in the words of an answer that has no others; all are among its gaps."""
MAX_MISSING_CHARS = 160


def write_fallback_answer(matter: SynthesisInput, contact: str) -> Answer:
    """Return the reports one after another, and whom to ask for the rest."""
    told = [
        f"**{report.task}**{_format_author(report)}: {describe_result(report)}"
        for report in matter.reports
        if describe_result(report)
    ]
    whom = contact or DEFAULT_CONTACT
    if not told:
        told = [_describe_no_result(matter), *_list_missing(matter), f"For an answer, ask {whom}."]
    elif matter.missing:
        told.append(f"For what is missing, ask {whom}.")
    else:
        told.append(f"No answer could be written from these reports; for one, ask {whom}.")
    return Answer(
        text="\n\n".join(told),
        confidence=min((report.confidence for report in matter.reports), default=0),
    )


def has_results(reports: Iterable[Report]) -> bool:
    """Return whether any report holds something that an answer could be written from."""
    return any(report.output or report.claims or report.findings for report in reports)


def has_usable_result(report: Report) -> bool:
    """Return whether a task gave anything that was asked for, or a question to a person.

    What a worker that failed wrote is the reason.
    """
    if report.status in ("completed", "escalated"):
        return True
    partial = report.escalation.partial if report.escalation else ""
    is_more = bool(report.output) and report.output != report.error
    return bool(report.claims or report.findings or partial or is_more)


def describe_result(report: Report) -> str:
    """Return what a report has found, in words."""
    partial = report.escalation.partial if report.escalation else ""
    return report.output or partial or "; ".join(claim.text for claim in report.claims)


def _describe_no_result(matter: SynthesisInput) -> str:
    """Tell that nobody could look from that nobody found anything."""
    if all(report.status in ("failed", "skipped") for report in matter.reports):
        return "No task could be completed."
    return "Nothing could be found out."


def _list_missing(matter: SynthesisInput) -> list[str]:
    lines = [f"- {_shorten_gap(gap)}" for gap in matter.missing[:MAX_MISSING]]
    more = len(matter.missing) - len(lines)
    return ["\n".join([*lines, *([f"- and {more} more"] if more else [])])] if lines else []


def _format_author(report: Report) -> str:
    return "" if report.task == report.worker else f" ({report.worker})"


def _shorten_gap(gap: str) -> str:
    words = " ".join(gap.split())
    return words if len(words) <= MAX_MISSING_CHARS else f"{words[: MAX_MISSING_CHARS - 1]}…"
