"""Failures in the compiled graph: refused plans, failed tasks, faults of the endpoint, caps."""

import pytest

from graph import build_supervisor
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Example
from state import Plan, Task
from tests.endpoint import Fault, ScriptedTask, script_tasks
from tests.integration.test_graph import DIAMOND
from tests.runs import GIVEN, THREAD, Runs
from tests.teams import make_team


async def test_a_plan_that_stays_invalid_is_replaced_by_rule_and_the_answer_says_why(
    runs: Runs, graph: SupervisorGraph
):
    cycle = {
        "goal": "g",
        "tasks": [
            {"id": "A", "description": "x", "worker": "analyst", "depends_on": ["B"]},
            {"id": "B", "description": "x", "worker": "analyst", "depends_on": ["A"]},
        ],
    }
    runs.script(answers={"Plan": cycle})

    state = await graph.ainvoke(GIVEN, THREAD)

    assert len(runs.select_calls(schema="Plan")) == 3
    assert state["status"] == "partial" and state["plan"].is_by_rule
    assert "the plan was made by rule" in state["answer"].gaps[0]
    assert "cycle" in state["answer"].gaps[0]
    assert state["usage"].model_calls == len(runs.requests)


@pytest.mark.parametrize(
    ("caps", "cap"),
    [({"max_tasks": 3}, "raise max_tasks, which is 3,"), ({"max_depth": 2}, "raise max_depth")],
)
async def test_a_plan_over_a_cap_of_the_team_names_the_cap_to_raise(
    runs: Runs, caps: dict[str, int], cap: str
):
    runs.script(*script_tasks(DIAMOND))

    state = await runs.build_graph(make_team(**caps)).ainvoke(GIVEN)

    assert cap in state["answer"].gaps[0] and "other words" not in state["answer"].gaps[0]


async def test_a_plan_that_comes_again_is_asked_of_another_model_and_without_examples(runs: Runs):
    runs.script(answers={"Plan": {"goal": "g", "tasks": []}})
    plan = Plan(goal="g", tasks=(Task(id="A", description="Find it.", worker="writer"),))
    team = make_team(examples=(Example(request="Compare the old parts.", plan=plan),))

    await runs.build_graph(team).ainvoke(GIVEN)

    first, second, third = runs.select_calls(schema="Plan")
    assert "Compare the old parts." in str(first.body)
    assert all("Compare the old parts." not in str(call.body) for call in (second, third))
    assert [call.model for call in (first, second, third)] == ["gpt-5", "gpt-5", "gpt-5-mini"]


async def test_failures_on_every_rung_end_a_task_and_spare_its_siblings(runs: Runs):
    graph = runs.build_graph(make_team(max_recursion=0))
    failed = {"status": "failed", "output": "the figures are not there"}
    tasks = (
        ScriptedTask(id="A", report=failed),
        ScriptedTask(id="B"),
        ScriptedTask(id="C", depends_on=("A",)),
        ScriptedTask(id="D", depends_on=("B",)),
        ScriptedTask(id="E", depends_on=("D", {"task": "A", "required": False})),
    )
    runs.script(*tasks)

    state = await graph.ainvoke(GIVEN, THREAD)

    assert {name: r.status for name, r in state["results"].items()} == {
        "A": "failed",
        "B": "completed",
        "C": "skipped",
        "D": "completed",
        "E": "completed",
    }
    assert state["results"]["A"].attempts == 4
    assert state["results"]["C"].error == "needs A, which failed"
    assert state["status"] == "partial"
    assert any("A failed" in gap for gap in state["answer"].gaps)
    assert "the figures are not there" in str(runs.select_calls(task="E")[0].body)


async def test_the_step_cap_ends_in_an_answer_that_names_what_is_missing(
    runs: Runs, graph: SupervisorGraph
):
    runs.script(*script_tasks({"A": (), "B": ("A",), "C": ("B",), "D": ("C",)}))

    state = await graph.ainvoke(GIVEN, THREAD, context={"max_steps": 2})

    assert sorted(state["results"]) == ["A", "B"]
    assert state["status"] == "partial"
    assert [gap[:17] for gap in state["answer"].gaps] == ["C was not run bef", "D was not run bef"]


async def test_a_worker_that_exceeds_its_time_fails_alone(runs: Runs):
    slow = make_team("researcher", "analyst")
    limits = slow.workers[0].limits.model_copy(update={"timeout_s": 0.2})
    workers = (slow.workers[0].model_copy(update={"limits": limits}), slow.workers[1])
    tasks = (ScriptedTask(id="A", latency_s=20.0), ScriptedTask(id="B", worker="analyst"))
    runs.script(*tasks)
    graph = runs.build_graph(slow.model_copy(update={"workers": workers, "max_attempts": 1}))

    state = await graph.ainvoke(GIVEN)

    assert state["results"]["A"].error == "timed out after 0.2 s, its limit"
    assert state["results"]["B"].status == "completed"


async def test_a_worker_that_always_escalates_ends_with_its_partial_result(
    runs: Runs, graph: SupervisorGraph
):
    escalation = {"reason": "ambiguous_input", "message": "Which year?", "partial": "2024: 5"}
    asked = {"status": "escalated", "output": "", "escalation": escalation}
    runs.script(ScriptedTask(id="A", report=asked), ScriptedTask(id="B"))

    state = await graph.ainvoke(GIVEN, THREAD)

    report = state["results"]["A"]
    assert (report.status, report.attempts, report.error) == ("escalated", 2, None)
    assert report.escalation.partial == "2024: 5"
    assert state["status"] == "partial"
    assert any("Which year?" in gap for gap in state["answer"].gaps)


@pytest.mark.slow
async def test_a_deadline_ends_in_an_answer(runs: Runs, graph: SupervisorGraph):
    runs.script(*script_tasks({"A": (), "B": ("A",)}, latency_s={"B": 60.0}))

    state = await graph.ainvoke(GIVEN, THREAD, context={"deadline_s": 4.0})

    assert state["status"] == "partial"
    assert state["results"]["A"].status == "completed"
    assert state["answer"].gaps


async def test_a_stream_that_is_cut_is_asked_for_again_and_never_taken_for_an_answer(runs: Runs):
    cut = Fault(kind="cut_stream", task="B", nth=(1,))
    runs.script(*script_tasks(DIAMOND), faults=(cut,))
    graph = build_supervisor(
        make_team(), settings=runs.settings.model_copy(update={"stream": True})
    )

    state = await graph.ainvoke(GIVEN)

    assert state["results"]["B"].output.startswith("Result of B")
    assert len(runs.select_calls(task="B")) == 2
