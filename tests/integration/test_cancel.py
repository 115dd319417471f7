"""A run that is cancelled from Python leaves nothing behind, wherever it was (X01, X02, X06)."""

import asyncio
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graph import aresume, arun, build_supervisor
from graph.settings import Settings
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.schemas.team import Worker
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, script_tasks
from tests.teams import make_team

REQUEST = "Compare the parts and say which one is best."
PAIR = script_tasks({"a": (), "b": ()})
HANG_S = 20.0
"""A guard against what never comes, and no measure."""


@pytest.fixture
def served() -> Iterator[Endpoint]:
    """An endpoint in a thread, whose tasks are none of the test's loop."""
    with Endpoint(Scenario(tasks=PAIR)).run_in_thread() as endpoint:
        yield endpoint


@pytest.fixture
async def own(served: Endpoint, settings: Settings) -> AsyncIterator[Settings]:
    yield settings.model_copy(update={"openai_base_url": served.base_url})


def list_other_tasks() -> set[Any]:
    """Return the tasks of this loop but the test's, and the threads but a pool's idle ones."""
    threads = [t for t in threading.enumerate() if not t.name.startswith("asyncio_")]
    return {*(asyncio.all_tasks() - {asyncio.current_task()}), *threads}


def list_tool_processes() -> list[str]:
    """Return what the child processes of tools run, where the system tells."""
    found = Path("/proc/self/task").glob("*/children")
    pids = [pid for entry in found for pid in entry.read_text().split()]
    return [text for pid in pids if "nodes.tools" in (text := read_command_line(pid))]


def read_command_line(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


async def wait_until(is_so: Callable[[], object]) -> None:
    """Wait for what other threads and processes do; what never comes fails the test."""
    async with asyncio.timeout(HANG_S):
        while not is_so():  # noqa: ASYNC110 - nobody can say when
            await asyncio.sleep(0.02)


async def wait_for_requests(served: Endpoint, schema: str, number: int = 1) -> None:
    await wait_until(lambda: len(served.select_calls(schema=schema)) >= number)


async def wait_until_all_gone(before: set[Any], served: Endpoint) -> None:
    """Wait until all is gone that was not there before."""
    await wait_until(lambda: not list_other_tasks() - before)
    await wait_until(lambda: all(call.ended_s is not None for call in served.requests))


@pytest.mark.parametrize(
    "schema", ["Plan", "Report", pytest.param("Answer", marks=pytest.mark.slow)]
)
async def test_x01_a_cancelled_run_leaves_no_task_no_thread_and_no_request(
    schema: str, served: Endpoint, own: Settings
):
    await arun(REQUEST, team=make_team(), settings=own)
    before = list_other_tasks()
    served.load_scenario(Scenario(tasks=PAIR, faults=(Fault(kind="hang", schema=schema),)))
    asked, seen = len(served.requests), len(served.select_calls(schema=schema))

    run = asyncio.create_task(arun(REQUEST, team=make_team(), settings=own, thread="one"))
    await wait_for_requests(served, schema, seen + 1)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert not asyncio.all_tasks() - {asyncio.current_task()} - before
    await wait_until_all_gone(before, served)
    assert all(call.client_gone for call in served.requests[asked:] if call.fault)
    served.load_scenario(Scenario(tasks=PAIR))
    assert (await aresume("one", settings=own)).status == "done"


async def test_x01_a_stream_that_is_closed_early_leaves_nothing(served: Endpoint, own: Settings):
    graph = build_supervisor(make_team(), settings=own)
    await graph.ainvoke({"request": REQUEST})
    before = list_other_tasks()
    served.load_scenario(Scenario(tasks=PAIR, faults=(Fault(kind="hang", schema="Report"),)))
    seen = len(served.select_calls(schema="Report"))

    stream = graph.astream({"request": REQUEST}, stream_mode="custom", subgraphs=True)
    async for _, event in stream:
        if event["kind"] == "task_started":
            await wait_for_requests(served, "Report", seen + 1)
            break
    await stream.aclose()  # type: ignore[attr-defined]

    await wait_until_all_gone(before, served)
    assert all(call.client_gone for call in served.select_calls(schema="Report")[seen:])


@pytest.mark.skipif(sys.platform != "linux", reason="children are told by /proc")
async def test_x02_a_tools_process_ends_with_its_run(served: Endpoint, own: Settings):
    analyst = Worker(
        name="analyst", description="Asks.", instructions="Ask.", tools=("query_database",)
    )
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    calls = (("query_database", {"sql": endless}),)
    task = ScriptedTask(id="a", worker="analyst", materials=("n.csv",), tool_calls=calls)
    served.load_scenario(Scenario(tasks=(task,)))
    graph = build_supervisor(make_team().model_copy(update={"workers": (analyst,)}), settings=own)

    run = asyncio.create_task(graph.ainvoke({"request": REQUEST, "materials": {"n.csv": "i\n1\n"}}))
    await wait_until(list_tool_processes)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert list_tool_processes() == []


async def test_x06_a_task_that_fails_leaves_nothing_and_spares_its_sibling(
    served: Endpoint, own: Settings
):
    await arun(REQUEST, team=make_team(), settings=own)
    before = list_other_tasks()
    fault = Fault(kind="context_length", schema="Report", task="a")
    served.load_scenario(Scenario(tasks=PAIR, faults=(fault,)))

    outcome = await arun(REQUEST, team=make_team(), settings=own)

    assert outcome.results["b"].status == "completed"
    await wait_until_all_gone(before, served)


def test_x01_a_synchronous_stream_left_early_is_gone_when_the_loop_goes_on(
    served: Endpoint, settings: Settings
):
    own = settings.model_copy(update={"openai_base_url": served.base_url})
    graph: SupervisorGraph = build_supervisor(make_team(), settings=own)
    served.load_scenario(Scenario(tasks=PAIR, faults=(Fault(kind="hang", schema="Report"),)))

    stream = graph.stream({"request": REQUEST}, stream_mode="custom", subgraphs=True)
    kinds = []
    for _, event in stream:
        kinds.append(event["kind"])
        if event["kind"] == "task_started":
            break
    stream.close()  # type: ignore[attr-defined]
    asyncio.run(wait_until(lambda: all(call.ended_s is not None for call in served.requests)))
    assert kinds[-1] == "task_started"
    assert all(call.client_gone for call in served.requests if call.fault)
