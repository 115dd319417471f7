"""The compiled graph against the endpoint: planning, dispatch, recovery, answer."""

import warnings
from typing import Any

import pytest

from graph import build_supervisor
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Worker
from state import Report
from tests.endpoint import Endpoint, Scenario, ScriptedTask, script_tasks
from tests.runs import GIVEN, REQUEST, THREAD, Runs
from tests.teams import make_team

DIAMOND = {"A": (), "B": ("A",), "C": ("A",), "D": ("B", "C")}


async def test_a_request_becomes_a_plan_parallel_work_and_one_answer(
    runs: Runs, graph: SupervisorGraph
):
    runs.script(*script_tasks(DIAMOND))

    state = await graph.ainvoke(GIVEN, THREAD)

    assert state["status"] == "done"
    assert {name: report.status for name, report in state["results"].items()} == dict.fromkeys(
        DIAMOND, "completed"
    )
    assert state["answer"].sources == ("A.md", "B.md", "C.md", "D.md")
    assert state["messages"][-1].text.startswith(state["answer"].text)
    assert state["timing"].critical_path[0] == "supervisor"
    assert len(runs.requests) == state["usage"].model_calls == len(DIAMOND) + 2
    assert state["usage"].by_worker["researcher"].model_calls == len(DIAMOND)
    assert set(state["usage"].by_tier) == {"strong", "standard"}
    report: Report = state["results"]["A"]
    assert report.usage.input_tokens > 0 and report.usage.output_tokens > 0
    assert report.usage.models == ("openai:gpt-5-mini",)
    assert report.ended_s >= report.started_s > 0


async def test_a_task_starts_when_its_own_last_dependency_ends(runs: Runs, graph: SupervisorGraph):
    latency = {"A": 0.02, "C": 0.6}
    runs.script(*script_tasks({"A": (), "B": ("A",), "C": (), "D": ("C",)}, latency_s=latency))

    await graph.ainvoke(GIVEN, THREAD)

    (b,), (c,) = runs.select_calls(task="B"), runs.select_calls(task="C")
    assert c.ended_s is not None
    assert b.ended_s is not None and b.ended_s < c.ended_s


async def test_a_worker_sees_its_handoff_and_nothing_else(runs: Runs, graph: SupervisorGraph):
    secret = {**GIVEN, "materials": {"a.md": "ALPHA", "b.md": "BETA"}}
    tasks = (
        ScriptedTask(id="A", materials=("a.md",), report={"output": "found 41"}),
        ScriptedTask(id="B", materials=("b.md",), report={"output": "found 43"}),
        ScriptedTask(id="C", depends_on=("A",)),
    )
    runs.script(*tasks)

    await graph.ainvoke(secret, THREAD)

    (a,), (c,) = runs.select_calls(task="A"), runs.select_calls(task="C")
    assert "ALPHA" in str(a.body) and "BETA" not in str(a.body)
    assert REQUEST not in str(a.body)
    assert "found 41" in str(c.body) and "found 43" not in str(c.body)
    assert "analyst" not in str(a.body)


async def test_a_fork_does_not_meet_the_first_runs_results(runs: Runs, graph: SupervisorGraph):
    first, second = {"output": "first"}, {"output": "second"}
    tasks = (ScriptedTask(id="A", report=[first, second]), ScriptedTask(id="B", depends_on=("A",)))
    runs.script(*tasks)
    await graph.ainvoke(GIVEN, THREAD)
    history = [snapshot async for snapshot in graph.aget_state_history(THREAD)]
    planned = next(snapshot for snapshot in history if "researcher" in snapshot.next)

    state = await graph.ainvoke(None, await graph.aupdate_state(planned.config, None))

    assert state["results"]["A"].output == "second"
    assert "second" in str(runs.select_calls(task="B")[1].body)
    assert "first" not in str(runs.select_calls(task="B")[1].body["messages"])


async def test_each_task_has_the_result_of_its_own_worker(runs: Runs, graph: SupervisorGraph):
    names = [f"t{index}" for index in range(12)]
    latency = {name: 0.005 * (11 - index) for index, name in enumerate(names)}
    runs.script(*script_tasks(dict.fromkeys(names, ()), latency_s=latency))

    state = await graph.ainvoke(GIVEN, THREAD)

    assert all(f"Result of {name}:" in state["results"][name].output for name in names)


async def test_the_synthesis_reads_the_same_whatever_order_results_came_in(
    runs: Runs, graph: SupervisorGraph
):
    edges: dict[str, tuple[str, ...]] = {"A": (), "B": (), "C": ()}
    seen = set()
    for order in ("ABC", "CAB", "BCA"):
        latency = {name: 0.05 * order.index(name) for name in edges}
        runs.script(*script_tasks(edges, latency_s=latency))
        await graph.ainvoke(GIVEN, {"configurable": {"thread_id": order}})
        seen.add(str(runs.select_calls(schema="Answer")[-1].body["messages"]))

    assert len(seen) == 1


@pytest.mark.needs("tools")
async def test_a_worker_has_ten_turns_and_then_must_report(runs: Runs):
    analyst = Worker(
        name="analyst", description="Computes.", instructions="Compute.", tools=("calculate",)
    )
    calls = tuple(("calculate", {"expression": f"{n} + 1"}) for n in range(30))
    runs.script(ScriptedTask(id="A", worker="analyst", tool_calls=calls))
    graph = runs.build_graph(make_team().model_copy(update={"workers": (analyst,)}))

    state = await graph.ainvoke(GIVEN)

    turns = runs.select_calls(task="A")
    assert len(turns) == 10
    assert (turns[-1].tools, turns[-1].schema) == ((), "Report")
    assert state["results"]["A"].status == "completed"


def test_synchronous_python_can_invoke_stream_and_batch():
    invoke_stream_and_batch()


async def test_a_notebooks_running_loop_can_do_so_too():
    invoke_stream_and_batch()


def invoke_stream_and_batch() -> None:
    with Endpoint(Scenario(tasks=script_tasks(DIAMOND))).run_in_thread() as served:
        settings = Settings(openai_base_url=served.base_url, openai_api_key="sk-test")
        graph = build_supervisor(make_team(), settings=settings)

        invoked = graph.invoke(GIVEN)
        streamed = list(graph.stream(GIVEN, stream_mode="updates"))
        batch = graph.batch([GIVEN, GIVEN])

    assert invoked["status"] == "done"
    assert [next(iter(part)) for part in streamed][-1] == "synthesizer"
    assert [state["status"] for state in batch] == ["done", "done"]


async def test_what_a_worker_is_sent_does_not_grow_with_the_plan(
    runs: Runs, graph: SupervisorGraph
):
    sizes = []
    for count in (3, 12):
        runs.script(*script_tasks({f"t{n}": () for n in range(count)}))
        await graph.ainvoke(GIVEN, {"configurable": {"thread_id": str(count)}})
        sizes.append(runs.select_calls(task="t0")[-1].body_bytes)

    assert sizes[0] == sizes[1]


async def test_a_run_that_nothing_saves_warns_of_nothing(runs: Runs):
    runs.script(*script_tasks(DIAMOND))
    graph = runs.build_graph()
    # So LangGraph's server begins a run without a thread.
    stateless: Any = {"configurable": {"thread_id": "one", "__pregel_checkpointer": None}}

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = await graph.ainvoke(GIVEN, stateless, durability="async")

    assert state["status"] == "done"


async def test_each_field_of_a_form_says_what_it_is_for(graph: SupervisorGraph):
    for schema in (graph.get_input_jsonschema(), graph.get_context_jsonschema() or {}):
        assert all(field.get("description") for field in schema["properties"].values())
