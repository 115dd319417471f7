"""What the user can do for what an answer lacks, by the causes of the failures."""

from collections.abc import Iterable, Iterator
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
from state import Report

DEFAULT_CONTACT: Final = "a person who can do this"
_CHECK: Final = "check that the model's endpoint works and that its address is right"
_BY_CODE: Final = {
    EndpointUnreachable.code: _CHECK,
    EndpointDown.code: _CHECK,
    EndpointFailed.code: _CHECK,
    CallTimedOut.code: "wait until the model's endpoint is faster, or name another model",
    RateLimited.code: "wait until the model's endpoint accepts more calls",
    QuotaSpent.code: "add to the quota of the model's account",
    Unauthorized.code: "correct the model's key",
}
"""By the code that begins the error of a task."""


def name_remedy(evidence: SynthesisInput, contact: str) -> str:
    """Return what the user can do: allow more, repair the endpoint, add a file, or ask.

    What the user has stopped needs no one else.

    Args:
        contact: whom to ask, as the team says; empty if it does not.
    """
    if not evidence.caps and _is_only_stopped(evidence.reports):
        return "resume the run"
    ways = [*_list_ways_to_resume(evidence)]
    remedies = [f"{', '.join(ways)}, and resume the run"] if ways else []
    if evidence.caps:
        larger = f"with a larger {' and '.join(evidence.caps)}"
        remedies = [f"{remedies[0]} {larger}" if ways else f"resume the run {larger}"]
        if evidence.is_only_capped:
            return remedies[0]
    if needs_file := any(map(lacks_file, evidence.reports)):
        remedies.append("ask again with a file to read")
    if contact or not (ways or needs_file):
        remedies.append(f"ask {contact or DEFAULT_CONTACT}")
    return ", or ".join(remedies)


def _is_only_stopped(reports: Iterable[Report]) -> bool:
    """Return whether a human has stopped every task that has failed, and there is one."""
    open_ends = [report for report in reports if report.status != "completed"]
    failed = [report for report in open_ends if report.status != "skipped"]
    is_stopped = any(report.error == STOPPED for report in open_ends)
    return is_stopped and all(report.error == STOPPED for report in failed)


def _list_ways_to_resume(evidence: SynthesisInput) -> Iterator[str]:
    """Yield how to repair what kept models from being used, each once."""
    codes = dict.fromkeys(
        (report.error or "").partition(":")[0]
        for report in evidence.reports
        if report.status == "failed"
    )
    yield from dict.fromkeys(_BY_CODE[code] for code in codes if code in _BY_CODE)
