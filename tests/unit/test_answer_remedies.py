"""What an answer without results advises, by the causes of the failures."""

import pytest

from nodes.limits.stop_requests import STOPPED
from nodes.synthesis.evidence import SynthesisInput
from nodes.synthesis.fallback import name_remedy
from state import Report

DESK = "research desk"
CHECK = "check that the model's endpoint works and that its address is right, and resume the run"


def make_input(
    *errors: str, lacks_file: bool = False, caps: tuple[str, ...] = ()
) -> SynthesisInput:
    reports = [
        Report(task=f"t{number}", status="failed", error=error, lacks_file=lacks_file)
        for number, error in enumerate(errors)
    ]
    return SynthesisInput(reports=reports, prompt_reports=reports, missing=[], ledger={}, caps=caps)


@pytest.mark.parametrize(
    ("errors", "remedy"),
    [
        (["ENDPOINT_DOWN: circuit open"], CHECK),
        (["ENDPOINT_DOWN: open", "ENDPOINT_FAILED: 503"], CHECK),
        (["UNAUTHORIZED: 401"], "correct the model's key, and resume the run"),
        (["QUOTA_SPENT: 429"], "add to the quota of the model's account, and resume the run"),
        (
            ["RATE_LIMITED: 429"],
            "wait until the model's endpoint accepts more calls, and resume the run",
        ),
        ([STOPPED], "resume the run"),
        (["the report is empty"], "ask a person who can do this"),
    ],
)
def test_a_failure_is_remedied_by_its_cause(errors: list[str], remedy: str):
    assert name_remedy(make_input(*errors), "") == remedy


def test_whom_to_ask_is_named_beside_the_remedy():
    assert name_remedy(make_input("ENDPOINT_DOWN: open"), DESK) == f"{CHECK}, or ask {DESK}"


def test_where_there_was_nothing_to_read_a_file_is_asked_for():
    found = name_remedy(make_input("nothing to search", lacks_file=True), "")

    assert found == "ask again with a file to read"


def test_a_cap_and_another_failure_are_both_named():
    found = name_remedy(make_input("the report is empty", caps=("--deadline",)), "")

    assert found == "resume the run with a larger --deadline, or ask a person who can do this"
