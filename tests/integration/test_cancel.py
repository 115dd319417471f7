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
from graph.supervisor_graph import SupervisorGraph
from state import Worker
from tests.endpoint import Endpoint, Fault, Scenario, ScriptedTask, dag
from tests.teams import team

REQUEST = "Compare the parts and say which one is best."
PAIR = dag({"a": (), "b": ()})
HANG_S = 20.0
"""A guard against what never comes, and no measure."""


@pytest.fixture
def served() -> Iterator[Endpoint]:
    """An endpoint in a thread, whose tasks are none of the test's loop."""
    with Endpoint(Scenario(tasks=PAIR)).in_thread() as endpoint:
        yield endpoint


@pytest.fixture
async def own(served: Endpoint, settings: Settings) -> AsyncIterator[Settings]:
    yield settings.model_copy(update={"openai_base_url": served.base_url})


def others() -> set[Any]:
    """Give the tasks of this loop but the test's, and the threads but a pool's idle ones."""
    threads = [t for t in threading.enumerate() if not t.name.startswith("asyncio_")]
    return {*(asyncio.all_tasks() - {asyncio.current_task()}), *threads}


def tools_processes() -> list[str]:
    """Give what the child processes of tools run, where the system tells."""
    found = Path("/proc/self/task").glob("*/children")
    pids = [pid for entry in found for pid in entry.read_text().split()]
    return [said for pid in pids if "nodes.tools" in (said := command_of(pid))]


def command_of(pid: str) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


async def until(is_so: Callable[[], object]) -> None:
    """Wait for what other threads and processes do; what never comes fails the test."""
    async with asyncio.timeout(HANG_S):
        while not is_so():  # noqa: ASYNC110 - nobody can say when
            await asyncio.sleep(0.02)


async def reached(served: Endpoint, schema: str, number: int = 1) -> None:
    await until(lambda: len(served.calls(schema=schema)) >= number)


async def nothing_more(before: set[Any], served: Endpoint) -> None:
    """Wait until all is gone that was not there before."""
    await until(lambda: not others() - before)
    await until(lambda: all(call.ended_s is not None for call in served.requests))


@pytest.mark.parametrize("schema", ["Plan", "Report", "Answer"])
async def test_x01_a_cancelled_run_leaves_no_task_no_thread_and_no_request(
    schema: str, served: Endpoint, own: Settings
) -> None:
    await arun(REQUEST, team=team(), settings=own)
    before = others()
    served.play(Scenario(tasks=PAIR, faults=(Fault(kind="hang", schema=schema),)))
    asked, seen = len(served.requests), len(served.calls(schema=schema))

    run = asyncio.create_task(arun(REQUEST, team=team(), settings=own, thread="one"))
    await reached(served, schema, seen + 1)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert not asyncio.all_tasks() - {asyncio.current_task()} - before
    await nothing_more(before, served)
    assert all(call.client_gone for call in served.requests[asked:] if call.fault)
    served.play(Scenario(tasks=PAIR))
    assert (await aresume("one", settings=own)).status == "done"


async def test_x01_a_stream_that_is_closed_early_leaves_nothing(
    served: Endpoint, own: Settings
) -> None:
    graph = build_supervisor(team(), settings=own)
    await graph.ainvoke({"request": REQUEST})
    before = others()
    served.play(Scenario(tasks=PAIR, faults=(Fault(kind="hang", schema="Report"),)))
    seen = len(served.calls(schema="Report"))

    stream = graph.astream({"request": REQUEST}, stream_mode="custom", subgraphs=True)
    async for _, event in stream:
        if event["kind"] == "task_started":
            await reached(served, "Report", seen + 1)
            break
    await stream.aclose()  # type: ignore[attr-defined]

    await nothing_more(before, served)
    assert all(call.client_gone for call in served.calls(schema="Report")[seen:])


@pytest.mark.skipif(sys.platform != "linux", reason="children are told by /proc")
async def test_x02_a_tools_process_ends_with_its_run(served: Endpoint, own: Settings) -> None:
    analyst = Worker(
        name="analyst", description="Asks.", instructions="Ask.", tools=("query_database",)
    )
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    calls = (("query_database", {"sql": endless}),)
    task = ScriptedTask(id="a", worker="analyst", materials=("n.csv",), tool_calls=calls)
    served.play(Scenario(tasks=(task,)))
    graph = build_supervisor(team().model_copy(update={"workers": (analyst,)}), settings=own)

    run = asyncio.create_task(graph.ainvoke({"request": REQUEST, "materials": {"n.csv": "i\n1\n"}}))
    await until(tools_processes)
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run

    assert tools_processes() == []


async def test_x06_a_task_that_fails_leaves_nothing_and_spares_its_sibling(
    served: Endpoint, own: Settings
) -> None:
    await arun(REQUEST, team=team(), settings=own)
    before = others()
    fault = Fault(kind="context_length", schema="Report", task="a")
    served.play(Scenario(tasks=PAIR, faults=(fault,)))

    outcome = await arun(REQUEST, team=team(), settings=own)

    assert outcome.results["b"].status == "completed"
    await nothing_more(before, served)


def test_x01_a_synchronous_stream_left_early_is_gone_when_the_loop_goes_on(
    served: Endpoint, settings: Settings
) -> None:
    own = settings.model_copy(update={"openai_base_url": served.base_url})
    graph: SupervisorGraph = build_supervisor(team(), settings=own)
    served.play(Scenario(tasks=PAIR, faults=(Fault(kind="hang", schema="Report"),)))

    stream = graph.stream({"request": REQUEST}, stream_mode="custom", subgraphs=True)
    kinds = []
    for _, event in stream:
        kinds.append(event["kind"])
        if event["kind"] == "task_started":
            break
    stream.close()  # type: ignore[attr-defined]
    asyncio.run(until(lambda: all(call.ended_s is not None for call in served.requests)))
    assert kinds[-1] == "task_started"
    assert all(call.client_gone for call in served.requests if call.fault)
