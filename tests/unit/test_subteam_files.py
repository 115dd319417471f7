"""A team whose task had nothing to read says so to the team around it."""

from typing import Any, cast

import pytest

from nodes.execution.doer import Work
from nodes.execution.subteam import TeamDoer
from state import Context, Report
from tests.node_samples import make_worker_state
from tests.teams import make_team


@pytest.mark.parametrize(
    ("report", "lacks_file"),
    [
        (Report(status="failed", lacks_file=True), True),
        (Report(status="escalated", lacks_file=True), True),
        (Report(status="completed", lacks_file=True), False),
        (Report(status="failed"), False),
    ],
)
async def test_a_team_lacks_a_file_where_one_of_its_open_tasks_does(
    report: Report, lacks_file: bool
) -> None:
    unused = cast(Any, None)  # what runs the team, which only its results are asked about here
    worker = make_team().workers[0]
    work = Work(
        state=make_worker_state(), context=Context(), worker=worker, tier="fast", model=unused
    )
    team = TeamDoer(work=work, get_graph=unused, state={"results": {"A": report}})

    completed = await team.complete(Report(output="The team's answer."))

    assert completed.lacks_file is lacks_file
