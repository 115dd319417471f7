"""Which reports are not as planned."""

import pytest

from nodes.planning.unexpected import find_denied_terms
from state import Report, Task

NOTE = Task(id="note", worker="writer", description="Describe the bug, its line and its fix.")


def find_denied(output: str) -> frozenset[str]:
    return find_denied_terms(Report(task="code", worker="coder", output=output), [NOTE])


@pytest.mark.parametrize(
    "output",
    [
        "No bug found in the code.",
        "I searched for the bug in three files. There is no bug.",
        "The code doesn't contain the bug.",
    ],
)
def test_a_report_that_denies_what_the_next_task_builds_on_is_not_as_planned(output: str):
    assert find_denied(output) == {"bug"}


@pytest.mark.parametrize(
    "output",
    [
        "The bug is in line 40. Another bug is in line 52. Line 60 has no bug.",
        "The bug is in line 40; no test covers it.",
    ],
)
def test_a_report_that_describes_it_otherwise_is_as_planned(output: str):
    assert not find_denied(output)
