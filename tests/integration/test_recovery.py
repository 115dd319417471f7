"""The recovery ladder in the compiled graph: rungs, escalations, questions, the cascade."""

from typing import Any

import pytest

from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Team
from tests.endpoint import Endpoint, ScriptedTask
from tests.runs import GIVEN, THREAD, Runs
from tests.teams import make_team

FAILED = {"status": "failed", "output": "the figures are not there"}
GOOD = {"status": "completed", "output": "42"}


def make_escalation(reason: str, message: str, partial: str = "") -> dict[str, Any]:
    asked = {"reason": reason, "message": message, "partial": partial}
    return {"status": "escalated", "output": "", "escalation": asked}


def make_crew(*, fallback: str = "", **fields: Any) -> Team:
    """Make the test team; `fallback` is the researcher's."""
    made = make_team(**fields)
    first = made.workers[0].model_copy(update={"fallback": fallback})
    return made.model_copy(update={"workers": (first, *made.workers[1:])})


def build_graph(runs: Runs, **fields: Any) -> SupervisorGraph:
    return runs.build_saved(make_crew(**fields))


def list_models(endpoint: Endpoint, task: str) -> list[str]:
    return [call.model for call in endpoint.select_calls(schema="Report", task=task)]


async def test_a_stronger_tier_follows_new_words(runs: Runs):
    runs.script(ScriptedTask(id="A", report=[FAILED, FAILED, GOOD]))

    state = await build_graph(runs).ainvoke(GIVEN, THREAD)

    third = runs.select_calls(schema="Report")[2]
    assert list_models(runs.endpoint, "A") == ["gpt-5-mini", "gpt-5-mini", "gpt-5"]
    assert "the figures are not there" in str(third.body)
    assert len(runs.select_calls(schema="Refinement")) == 1
    assert state["status"] == "done"
    assert state["usage"].by_tier["strong"].model_calls == 2


@pytest.mark.parametrize(
    ("reason", "words"),
    [("confidence_too_low", "Two sources disagree."), ("ambiguous_input", "Which year?")],
)
async def test_a_worker_that_always_escalates_ends_with_its_partial_result(
    runs: Runs, reason: str, words: str
):
    asked = make_escalation(reason, words, "2024: 5")
    runs.script(ScriptedTask(id="A", report=asked), ScriptedTask(id="B"))

    state = await build_graph(runs).ainvoke(GIVEN, THREAD)

    report = state["results"]["A"]
    assert (report.status, report.attempts, report.error) == ("escalated", 2, None)
    assert report.escalation.partial == "2024: 5"
    assert state["status"] == "partial"
    assert any(words in gap for gap in state["answer"].gaps)
