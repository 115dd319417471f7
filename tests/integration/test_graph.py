"""The compiled graph against the endpoint: planning, dispatch, recovery, answer."""

import asyncio
import warnings
from collections.abc import AsyncIterator
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.checkpoint.memory import InMemorySaver

from graph import build_supervisor
from graph.runs.run_store import build_strict_serializer
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import ModelError, PlanInvalid, RequestInvalid, SettingsInvalid
from nodes.schemas.team import Worker
from state import Report, RequestInput
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.teams import make_team

REQUEST: RequestInput = {"request": "Compare the parts and say which one is best."}
DIAMOND = {"A": (), "B": ("A",), "C": ("A",), "D": ("B", "C")}


@pytest.fixture
async def graph(settings: Settings) -> AsyncIterator[SupervisorGraph]:
    saver = InMemorySaver(serde=build_strict_serializer())
    yield build_supervisor(make_team(), settings=settings, checkpointer=saver)


def make_thread_config(name: str = "one") -> Any:
    return {"configurable": {"thread_id": name}}


async def test_a_request_becomes_a_plan_parallel_work_and_one_answer(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks(DIAMOND)))

    state = await graph.ainvoke(REQUEST, make_thread_config())

    assert state["status"] == "done"
    assert {name: report.status for name, report in state["results"].items()} == dict.fromkeys(
        DIAMOND, "completed"
    )
    assert state["answer"].sources == ("A.md", "B.md", "C.md", "D.md")
    assert state["messages"][-1].text == state["answer"].text
    assert state["timing"].critical_path[0] == "supervisor"


async def test_a_run_costs_one_call_a_task_and_two(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks(DIAMOND)))

    state = await graph.ainvoke(REQUEST, make_thread_config())

    assert len(endpoint.requests) == len(DIAMOND) + 2
    assert state["usage"].model_calls == len(DIAMOND) + 2
    assert state["usage"].by_worker["researcher"].model_calls == len(DIAMOND)
    assert set(state["usage"].by_tier) == {"strong", "standard"}


async def test_a_task_starts_when_its_own_last_dependency_ends(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    latency = {"A": 0.02, "C": 0.6}
    endpoint.load_scenario(
        Scenario(
            tasks=script_tasks({"A": (), "B": ("A",), "C": (), "D": ("C",)}, latency_s=latency)
        )
    )

    await graph.ainvoke(REQUEST, make_thread_config())

    (b,), (c,) = endpoint.select_calls(task="B"), endpoint.select_calls(task="C")
    assert c.ended_s is not None
    assert b.ended_s is not None and b.ended_s < c.ended_s


async def test_a_worker_sees_its_handoff_and_nothing_else(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    secret = {**REQUEST, "materials": {"a.md": "ALPHA", "b.md": "BETA"}}
    tasks = (
        ScriptedTask(id="A", materials=("a.md",), report={"output": "found 41"}),
        ScriptedTask(id="B", materials=("b.md",), report={"output": "found 43"}),
        ScriptedTask(id="C", depends_on=("A",)),
    )
    endpoint.load_scenario(Scenario(tasks=tasks))

    await graph.ainvoke(secret, make_thread_config())

    (a,), (c,) = endpoint.select_calls(task="A"), endpoint.select_calls(task="C")
    assert "ALPHA" in str(a.body) and "BETA" not in str(a.body)
    assert REQUEST["request"] not in str(a.body)
    assert "found 41" in str(c.body) and "found 43" not in str(c.body)
    assert "analyst" not in str(a.body)


async def test_a_refused_plan_is_repaired_with_its_problems(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    scenario = Scenario(tasks=script_tasks(DIAMOND))
    bad = {"goal": "g", "tasks": [{"id": "A", "description": "Analyze the data", "worker": "cook"}]}
    endpoint.load_scenario(
        Scenario(tasks=script_tasks(DIAMOND), answers={"Plan": [bad, scenario.build_plan()]})
    )

    state = await graph.ainvoke(REQUEST, make_thread_config())

    first, second = endpoint.select_calls(schema="Plan")
    assert state["status"] == "done"
    assert "cook" in str(second.body["messages"][-1])
    assert "Analyze the data" in str(second.body["messages"][-2])
    assert len(first.body["messages"]) == 2


async def test_a_plan_that_stays_invalid_ends_the_run_with_its_reason(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    cycle = {
        "goal": "g",
        "tasks": [
            {"id": "A", "description": "x", "worker": "analyst", "depends_on": ["B"]},
            {"id": "B", "description": "x", "worker": "analyst", "depends_on": ["A"]},
        ],
    }
    endpoint.load_scenario(Scenario(answers={"Plan": cycle}))

    with pytest.raises(PlanInvalid, match="cycle"):
        await graph.ainvoke(REQUEST, make_thread_config())

    assert len(endpoint.requests) == 3


@pytest.mark.parametrize(
    ("caps", "cap"),
    [({"max_tasks": 3}, "raise max_tasks, which is 3,"), ({"max_depth": 2}, "raise max_depth")],
)
async def test_a_plan_over_a_cap_of_the_team_names_the_cap_to_raise(
    endpoint: Endpoint, settings: Settings, caps: dict[str, int], cap: str
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks(DIAMOND)))

    with pytest.raises(PlanInvalid) as refused:
        await build_supervisor(make_team(**caps), settings=settings).ainvoke(REQUEST)

    assert cap in refused.value.next and "other words" not in refused.value.next


@pytest.mark.parametrize("given", [{}, {"request": "  \n"}, {"messages": []}])
async def test_an_empty_request_costs_no_call(
    endpoint: Endpoint, graph: SupervisorGraph, given: Any
) -> None:
    with pytest.raises(RequestInvalid, match="empty request"):
        await graph.ainvoke(given, make_thread_config())

    assert not endpoint.requests


async def test_a_failed_task_is_refined_from_its_error(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    empty = {"status": "completed", "output": ""}
    good = {"status": "completed", "output": "42"}
    endpoint.load_scenario(Scenario(tasks=(ScriptedTask(id="A", report=[empty, good]),)))

    state = await graph.ainvoke(REQUEST, make_thread_config())

    (refinement,) = endpoint.select_calls(schema="Refinement")
    assert "empty" in str(refinement.body)
    assert state["results"]["A"].attempts == 2
    assert state["results"]["A"].output == "42"
    assert "naming each figure" in str(endpoint.select_calls(schema="Report")[1].body)
    assert state["status"] == "done"


async def test_three_failures_end_a_task_and_spare_its_siblings(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    failed = {"status": "failed", "output": "the figures are not there"}
    tasks = (
        ScriptedTask(id="A", report=failed),
        ScriptedTask(id="B"),
        ScriptedTask(id="C", depends_on=("A",)),
        ScriptedTask(id="D", depends_on=("B",)),
        ScriptedTask(id="E", depends_on=("D", {"task": "A", "required": False})),
    )
    endpoint.load_scenario(Scenario(tasks=tasks))

    state = await graph.ainvoke(REQUEST, make_thread_config())

    assert {name: r.status for name, r in state["results"].items()} == {
        "A": "failed",
        "B": "completed",
        "C": "skipped",
        "D": "completed",
        "E": "completed",
    }
    assert state["results"]["A"].attempts == 3
    assert state["results"]["C"].error == "needs A, which failed"
    assert state["status"] == "partial"
    assert any("A failed" in gap for gap in state["answer"].gaps)
    assert "the figures are not there" in str(endpoint.select_calls(task="E")[0].body)


async def test_the_step_cap_ends_in_an_answer_that_names_what_is_missing(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    endpoint.load_scenario(
        Scenario(tasks=script_tasks({"A": (), "B": ("A",), "C": ("B",), "D": ("C",)}))
    )

    state = await graph.ainvoke(REQUEST, make_thread_config(), context={"max_steps": 2})

    assert sorted(state["results"]) == ["A", "B"]
    assert state["status"] == "partial"
    assert [gap[:17] for gap in state["answer"].gaps] == ["C was not run bef", "D was not run bef"]


async def test_a_transient_fault_does_not_reach_the_task(
    endpoint: Endpoint, settings: Settings
) -> None:
    graph = build_supervisor(make_team(), settings=settings)
    endpoint.load_scenario(
        Scenario(
            tasks=script_tasks(DIAMOND), faults=(Fault(kind="server_error", task="B", nth=(1,)),)
        )
    )

    state = await graph.ainvoke(REQUEST)

    assert state["status"] == "done"
    assert state["results"]["B"].attempts == 1


async def test_an_endpoint_that_nobody_answers_is_one_clear_error(settings: Settings) -> None:
    nowhere = settings.model_copy(update={"openai_base_url": "http://127.0.0.1:9/v1"})
    graph = build_supervisor(make_team(), settings=nowhere)

    with pytest.raises(ModelError) as caught:
        await graph.ainvoke(REQUEST)

    assert caught.value.format_line().startswith("error[ENDPOINT_UNREACHABLE]")


async def test_without_a_synthesizer_the_reports_stand_as_they_are(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    endpoint.load_scenario(
        Scenario(tasks=script_tasks(DIAMOND), faults=(Fault(kind="unauthorized", schema="Answer"),))
    )

    state = await graph.ainvoke(REQUEST, make_thread_config())

    assert state["status"] == "partial"
    assert all(f"Result of {name}" in state["answer"].text for name in DIAMOND)
    assert any("synthesis failed" in gap for gap in state["answer"].gaps)


async def test_sources_that_no_report_names_are_dropped(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    answer = {"text": "42, says A.md", "sources": ["A.md", "https://made.up"]}
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()}), answers={"Answer": answer}))

    state = await graph.ainvoke(REQUEST, make_thread_config())

    assert state["answer"].sources == ("A.md",)


async def test_a_chat_message_is_a_request_and_a_second_one_a_follow_up(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": (), "B": ()})))
    await graph.ainvoke({"messages": [HumanMessage("Compare the parts.")]}, make_thread_config())

    state = await graph.ainvoke({"messages": [HumanMessage("And in euros?")]}, make_thread_config())

    second = endpoint.select_calls(schema="Plan")[1]
    assert state["request"] == "And in euros?"
    assert "Compare the parts." in str(second.body) and "And in euros?" in str(second.body)
    assert [plan.version for plan in state["plans"]] == [1, 2]
    assert [message.type for message in state["messages"]] == ["human", "ai", "human", "ai"]
    assert len(endpoint.select_calls(schema="Report")) == 4


async def test_a_cancelled_run_resumes_without_doing_finished_work_again(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    endpoint.load_scenario(
        Scenario(tasks=script_tasks({"A": (), "B": (), "C": ("A", "B")}, latency_s={"B": 1.0}))
    )
    running = asyncio.ensure_future(graph.ainvoke(REQUEST, make_thread_config()))
    while not endpoint.select_calls(task="A"):  # noqa: ASYNC110 - the endpoint tells nobody
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.3)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running

    state = await graph.ainvoke(None, make_thread_config())

    assert state["status"] == "done"
    assert len(endpoint.select_calls(task="A")) == 1
    assert len(endpoint.select_calls(task="B")) == 2


async def test_a_fork_does_not_meet_the_first_runs_results(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    first, second = {"output": "first"}, {"output": "second"}
    tasks = (
        ScriptedTask(id="A", report=[first, second]),
        ScriptedTask(id="B", depends_on=("A",)),
    )
    endpoint.load_scenario(Scenario(tasks=tasks))
    await graph.ainvoke(REQUEST, make_thread_config())
    history = [snapshot async for snapshot in graph.aget_state_history(make_thread_config())]
    planned = next(snapshot for snapshot in history if "researcher" in snapshot.next)

    state = await graph.ainvoke(None, await graph.aupdate_state(planned.config, None))

    assert state["results"]["A"].output == "second"
    assert "second" in str(endpoint.select_calls(task="B")[1].body)
    assert "first" not in str(endpoint.select_calls(task="B")[1].body["messages"])


async def test_each_task_has_the_result_of_its_own_worker(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    names = [f"t{index}" for index in range(30)]
    latency = {name: 0.002 * (29 - index) for index, name in enumerate(names)}
    endpoint.load_scenario(
        Scenario(tasks=script_tasks(dict.fromkeys(names, ()), latency_s=latency))
    )

    state = await graph.ainvoke(REQUEST, make_thread_config())

    assert all(f"Result of {name}:" in state["results"][name].output for name in names)


async def test_the_synthesis_reads_the_same_whatever_order_results_came_in(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    edges: dict[str, tuple[str, ...]] = {"A": (), "B": (), "C": ()}
    seen = set()
    for order in ("ABC", "CAB", "BCA"):
        latency = {name: 0.05 * order.index(name) for name in edges}
        endpoint.load_scenario(Scenario(tasks=script_tasks(edges, latency_s=latency)))
        await graph.ainvoke(REQUEST, make_thread_config(order))
        seen.add(str(endpoint.select_calls(schema="Answer")[-1].body["messages"]))

    assert len(seen) == 1


async def test_a_worker_has_ten_turns_and_then_must_report(
    endpoint: Endpoint, settings: Settings
) -> None:
    analyst = Worker(
        name="analyst", description="Computes.", instructions="Compute.", tools=("calculate",)
    )
    calls = tuple(("calculate", {"expression": f"{n} + 1"}) for n in range(30))
    endpoint.load_scenario(
        Scenario(tasks=(ScriptedTask(id="A", worker="analyst", tool_calls=calls),))
    )
    graph = build_supervisor(
        make_team().model_copy(update={"workers": (analyst,)}), settings=settings
    )

    state = await graph.ainvoke(REQUEST)

    turns = endpoint.select_calls(task="A")
    assert len(turns) == 10
    assert turns[-1].tools == ("Report",)
    assert state["results"]["A"].status == "completed"


async def test_a_failing_and_an_unknown_tool_are_messages_to_the_worker(
    endpoint: Endpoint, settings: Settings
) -> None:
    analyst = Worker(
        name="analyst", description="Computes.", instructions="Compute.", tools=("calculate",)
    )
    calls: tuple[tuple[str, dict[str, str]], ...] = (
        ("calculate", {"expression": "1 / 0"}),
        ("rm", {"path": "/"}),
        ("calculate", {}),
    )
    endpoint.load_scenario(
        Scenario(tasks=(ScriptedTask(id="A", worker="analyst", tool_calls=calls),))
    )
    graph = build_supervisor(
        make_team().model_copy(update={"workers": (analyst,)}), settings=settings
    )

    state = await graph.ainvoke(REQUEST)

    heard = [m["content"] for m in endpoint.requests[-2].body["messages"] if m["role"] == "tool"]
    assert state["results"]["A"].status == "completed"
    assert len(heard) == 3
    assert "zero" in heard[0] and "rm is not a valid tool" in heard[1]


async def test_a_worker_that_exceeds_its_time_fails_alone(
    endpoint: Endpoint, settings: Settings
) -> None:
    slow = make_team("researcher", "analyst")
    limits = slow.workers[0].limits.model_copy(update={"timeout_s": 0.2})
    workers = (slow.workers[0].model_copy(update={"limits": limits}), slow.workers[1])
    tasks = (ScriptedTask(id="A", latency_s=20.0), ScriptedTask(id="B", worker="analyst"))
    endpoint.load_scenario(Scenario(tasks=tasks))
    graph = build_supervisor(
        slow.model_copy(update={"workers": workers, "max_attempts": 1}), settings=settings
    )

    state = await graph.ainvoke(REQUEST)

    assert state["results"]["A"].error == "timed out after 0.2 s, its limit"
    assert state["results"]["B"].status == "completed"


async def test_a_deadline_ends_in_an_answer(endpoint: Endpoint, graph: SupervisorGraph) -> None:
    endpoint.load_scenario(
        Scenario(tasks=script_tasks({"A": (), "B": ("A",)}, latency_s={"B": 60.0}))
    )

    state = await graph.ainvoke(REQUEST, make_thread_config(), context={"deadline_s": 4.0})

    assert state["status"] == "partial"
    assert state["results"]["A"].status == "completed"
    assert state["answer"].gaps


async def test_an_unknown_setting_in_the_context_is_named(graph: SupervisorGraph) -> None:
    with pytest.raises(SettingsInvalid, match="deadline"):
        await graph.ainvoke(REQUEST, make_thread_config(), context={"deadline": 3})


async def test_a_report_says_what_it_cost(endpoint: Endpoint, graph: SupervisorGraph) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks({"A": ()})))

    report: Report = (await graph.ainvoke(REQUEST, make_thread_config()))["results"]["A"]

    assert report.usage.input_tokens > 0 and report.usage.output_tokens > 0
    assert report.usage.models == ("openai:gpt-5-mini",)
    assert report.ended_s >= report.started_s > 0


def test_synchronous_python_can_invoke_stream_and_batch() -> None:
    with Endpoint(Scenario(tasks=script_tasks(DIAMOND))).run_in_thread() as served:
        settings = Settings(openai_base_url=served.base_url, openai_api_key="sk-test")
        graph = build_supervisor(make_team(), settings=settings)

        invoked = graph.invoke(REQUEST)
        streamed = list(graph.stream(REQUEST, stream_mode="updates"))
        batch = graph.batch([REQUEST, REQUEST])

    assert invoked["status"] == "done"
    assert [next(iter(part)) for part in streamed][-1] == "synthesizer"
    assert [state["status"] for state in batch] == ["done", "done"]


async def test_a_notebooks_running_loop_can_invoke(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    with Endpoint(Scenario(tasks=script_tasks(DIAMOND))).run_in_thread() as served:
        settings = Settings(openai_base_url=served.base_url, openai_api_key="sk-test")

        state = build_supervisor(make_team(), settings=settings).invoke(REQUEST)

    assert state["status"] == "done"


async def test_an_endpoint_that_streams_gives_the_same_answer(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks(DIAMOND)))
    graph = build_supervisor(make_team(), settings=settings.model_copy(update={"stream": True}))

    state = await graph.ainvoke(REQUEST)

    assert state["status"] == "done"
    assert all(call.body["stream"] for call in endpoint.requests)
    assert state["usage"].input_tokens > 0


async def test_a_stream_that_is_cut_is_asked_for_again_and_never_taken_for_an_answer(
    endpoint: Endpoint, settings: Settings
) -> None:
    cut = Fault(kind="cut_stream", task="B", nth=(1,))
    endpoint.load_scenario(Scenario(tasks=script_tasks(DIAMOND), faults=(cut,)))
    graph = build_supervisor(make_team(), settings=settings.model_copy(update={"stream": True}))

    state = await graph.ainvoke(REQUEST)

    assert state["results"]["B"].output.startswith("Result of B")
    assert len(endpoint.select_calls(task="B")) == 2


async def test_what_a_worker_is_sent_does_not_grow_with_the_plan(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    sizes = []
    for count in (3, 30):
        endpoint.load_scenario(Scenario(tasks=script_tasks({f"t{n}": () for n in range(count)})))
        await graph.ainvoke(REQUEST, make_thread_config(str(count)))
        sizes.append(endpoint.select_calls(task="t0")[-1].body_bytes)

    assert sizes[0] == sizes[1]


async def test_a_worker_that_answers_in_prose_is_asked_again(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    prose_then_report = ["I found nothing much.", {"output": "42"}]
    endpoint.load_scenario(Scenario(tasks=(ScriptedTask(id="A", report=prose_then_report),)))

    state = await graph.ainvoke(REQUEST, make_thread_config())

    assert state["results"]["A"].output == "42"
    assert state["results"]["A"].attempts == 2


async def test_an_answer_in_prose_is_an_answer(endpoint: Endpoint, graph: SupervisorGraph) -> None:
    endpoint.load_scenario(
        Scenario(tasks=script_tasks({"A": ()}), answers={"Answer": "It is 42, says A.md."})
    )

    state = await graph.ainvoke(REQUEST, make_thread_config())

    assert state["answer"].text == "It is 42, says A.md."
    assert state["answer"].sources == ("A.md",)


async def test_an_escalation_ends_a_task_and_is_reported(
    endpoint: Endpoint, graph: SupervisorGraph
) -> None:
    asks = {
        "status": "escalated",
        "output": "",
        "escalation": {"reason": "ambiguous_input", "message": "Which year?", "partial": "2024: 5"},
    }
    endpoint.load_scenario(
        Scenario(tasks=(ScriptedTask(id="A", report=asks), ScriptedTask(id="B")))
    )

    state = await graph.ainvoke(REQUEST, make_thread_config())

    assert state["results"]["A"].status == "escalated"
    assert state["results"]["A"].attempts == 1
    assert state["status"] == "partial"
    assert any("Which year?" in gap for gap in state["answer"].gaps)


async def test_a_run_that_nothing_saves_warns_of_nothing(
    endpoint: Endpoint, settings: Settings
) -> None:
    endpoint.load_scenario(Scenario(tasks=script_tasks(DIAMOND)))
    graph = build_supervisor(make_team(), settings=settings)
    # So LangGraph's server begins a run without a thread.
    stateless: Any = {"configurable": {"thread_id": "one", "__pregel_checkpointer": None}}

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = await graph.ainvoke(REQUEST, stateless, durability="async")

    assert state["status"] == "done"


async def test_each_field_of_a_form_says_what_it_is_for(graph: SupervisorGraph) -> None:
    for schema in (graph.get_input_jsonschema(), graph.get_context_jsonschema() or {}):
        assert all(field.get("description") for field in schema["properties"].values())


async def test_leaving_a_synchronous_stream_early_stops_the_run() -> None:
    edges: dict[str, tuple[str, ...]] = {"A": (), "B": ("A",), "C": ("B",)}
    with Endpoint(Scenario(tasks=script_tasks(edges, latency_s=0.3))).run_in_thread() as served:
        graph = build_supervisor(make_team(), settings=Settings(openai_base_url=served.base_url))

        for part in graph.stream(REQUEST, stream_mode="updates"):
            assert "supervisor" in part
            break
        await asyncio.sleep(0.8)

        assert not served.select_calls(schema="Answer")
        assert len(served.select_calls(schema="Report")) <= 1
