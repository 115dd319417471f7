"""What the user can do for what an answer lacks, by the causes of the failures."""

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
)
from nodes.limits.stop_requests import STOPPED
from nodes.planning.skipping import lacks_file
from nodes.synthesis.evidence import SynthesisInput
from nodes.text.phrases import say
from state import Report

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


def name_remedy(evidence: SynthesisInput, contact: str) -> str:
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
        remedies.append(word("ask_human" if evidence.has_model else "ask_in_its_words"))
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
