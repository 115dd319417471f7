"""A person and the plan: accept, edit, reject; findings that revise it."""

import asyncio
import json
from time import monotonic
from typing import Any

import pytest
from langgraph.types import Command

from graph import arun
from graph.runs.trace import list_runs
from graph.topology.run_start import read_began_at
from tests.endpoint import ScriptedTask, script_tasks
from tests.runs import GIVEN, REQUEST, THREAD, Runs
from tests.teams import make_team

WORDS = "Write {}.md: name the three figures of part {} and the source of each."


def make_plan(*names: str, **edges: list[str]) -> dict[str, Any]:
    return {
        "goal": "Compare the parts.",
        "tasks": [
            {
                "id": name,
                "description": WORDS.format(name, name),
                "worker": "researcher",
                "depends_on": edges.get(name, []),
            }
            for name in names
        ],
    }


@pytest.fixture
def graph(runs: Runs):
    return runs.build_saved(approve_plan=True)


async def test_nothing_runs_before_the_plan_is_accepted(runs: Runs, graph):
    runs.script(*script_tasks({"A": (), "B": ("A",)}))

    asked = await graph.ainvoke(GIVEN, THREAD)
    calls_before = [call.schema for call in runs.requests]
    state = await graph.ainvoke(Command(resume="accept"), THREAD)

    (question,) = asked["__interrupt__"]
    assert [task["id"] for task in question.value["plan"]["tasks"]] == ["A", "B"]
    assert question.value["estimate"]["model_calls"] == 4
    assert "**Expected:** 4 model calls" in question.value["description"]
    assert calls_before == ["Plan"]
    assert state["status"] == "done"
    assert len(runs.requests) == 4


async def test_an_edit_keeps_to_the_runs_own_cap_of_tasks(runs: Runs, graph):
    runs.script(*script_tasks({"A": ()}))
    await graph.ainvoke(GIVEN, THREAD, context={"max_tasks": 1})

    asked = await graph.ainvoke(
        Command(resume=make_plan("A", "B", "C")), THREAD, context={"max_tasks": 1}
    )

    assert "at most 1" in str(asked["__interrupt__"][0].value["problems"])


async def test_a_rejected_plan_is_made_again_from_the_reason(runs: Runs, graph):
    answers = {"Plan": [make_plan("A"), make_plan("B")]}
    runs.script(answers=answers)
    await graph.ainvoke(GIVEN, THREAD)

    asked = await graph.ainvoke(Command(resume="reject: part B, not A"), THREAD)
    state = await graph.ainvoke(Command(resume="yes"), THREAD)

    assert "part B, not A" in str(runs.select_calls(schema="Plan")[1].body)
    assert asked["__interrupt__"][0].value["plan"]["version"] == 2
    assert sorted(state["results"]) == ["B"]


async def test_a_saved_run_waits_for_a_human_and_takes_the_answer(runs: Runs):
    runs.script(*script_tasks({"A": ()}))
    options: Any = {"settings": runs.settings, "thread": "one"}

    waiting = await arun(REQUEST, team=make_team(), context={"approve_plan": True}, **options)
    listed = list_runs(runs.settings)[0]
    unanswered = await runs.resume("one")
    outcome = await runs.resume("one", answer=json.dumps(make_plan("A", "B")))

    assert (waiting.status, waiting.exit_code) == ("needs_input", 7)
    assert unanswered.questions == waiting.questions and unanswered.usage == waiting.usage
    assert (listed["status"], listed["questions"]) == ("needs_input", waiting.questions)
    assert "cut off" not in outcome.usage.by_mechanism
    assert outcome.status == "done"
    assert sorted(outcome.results) == ["A", "B"]
    kinds = [event["kind"] for event in runs.load_events()]
    assert kinds.count("plan_approved") == 1
    assert list_runs(runs.settings)[0]["edited_tasks"] == ["B"]


async def test_plans_are_numbered_within_their_request(runs: Runs):
    runs.script(answers={"Plan": [make_plan("A"), make_plan("A"), make_plan("B")]})
    options: Any = {"settings": runs.settings, "thread": "one", "context": {"approve_plan": True}}
    await arun(REQUEST, team=make_team(), **options)
    done = await runs.resume("one", answer="accept")

    first = await arun("And the next part?", team=make_team(), **options)
    second = await runs.resume("one", answer="reject: part B, not A")

    assert "edited_tasks" not in list_runs(runs.settings)[0] and done.status == "done"
    assert first.questions[0]["plan"]["version"] == 2 and "number" not in first.questions[0]
    assert second.questions[0]["plan"]["version"] == 3 and second.questions[0]["number"] == 2


async def test_a_resumed_graph_continues_its_clock(runs: Runs):
    runs.script(*script_tasks({"A": ()}), latency_s={"Plan": 0.3})
    graph = runs.build_saved(approve_plan=True)
    config: Any = {"configurable": {"thread_id": "one"}}

    await graph.ainvoke(GIVEN, config)
    began_at = read_began_at(await graph.aget_state(config))
    state = await graph.ainvoke(
        Command(resume="accept"), config, output_keys=graph.stream_channels_list
    )

    assert began_at and read_began_at(await graph.aget_state(config)) == began_at
    assert state["results"]["A"].started_s >= state["planned_s"] >= 0.3
    assert state["timing"].wall_s >= state["timing"].critical_path_s >= 0.3


async def test_the_work_before_a_question_counts_and_the_wait_for_its_answer_does_not(runs: Runs):
    asking = {"reason": "ambiguous_input", "message": "Which year?", "partial": ""}
    asked = {"status": "escalated", "escalation": asking}
    done = {"status": "completed", "output": "42"}
    task = ScriptedTask(id="A", report=[asked, done])
    runs.script(task, latency_s={"Report": 0.4})
    graph, config = runs.build_saved(), THREAD
    given: Any = {"context": {"ask_human": True}, "output_keys": graph.stream_channels_list}

    began = monotonic()
    await graph.ainvoke(GIVEN, config, **given)
    await asyncio.sleep(1.0)
    state = await graph.ainvoke(Command(resume="2024"), config, **given)

    timing = state["timing"]
    assert timing.wall_s - timing.planning_s >= 0.8
    assert monotonic() - began - timing.wall_s >= 1.0
