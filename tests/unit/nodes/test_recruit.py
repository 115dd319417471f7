"""The node that makes a specialist for one task."""

from collections.abc import Mapping
from typing import Any

import pytest

from nodes.errors import EndpointUnreachable
from nodes.recruit import after_recruit, recruit
from state import Recruit, WorkerState
from supervisor_worker.testing.fake_models import FakeCatalog, make_models
from tests.node_runs import NodeRun, list_payers
from tests.node_samples import make_worker_state
from tests.teams import make_team

TEAM = make_team(recruit=True, grant=("calculate", "read_document"), recruit_tier="fast")
MADE = Recruit(role="actuary", instructions="Compute.", tools=("calculate", "run_code"))


async def describe_tools(names: tuple[str, ...]) -> Mapping[str, str]:
    return {name: f"{name}: a tool" for name in names}


async def run_recruit(models: FakeCatalog, run: NodeRun | None = None) -> Any:
    options: dict[str, Any] = {"describe_tools": describe_tools}
    return await (run or NodeRun()).call(
        recruit, make_worker_state(), team=TEAM, models=models, **options
    )


async def test_a_specialist_gets_only_the_tools_that_were_granted():
    run = NodeRun()

    update = await run_recruit(make_models(Recruit=MADE), run)

    assert update["recruit"].role == "actuary" and update["recruit"].tools == ("calculate",)
    assert run.list_events("recruited")[0]["refused"] == ["run_code"]


async def test_it_is_charged_to_the_supervisor_on_the_recruiting_tier():
    update = await run_recruit(make_models(Recruit=MADE))

    assert list_payers(update) == [("supervisor", "fast", 1)]


@pytest.mark.parametrize(
    ("reply", "calls"), [("I would rather not.", 1), (EndpointUnreachable("no answer"), 0)]
)
async def test_without_a_usable_reply_the_task_is_done_with_all_granted_tools(
    reply: Any, calls: int
):
    run = NodeRun()

    update = await run_recruit(make_models(Recruit=reply), run)

    assert update["recruit"].tools == TEAM.grant
    assert run.list_events("recruited")[0]["remark"]
    assert list_payers(update) == [("supervisor", "fast", calls)]


def test_a_task_that_has_its_inputs_does_not_wait_for_them_again():
    assert after_recruit(make_worker_state()) == "act"
    assert after_recruit(WorkerState(task=make_worker_state()["task"])) == "await_inputs"
