"""A team whose task had nothing to read says so to the team around it."""

from typing import Any, cast

import pytest

from nodes.execution.subteam import SubteamRun
from state import Report


@pytest.mark.parametrize(
    ("report", "lacks_file"),
    [
        (Report(status="failed", lacks_file=True), True),
        (Report(status="escalated", lacks_file=True), True),
        (Report(status="completed", lacks_file=True), False),
        (Report(status="failed"), False),
    ],
)
def test_a_team_lacks_a_file_where_one_of_its_open_tasks_does(report: Report, lacks_file: bool):
    unused = cast(Any, None)  # what runs the team, which only its results are asked about here
    team = SubteamRun(
        graph=unused,
        handoff=unused,
        config={},
        context=unused,
        timeout_s=1.0,
        max_steps=1,
        origin=unused,
        state={"results": {"A": report}},
    )

    assert team.lacks_file is lacks_file
