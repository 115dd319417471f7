"""The trace of a thread, as a server's client asks the graph for it."""

import copy
import json
from typing import Any
from uuid import UUID

import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer, _msgpack_ext_hook_to_json
from langgraph.types import Command

from extensions.server.trace_view import SUMMARY_NAMESPACE, WHY_NAMESPACE
from extensions.server.trace_writer import NAMESPACE, TraceWriter
from graph import build_supervisor
from graph.runs.trace import build_trace
from graph.settings import Settings
from graph.topology.run_start import CONTINUE_KEY, NothingToContinue
from graph.topology.supervisor_graph import SupervisorGraph
from state import Context
from tests.endpoint import Endpoint, Scenario, ScriptedTask, script_tasks
from tests.teams import make_team

REQUEST = {"request": "Compare the parts."}
SERVER_RUN = {"run_id": "7d0e7f0c-1b1f-4f0a-9a51-0d0c3a7c1a11"}


async def run(endpoint: Endpoint, *, metadata: dict[str, str], **settings: Any) -> SupervisorGraph:
    graph = build_supervisor(
        make_team(),
        settings=Settings(
            openai_base_url=endpoint.base_url, openai_api_key="sk-test-0123456789", **settings
        ),
        checkpointer=InMemorySaver(),
    )
    await graph.ainvoke(REQUEST, {"configurable": {"thread_id": "t"}, "metadata": metadata})
    return graph


async def read(graph: SupervisorGraph, namespace: str = NAMESPACE, number: int = 0) -> Any:
    at = {"thread_id": "t", "checkpoint_ns": namespace, "checkpoint_id": str(UUID(int=number))}
    return (await graph.aget_state({"configurable": at})).values


def list_kinds(view: Any) -> list[str]:
    return [json.loads(line).get("kind", "note") for line in view["lines"]]


@pytest.fixture
async def endpoint() -> Any:
    async with Endpoint(Scenario(tasks=script_tasks({"a": (), "b": ("a",)}))) as running:
        yield running


async def test_a_run_outside_a_server_keeps_none_and_the_state_tells(endpoint: Endpoint):
    graph = await run(endpoint, metadata={})

    kinds = list_kinds(await read(graph))

    assert "model_call" not in kinds
    assert kinds[:3] == ["note", "request", "plan_created"]
    assert kinds.count("report") == 2 and kinds[-1] == "answer"


async def test_a_state_that_was_put_into_a_thread_begins_its_trace(endpoint: Endpoint):
    graph = await run(endpoint, metadata={})
    values = (await graph.aget_state({"configurable": {"thread_id": "t"}})).values
    kept = {"a": values["results"]["a"].model_dump(mode="json")}
    record = values["team_record"].model_dump(mode="json")
    left = {name: value for name, value in values.items() if name not in ("usage", "timing", "ui")}
    again: RunnableConfig = {"configurable": {"thread_id": "u"}}
    begun: dict[str, Any] = {
        "planned_s": 0.0,
        "results": kept,
        "answer": None,
        "steps": {},
        "status": "running",
    }

    plan = values["plan"].model_dump(mode="json")
    tasks = [{**task, "description": f"{task['id']} in other words"} for task in plan["tasks"]]
    changed = {**plan, "version": 2, "tasks": [plan["tasks"][0], *tasks[1:]]}
    begun |= {"team_record": record, "plan": changed, "plans": [plan, changed]}
    await graph.aupdate_state(again, {**left, **begun}, as_node="approval")
    ended = await graph.ainvoke({CONTINUE_KEY: True}, {**again, "metadata": SERVER_RUN})

    at = {"thread_id": "u", "checkpoint_ns": NAMESPACE, "checkpoint_id": str(UUID(int=0))}
    lines = [json.loads(e) for e in (await graph.aget_state({"configurable": at})).values["lines"]]
    reports = [(e["task"], e["kind"]) for e in lines if e.get("kind") in ("task_started", "report")]
    assert ended["status"] == "done"
    kinds = [e["kind"] for e in lines if "kind" in e]
    assert kinds[:3] == ["request", "plan_created", "plan_approved"]
    assert build_trace(lines)["run"]["edited_words"] == "b in other words"
    assert reports[:1] == [("a", "report")]  # it was not begun here
    assert [task for task, _ in reports[1:]] == ["b", "b"]  # alone done again


async def test_the_causes_of_what_a_run_lacks_are_a_view_of_its_thread():
    report = {"status": "failed", "output": "the price list is empty"}
    tasks = (ScriptedTask(id="a", report=report), ScriptedTask(id="b"))
    async with Endpoint(Scenario(tasks=tasks)) as endpoint:
        graph = await run(endpoint, metadata=SERVER_RUN)

    why = (await read(graph, WHY_NAMESPACE))["why"]

    assert [each["tasks"] for each in why] == [["a"]]
    assert "the price list is empty" in why[0]["sentence"]
    assert why[0]["remedies"]


async def test_the_trace_can_be_switched_off(endpoint: Endpoint):
    graph = await run(endpoint, metadata=SERVER_RUN, keeps_trace=False)

    assert "model_call" not in list_kinds(await read(graph))


async def test_a_long_trace_comes_in_pages(endpoint: Endpoint):
    graph = await run(endpoint, metadata=SERVER_RUN)
    saver = graph.find_checkpointer(None)
    assert saver
    writer = TraceWriter(saver, "t", "run", 1.0, is_resumed=True, team="market", began="")
    for n in range(110):
        writer.add({"t": 2.0, "kind": "report", "n": n, "text": "x" * 20_000})
    await writer.close()

    pages = [await read(graph)]
    while pages[-1]["next"] is not None:
        pages.append(await read(graph, number=pages[-1]["next"]))

    numbers = [json.loads(line).get("n") for page in pages for line in page["lines"]]
    assert len(pages) == 2
    assert [n for n in numbers if n is not None] == list(range(110))


async def test_the_state_of_the_thread_is_not_changed_by_its_trace(endpoint: Endpoint):
    graph = await run(endpoint, metadata=SERVER_RUN)
    config: Any = {"configurable": {"thread_id": "t"}}

    state = await graph.aget_state(config)
    history = [each async for each in graph.aget_state_history(config)]

    assert state.values["status"] == "done" and state.next == ()
    assert all("request" in each.values or each.metadata for each in history)
    assert (await read(graph, SUMMARY_NAMESPACE))["run"]["request"] == REQUEST["request"]


async def test_a_summary_has_the_requests_of_its_thread_and_when_its_run_began(endpoint: Endpoint):
    graph = await run(endpoint, metadata=SERVER_RUN)
    began = (await read(graph, SUMMARY_NAMESPACE))["run"]["started"]
    config: RunnableConfig = {"configurable": {"thread_id": "t"}, "metadata": {"run_id": "2"}}

    await graph.ainvoke({"request": "And per skipper?"}, config)
    summary = (await read(graph, SUMMARY_NAMESPACE))["run"]

    assert summary["requests"] == [REQUEST["request"], "And per skipper?"]
    assert summary["request"] == "And per skipper?" and summary["started"] >= began


async def test_a_thread_without_a_run_has_no_lines(endpoint: Endpoint):
    graph = await run(endpoint, metadata={})
    at = {"thread_id": "other", "checkpoint_ns": NAMESPACE, "checkpoint_id": "no id"}

    view = (await graph.aget_state({"configurable": at})).values

    assert view["lines"] == [] and view["run"]["request"] == ""


async def test_a_run_that_is_done_cannot_be_continued(endpoint: Endpoint):
    graph = await run(endpoint, metadata=SERVER_RUN)
    again: Any = {"configurable": {"thread_id": "t"}, "metadata": {"run_id": "another"}}

    with pytest.raises(NothingToContinue):
        await graph.ainvoke({CONTINUE_KEY: True}, again)


async def test_a_run_that_was_stopped_while_it_waited_asks_again_and_is_done(endpoint: Endpoint):
    settings = Settings(openai_base_url=endpoint.base_url, openai_api_key="sk-test-0123456789")
    saver = InMemorySaver()
    graph = build_supervisor(make_team(), settings=settings, checkpointer=saver)
    config: Any = {"configurable": {"thread_id": "t"}, "metadata": SERVER_RUN}
    context = Context(approve_plan=True)
    await graph.ainvoke(REQUEST, config, context=context)

    await graph.aupdate_state(config, {}, as_node="supervisor")  # as the page does
    stopped = await graph.aget_state(config)
    again: Any = {**config, "metadata": {"run_id": "2"}}
    await graph.ainvoke({CONTINUE_KEY: True}, again, context=context)
    asking = await graph.aget_state(config)
    answering: Any = {**config, "metadata": {"run_id": "3"}}
    await graph.ainvoke(Command(resume="accept"), answering, context=context)

    assert (stopped.next, list(stopped.interrupts)) == (("approval",), [])
    assert [each.value["kind"] for each in asking.interrupts] == ["plan"]
    assert (await graph.aget_state(config)).values["status"] == "done"


class WatchedSaver(InMemorySaver):
    """Notes what a server shows of the thread when a step has ended, before its checkpoint."""

    def __init__(self) -> None:
        super().__init__()
        self.graph: SupervisorGraph | None = None
        self.views: list[Any] = []

    async def aput(self, *arguments: Any) -> Any:
        if self.graph:
            shown = copy.copy(self)
            shown.serde = JsonPlusSerializer(__unpack_ext_hook__=_msgpack_ext_hook_to_json)
            self.views.append(await read(self.graph.copy({"checkpointer": shown})))
        return await super().aput(*arguments)


async def test_a_thread_is_shown_between_the_end_of_a_step_and_its_checkpoint(endpoint: Endpoint):
    saver = WatchedSaver()
    settings = Settings(openai_base_url=endpoint.base_url, openai_api_key="sk-test-0123456789")
    saver.graph = build_supervisor(make_team(), settings=settings, checkpointer=saver)

    for request in ("Compare the parts.", "And which one is second?"):
        await saver.graph.ainvoke({"request": request}, {"configurable": {"thread_id": "t"}})

    assert "plan_created" in list_kinds(saver.views[2]), "the plan is shown before its checkpoint"
    assert list_kinds(saver.views[-1]).count("plan_created") == 2
    assert saver.views[-1]["run"]["requests"][0] == "Compare the parts.", "read as JSON, too"
