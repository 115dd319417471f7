"""What an answer advises where a cap ended the run."""

import pytest

from graph import arun
from graph.settings import Settings
from state import Context
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.teams import make_team

pytestmark = pytest.mark.slow

REQUEST = "Compare the parts and say which one is best."
FAILED = ScriptedTask(id="a", report={"status": "failed", "output": "Torn."})


async def test_where_the_step_cap_ended_a_run_a_larger_one_is_advised(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"a": (), "b": ()})))

    outcome = await arun(REQUEST, team=make_team(), settings=settings, context=Context(max_steps=0))

    assert outcome.answer is not None
    assert outcome.answer.text.endswith("resume the run with a larger --max-steps.")
    assert all("(--max-steps)" in gap for gap in outcome.answer.gaps)


async def test_where_a_task_failed_too_a_human_is_advised_as_well(
    endpoint: Endpoint, settings: Settings
) -> None:
    dead = Fault(kind="server_error", schema="Answer")
    endpoint.load_scenario(
        Scenario(tasks=(FAILED, ScriptedTask(id="b", depends_on=("a",))), faults=(dead,))
    )

    outcome = await arun(
        REQUEST, team=make_team(max_attempts=1), settings=settings, context=Context(max_steps=9)
    )

    assert outcome.answer is not None
    assert outcome.answer.text.endswith("ask a person who can do this.")
    assert "larger" not in outcome.answer.text
