"""Plans by rule that change: after a finding, or after a rejection with a reason."""

from typing import Any

import pytest

from extensions.embedded.worker_fit import can_use_reason
from nodes.schemas.handoff import RevisionValues
from state import Plan, Report
from tests.unit.extensions.embedded.embedded_runs import make_plan, make_team

FIRST: dict[str, Any] = {
    "goal": "Find the leak",
    "tasks": [
        {"id": "look", "description": "Find the leak in the cellar pipe.", "worker": "plumber"},
        {"id": "count", "description": "Count litres lost by the meter.", "worker": "clerk"},
        {"id": "tell", "description": "Write of the leak.", "worker": "writer",
         "depends_on": ["look", "count"]},
    ],
}  # fmt: skip
CARDS = {
    "plumber": "Mends pipes and taps.",
    "clerk": "Counts litres and money.",
    "roofer": "Mends a roof and its slates.",
    "writer": "Writes letters.",
}
TEAM = make_team(CARDS)


def revise_plan(reason: str, *done: str, is_rejection: bool = False) -> Plan:
    results = [Report(task=name, worker="plumber", output="Done.") for name in done]
    revision = RevisionValues(
        Plan.model_validate(FIRST), results, (), reason, is_rejection=is_rejection
    )
    return make_plan("Find the leak and write of it", team=TEAM, revision=revision)


def test_a_finding_adds_a_task_for_the_worker_that_it_speaks_of() -> None:
    plan = revise_plan("look: the rain comes through the roof", "look", "count")

    edges = {task.id: [edge.task for edge in task.depends_on] for task in plan.tasks}
    assert edges == {"look": [], "count": [], "tell": ["look", "count", "roofer"], "roofer": []}


@pytest.mark.parametrize(
    ("reason", "done"),
    [
        ("look: qwertz", ["look"]),
        ("look: the pipes are sound", ["look"]),
        ("look: the roof", ["look", "count", "tell"]),
    ],
)
def test_a_finding_that_speaks_of_nobody_new_or_comes_last_leaves_the_plan(
    reason: str, done: list[str]
) -> None:
    plan = revise_plan(reason, *done)

    assert [task.id for task in plan.tasks] == ["look", "count", "tell"]


@pytest.mark.parametrize(
    ("reason", "workers"),
    [
        ("Use the clerk alone", ["clerk"]),
        ("only the plumber and the clerk, please", ["plumber", "clerk"]),
        ("without the writer", ["plumber", "clerk"]),
        ("Ask the roofer, not the plumber", ["roofer"]),
    ],
)
def test_a_reason_that_names_workers_leaves_exactly_these(reason: str, workers: list[str]) -> None:
    assert can_use_reason(TEAM, reason)
    plan = revise_plan(reason, is_rejection=True)

    assert [task.worker for task in plan.tasks] == workers


@pytest.mark.parametrize("reason", ["", "Make it shorter", "too expensive"])
def test_a_reason_that_names_no_worker_cannot_be_used(reason: str) -> None:
    assert not can_use_reason(TEAM, reason)
