"""Workers that speak A2A: the door of LangGraph's own server, as a process of its own."""

from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph_sdk import get_client

from tests.endpoint import ScriptedTask
from tests.integration.far_side.server import FarSide
from tests.runs import THREAD, Runs

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("far_side")]

TASK = ScriptedTask(id="a", worker="far", description="Find the number.")


async def find_address(far: FarSide, graph: str) -> str:
    async with get_client(url=far.url, api_key=None) as client:
        (found,) = await client.assistants.search(graph_id=graph)
    return f"{far.url}/a2a/{found['assistant_id']}"


async def run_worker(runs: Runs, folder: Path, address: str, *, more: str = "") -> Any:
    team = folder / "caller"
    team.mkdir()
    (team / "team.md").write_text("---\ndescription: Calls.\nmax_attempts: 1\n---\nOne task.\n")
    text = f"---\ndescription: Finds numbers far away.\na2a: {address}\n{more}---\n"
    (team / "far.md").write_text(text)
    runs.script(TASK)
    graph = runs.build_graph(team, checkpointer=InMemorySaver())
    state = await graph.ainvoke({"request": "Find it."}, THREAD)
    return state["results"]["a"]


async def test_an_agent_reads_the_task_and_its_answer_is_the_report(
    runs: Runs, far: FarSide, tmp_path: Path
):
    address = await find_address(far, "echo")

    report = await run_worker(runs, tmp_path, address)

    assert report.status == "completed"
    assert report.output == "The far side read: Find the number."
    assert report.usage.models == ("remote:far",)
    assert far.list_calls() == ["echo"]


async def test_the_end_of_its_time_cancels_the_task(runs: Runs, far: FarSide, tmp_path: Path):
    address = await find_address(far, "wait")

    report = await run_worker(runs, tmp_path, address, more="timeout_s: 4\n")

    async with get_client(url=far.url, api_key=None) as client:
        (thread,) = await client.threads.search(limit=1, sort_by="created_at", sort_order="desc")
        (run,) = await client.runs.list(thread["thread_id"])
    assert "timed out after 4 s" in report.error
    assert run["status"] == "interrupted"
    assert far.list_calls() == ["wait began"]


async def test_an_address_without_a_card_is_said_in_one_line(
    runs: Runs, far: FarSide, tmp_path: Path
):
    report = await run_worker(runs, tmp_path, f"{far.url}/nothing")

    assert report.error.startswith("REMOTE_UNKNOWN")
    assert "\n" not in report.error
