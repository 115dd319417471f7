"""A person and the plan: accept, edit, reject; findings that revise it."""

import json
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graph import arun, build_supervisor
from graph.runs.run_store import build_strict_serializer
from graph.runs.runner import aresume
from graph.runs.trace import list_runs, load_trace
from graph.settings import Settings
from tests.endpoint import Endpoint, Scenario, ScriptedTask, script_tasks
from tests.teams import make_team

REQUEST = {"request": "Compare the parts and say which one is best."}
WORDS = "Write {}.md: name the three figures of part {} and the source of each."


def make_thread_config() -> Any:
    return {"configurable": {"thread_id": "one"}}


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
def graph(settings: Settings):
    saver = InMemorySaver(serde=build_strict_serializer())
    return build_supervisor(make_team(approve_plan=True), settings=settings, checkpointer=saver)


async def test_nothing_runs_before_the_plan_is_accepted(endpoint: Endpoint, graph) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": (), "B": ("A",)})))

    asked = await graph.ainvoke(REQUEST, make_thread_config())
    calls_before = [call.schema for call in endpoint.requests]
    state = await graph.ainvoke(Command(resume="accept"), make_thread_config())

    (question,) = asked["__interrupt__"]
    assert [task["id"] for task in question.value["plan"]["tasks"]] == ["A", "B"]
    assert question.value["estimate"]["model_calls"] == 4
    assert "**Expected:** 4 model calls" in question.value["description"]
    assert calls_before == ["Plan"]
    assert state["status"] == "done"
    assert len(endpoint.requests) == 4


async def test_an_edited_plan_is_the_one_that_runs(endpoint: Endpoint, graph) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": (), "B": ("A",)})))
    await graph.ainvoke(REQUEST, make_thread_config())

    state = await graph.ainvoke(
        Command(resume={"plan": make_plan("A", "C", C=["A"])}), make_thread_config()
    )

    assert sorted(state["results"]) == ["A", "C"]
    assert [version.version for version in state["plans"]] == [1, 2]


async def test_an_edit_keeps_to_the_runs_own_cap_of_tasks(endpoint: Endpoint, graph) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()})))
    await graph.ainvoke(REQUEST, make_thread_config(), context={"max_tasks": 1})

    asked = await graph.ainvoke(
        Command(resume=make_plan("A", "B", "C")), make_thread_config(), context={"max_tasks": 1}
    )

    assert "at most 1" in str(asked["__interrupt__"][0].value["problems"])


async def test_a_rejected_plan_is_made_again_from_the_reason(endpoint: Endpoint, graph) -> None:
    answers = {"Plan": [make_plan("A"), make_plan("B")]}
    endpoint.load_scenario(Scenario(answers=answers))
    await graph.ainvoke(REQUEST, make_thread_config())

    asked = await graph.ainvoke(Command(resume="reject: part B, not A"), make_thread_config())
    state = await graph.ainvoke(Command(resume="yes"), make_thread_config())

    assert "part B, not A" in str(endpoint.select_calls(schema="Plan")[1].body)
    assert asked["__interrupt__"][0].value["plan"]["version"] == 2
    assert sorted(state["results"]) == ["B"]


async def test_a_human_who_answers_nonsense_three_times_is_asked_each_time_and_spends_nothing(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()})))
    options: Any = {"settings": settings, "thread": "one"}
    context = {"approve_plan": True}
    await arun(REQUEST["request"], team=make_team(), context=context, **options)
    spent = len(endpoint.requests)

    asked = [
        await aresume("one", answer=nonsense, settings=settings)
        for nonsense in ("qwertz", "{]", '{"plan": 7}')
    ]
    spent_on_nonsense = len(endpoint.requests) - spent
    outcome = await aresume("one", answer="accept", settings=settings)

    assert [(each.status, each.exit_code) for each in asked] == [("needs_input", 7)] * 3
    assert all(each.questions[0]["problems"] for each in asked)
    assert spent_on_nonsense == 0 and outcome.status == "done"


async def test_a_saved_run_waits_for_a_human_and_takes_the_answer(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()})))
    options: Any = {"settings": settings, "thread": "one"}

    waiting = await arun(
        REQUEST["request"], team=make_team(), context={"approve_plan": True}, **options
    )
    listed = list_runs(settings)[0]
    unanswered = await aresume("one", settings=settings)
    outcome = await aresume("one", answer=json.dumps(make_plan("A", "B")), settings=settings)

    assert (waiting.status, waiting.exit_code) == ("needs_input", 7)
    assert unanswered.questions == waiting.questions and unanswered.usage == waiting.usage
    assert (listed["status"], listed["questions"]) == ("needs_input", waiting.questions)
    assert "cut off" not in outcome.usage.by_mechanism
    assert outcome.status == "done"
    assert sorted(outcome.results) == ["A", "B"]
    kinds = [event["kind"] for event in load_trace("one", settings)["events"]]
    assert kinds.count("plan_approved") == 1


OPS = make_team("code", "data", "comms", "ops")

SENSELESS = {"PlanReview": {"makes_sense": False, "reason": "No bug: this is a config issue."}}


async def test_a_finding_that_upsets_the_plan_dispatches_another_worker(
    endpoint: Endpoint, settings: Settings
) -> None:
    def task(name: str, worker: str, *needs: str) -> dict[str, Any]:
        return {
            "id": name,
            "description": WORDS.format(name, name),
            "worker": worker,
            "depends_on": list(needs),
        }

    first = [task("find", "code"), task("count", "data"), task("draft", "comms", "find")]
    second = [task("find", "code"), task("mend", "ops", "find"), task("note", "comms", "mend")]
    plans = [{"goal": "Find the bug.", "tasks": tasks} for tasks in (first, second)]
    verdict = {"output": "no bug here", "found_as_expected": False}
    endpoint.load_scenario(
        Scenario(
            tasks=(ScriptedTask(id="find", worker="code", report=verdict, latency_s=0.5),),
            answers={"Plan": plans, **SENSELESS},
        )
    )

    outcome = await arun("Find the bug, draft a note.", team=OPS, settings=settings, thread="one")

    trace = load_trace("one", settings)
    (revised,) = [event for event in trace["events"] if event["kind"] == "plan_revised"]
    assert outcome.status == "done"
    assert [call.task for call in endpoint.select_calls(schema="Report")].count("find") == 1
    assert not endpoint.select_calls(task="draft")
    assert outcome.results["mend"].worker == "ops"
    assert "config issue" in str(endpoint.select_calls(schema="Plan")[1].body)
    assert revised["difference"] == {"added": ["mend", "note"], "removed": ["draft"], "changed": []}
    assert outcome.results["count"].status == "completed"


async def test_a_resumed_graph_continues_its_clock(endpoint: Endpoint, settings: Settings) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()}), latency_s={"Plan": 0.3}))
    graph = build_supervisor(
        make_team(approve_plan=True),
        settings=settings,
        checkpointer=InMemorySaver(serde=build_strict_serializer()),
    )
    config: Any = {"configurable": {"thread_id": "one"}}

    await graph.ainvoke(REQUEST, config)
    state = await graph.ainvoke(
        Command(resume="accept"), config, output_keys=graph.stream_channels_list
    )

    assert state["results"]["A"].started_s >= state["planned_s"] >= 0.3
    assert state["timing"].wall_s >= state["timing"].critical_path_s >= 0.3
