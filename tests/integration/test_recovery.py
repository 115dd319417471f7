"""The recovery ladder in the compiled graph: rungs, escalations, questions, the cascade."""

from typing import Any

import pytest
from langgraph.types import Command

from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Team
from supervisor_worker.testing.endpoint.scenario import Json
from tests.endpoint import Endpoint, Scenario, ScriptedTask, script_tasks
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


async def test_the_fallback_works_with_its_own_instructions_and_tools(runs: Runs):
    fields: dict[str, Any] = {"ladder": ("reassign",), "fallback": "analyst"}
    made = make_crew(**fields)
    analyst = made.workers[1].model_copy(
        update={"instructions": "Count twice.", "tools": ("calculate",)}
    )
    made = made.model_copy(update={"workers": (made.workers[0], analyst, made.workers[2])})
    tasks = (
        ScriptedTask(id="A", report=[FAILED, GOOD]),
        ScriptedTask(id="B", depends_on=("A",)),
    )
    runs.script(*tasks)

    outcome = await runs.run(team=made, thread="one")

    first, second = runs.select_calls(schema="Report", task="A")
    events = runs.load_events()
    (moved,) = [event for event in events if event["kind"] == "reassigned"]
    assert outcome.status == "done"
    assert outcome.results["A"].worker == "analyst" and outcome.results["A"].attempts == 2
    assert "calculate" in second.tools and "calculate" not in first.tools
    assert "Count twice." in str(second.body) and "Count twice." not in str(first.body)
    assert (moved["task"], moved["from"], moved["to"]) == ("A", "researcher", "analyst")
    assert moved["reason"] == "the figures are not there"
    assert outcome.usage.by_worker["analyst"].model_calls == 1
    assert outcome.usage.by_worker["researcher"].model_calls == 2


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


async def test_an_always_failing_worker_shows_each_rung_and_spares_its_siblings(runs: Runs):
    siblings = {f"s{number}": () for number in range(4)}
    tasks = (ScriptedTask(id="A", report=FAILED), *script_tasks(siblings))
    runs.script(*tasks)

    crew = make_crew(fallback="analyst")
    outcome = await runs.run(team=crew, thread="one")

    events = runs.load_events()
    started = [
        (event["attempt"], event["rung"], event["tier"])
        for event in events
        if event["kind"] == "task_started" and event["task"] == "A"
    ]
    assert started == [
        (1, "", "standard"),
        (2, "refine", "standard"),
        (3, "tier", "strong"),
        (4, "reassign", "standard"),
    ]
    assert [event["attempt"] for event in events if event["kind"] == "refined"] == [1]
    assert outcome.exit_code == 3
    assert outcome.results["A"].attempts == 4
    assert all(outcome.results[name].status == "completed" for name in siblings)
    assert outcome.answer is not None
    assert any("the figures are not there" in gap for gap in outcome.answer.gaps)


async def test_a_task_on_the_ladder_delays_no_sibling(runs: Runs):
    chains: dict[str, tuple[str, ...]] = {}
    for number in range(8):
        chains |= {f"s{number}": (), f"s{number}x": (f"s{number}",)}
    tasks = (
        ScriptedTask(id="A", report=FAILED, latency_s=0.5),
        *script_tasks(chains, latency_s=0.05),
        ScriptedTask(id="Z", depends_on=({"task": "A", "required": False},)),
    )
    runs.script(*tasks)
    fields: dict[str, Any] = {"ladder": ("refine", "reassign"), "max_attempts": 3}
    graph = build_graph(runs, fallback="analyst", **fields)

    state = await graph.ainvoke(GIVEN, THREAD)

    ladder = runs.select_calls(schema="Report", task="A")
    ends = [call.ended_s for name in chains for call in runs.select_calls(task=name)]
    assert len(ladder) == 3 and state["results"]["A"].worker == "analyst"
    assert len(ends) == len(chains)
    assert all(end is not None and end < ladder[2].began_s for end in ends)


CASCADE: dict[str, tuple[Json, ...]] = {
    "T1": (),
    "T2": (),
    "T3": ("T1",),
    "T4": ("T2",),
    "T5": ("T3", "T4"),
}


def script_cascade(*, is_required: bool) -> Scenario:
    """Script the five-task example: T1 fails for good; T5's need of T3 is a policy."""
    edges = {**CASCADE, "T5": ({"task": "T3", "required": is_required}, "T4")}
    tasks = [
        ScriptedTask(id=name, depends_on=needed, report=FAILED if name == "T1" else None)
        for name, needed in edges.items()
    ]
    return Scenario(tasks=tuple(tasks))


@pytest.mark.parametrize(("is_required", "last"), [(True, "skipped"), (False, "completed")])
async def test_the_five_task_cascade_ends_by_the_policy_of_its_last_task(
    runs: Runs, is_required: bool, last: str
):
    runs.load_scenario(script_cascade(is_required=is_required))

    graph = build_graph(runs, max_recursion=0)
    state = await graph.ainvoke(GIVEN, THREAD)

    results = state["results"]
    assert {name: report.status for name, report in results.items()} == {
        "T1": "failed",
        "T2": "completed",
        "T3": "skipped",
        "T4": "completed",
        "T5": last,
    }
    assert results["T3"].error == "needs T1, which failed"
    assert state["status"] == "partial"
    gaps = "\n".join(state["answer"].gaps)
    assert "T1 failed: the figures are not there" in gaps
    assert "T3 was skipped: needs T1, which failed" in gaps
    if is_required:
        assert results["T5"].error == "needs T3, which was skipped"
    else:
        (call,) = runs.select_calls(task="T5")
        assert "needs T1, which failed" in str(call.body)


HUMAN = ("refine", "human")
WHICH_YEAR = make_escalation("ambiguous_input", "Which year?", "2024: 5")


async def test_a_human_answers_one_task_and_its_dependants_follow(runs: Runs):
    tasks = (
        ScriptedTask(id="A", report=[WHICH_YEAR, GOOD]),
        ScriptedTask(id="B", latency_s=0.3),
        ScriptedTask(id="C", depends_on=("A",)),
        ScriptedTask(id="D", depends_on=("B", "C")),
        ScriptedTask(id="E", depends_on=("B",)),
    )
    runs.script(*tasks)
    graph = build_graph(runs, ladder=HUMAN)

    asked = await graph.ainvoke(GIVEN, THREAD)
    done_before = {call.task for call in runs.select_calls(schema="Report")}
    state = await graph.ainvoke(Command(resume="2023, of course"), THREAD)

    (question,) = asked["__interrupt__"]
    said = {"kind": "question", "task": "A", "worker": "researcher", "partial": "2024: 5"}
    assert question.value.items() >= {**said, "question": "Which year?"}.items()
    assert done_before == {"A", "B", "E"}
    assert state["status"] == "done"
    assert state["results"]["A"].attempts == 2
    result = {call.task for call in runs.requests if "2023, of course" in str(call.body)}
    assert result == {"A"}
    assert 'question="Which year?"' in str(runs.select_calls(task="A")[1].body)
    assert [len(runs.select_calls(schema="Report", task=name)) for name in "ABCDE"] == [
        2,
        1,
        1,
        1,
        1,
    ]


async def test_each_escalation_is_in_the_trace(runs: Runs):
    asked = make_escalation("confidence_too_low", "Two sources disagree.")
    runs.script(ScriptedTask(id="A", report=[asked, GOOD]))

    await runs.run(team=make_crew(), thread="one")

    events = runs.load_events()
    (escalation,) = [event for event in events if event["kind"] == "escalated"]
    assert (escalation["task"], escalation["worker"]) == ("A", "researcher")
    assert (escalation["reason"], escalation["message"]) == (
        "confidence_too_low",
        "Two sources disagree.",
    )
