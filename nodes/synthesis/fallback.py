"""The answer without a synthesizer: what is known, what is missing, and whom to ask."""

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from nodes.errors import (
    CallTimedOut,
    EndpointDown,
    EndpointFailed,
    EndpointUnreachable,
    QuotaSpent,
    RateLimited,
    Unauthorized,
    is_model_failure,
)
from nodes.limits.stop_requests import STOPPED
from nodes.planning.skipping import lacks_file
from nodes.synthesis.evidence import SynthesisInput
from nodes.synthesis.reduction import bound_confidence
from nodes.text.phrases import say
from state import Answer, Report

MAX_MISSING = 8
"""Limit for the gaps in the text of an answer without results; its `gaps` list all."""
MAX_MISSING_CHARS = 600


def write_fallback_answer(evidence: SynthesisInput, contact: str, *, has_files: bool) -> Answer:
    """Return an answer that lists the reports, and names whom to ask for the rest."""
    is_unread = quotes_unread(evidence.reports)
    heading = say(evidence.language, "passages") if is_unread else ""
    usable = [each for each in evidence.reports if has_usable_result(each)]
    results = [(each, text) for each in usable if (text := describe_result(each))]
    paragraphs = [f"{_name_task(each)}{text}" if results[1:] else text for each, text in results]
    language = evidence.language
    remedy = name_remedy(evidence, contact, has_files=has_files)
    if not paragraphs:
        remedy = say(language, "for_an_answer", remedy=remedy)
        paragraphs = [_describe_no_result(evidence), *_list_missing(evidence), remedy]
    elif evidence.missing:
        paragraphs.append(say(language, "for_what_is_missing", remedy=remedy))
    else:
        paragraphs.append(say(language, "no_answer_written", remedy=remedy))
    text = "\n\n".join(paragraphs)
    sources = [claim.source for each, _ in results for claim in each.claims if claim.source]
    return Answer(
        text=text if heading in text else f"{heading}\n\n{text}",
        sources=tuple(dict.fromkeys(sources)),
        confidence=bound_confidence((), evidence.reports) if evidence.reports else 0,
    )


def _name_task(report: Report) -> str:
    worker = f" ({report.worker})" if report.task != report.worker else ""
    return f"**{report.task}**{worker}: "


def has_results(reports: Iterable[Report]) -> bool:
    """Return whether any report contains something to write an answer from.

    The reason why a task failed or was skipped is nothing of the kind.
    """
    return any(
        (report.output and report.output != report.error) or report.claims or report.findings
        for report in reports
    )


def quotes_unread(reports: Iterable[Report]) -> bool:
    """Return whether a complete report quotes passages that no language model has read."""
    return any(report.is_unread and report.status == "completed" for report in reports)


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
        return say(evidence.language, "no_model_usable")
    if all(report.status in ("failed", "skipped") for report in evidence.reports):
        return say(evidence.language, "none_completed")
    return say(evidence.language, "nothing_found_out")


def _list_missing(evidence: SynthesisInput) -> list[str]:
    lines = [f"- {_shorten_gap(gap)}" for gap in evidence.missing[:MAX_MISSING]]
    more = len(evidence.missing) - len(lines)
    if more:
        lines.append(f"- {say(evidence.language, 'more_gaps', count=more)}")
    return ["\n".join(lines)] if lines else []


def _shorten_gap(gap: str) -> str:
    words = " ".join(gap.split())
    return words if len(words) <= MAX_MISSING_CHARS else f"{words[: MAX_MISSING_CHARS - 1]}…"


_BY_CODE: Final = {
    EndpointUnreachable.code: "check_endpoint",
    EndpointDown.code: "check_endpoint",
    EndpointFailed.code: "check_endpoint",
    CallTimedOut.code: "wait_for_faster",
    RateLimited.code: "wait_for_calls",
    QuotaSpent.code: "add_quota",
    Unauthorized.code: "correct_key",
}
"""Keys of the phrases, by the code that begins the error of a task."""


def name_remedy(evidence: SynthesisInput, contact: str, *, has_files: bool = True) -> str:
    """Return what the user can do: allow more, repair the endpoint, add a file, or ask.

    What the user has stopped needs no one else.

    Args:
        contact: whom to ask, as the team says; empty if it does not.
    """
    word = partial(say, evidence.language)
    if not evidence.caps and _is_only_stopped(evidence.reports):
        return word("resume")
    ways = ", ".join(map(word, _list_ways_to_resume(evidence)))
    remedies = [word("repair_and_resume", ways=ways)] if ways else []
    if evidence.caps:
        resume, options = (*remedies, word("resume"))[0], word("and").join(evidence.caps)
        remedies = [word("with_larger", remedy=resume, options=options)]
        if evidence.is_only_capped:
            return remedies[0]
    if needs_file := any(map(lacks_file, evidence.reports)):
        remedies.append(word("ask_with_file"))
    if contact:
        remedies.append(word("ask_contact", contact=contact))
    elif not (ways or needs_file):
        alone = ["ask_in_its_words", "set_model"] if has_files else ["set_model"]
        remedies += map(word, ["ask_human"] if evidence.has_model else alone)
    return word("or").join(remedies)


def _is_only_stopped(reports: Iterable[Report]) -> bool:
    """Return whether a human has stopped every task that has failed, and there is one."""
    open_ends = [report for report in reports if report.status != "completed"]
    failed = [report for report in open_ends if report.status != "skipped"]
    is_stopped = any(report.error == STOPPED for report in open_ends)
    return is_stopped and all(report.error == STOPPED for report in failed)


def _list_ways_to_resume(evidence: SynthesisInput) -> Iterator[str]:
    """Yield the keys of how to repair what kept models from being used, each once."""
    codes = dict.fromkeys(
        (report.error or "").partition(":")[0]
        for report in evidence.reports
        if report.status == "failed"
    )
    yield from dict.fromkeys(_BY_CODE[code] for code in codes if code in _BY_CODE)
