"""Workers on another server: LangGraph's own, as a process of its own."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from langgraph_sdk import get_client

from extensions.remote.checks import probe_remote_workers
from graph.teams.team_loader import load_team
from nodes.errors import RemoteError
from tests.endpoint import Endpoint, Scenario, ScriptedTask
from tests.integration.far_side.server import OURS, FarSide
from tests.runs import THREAD, Runs
from tests.trusted_files import list_user_folders

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("far_side")]

PATIENCE_S = 40.0
TASK = ScriptedTask(id="a", worker="far", description="Find the number.")


@pytest.fixture
def outside() -> Iterator[Endpoint]:
    """An endpoint that other processes call."""
    with Endpoint(Scenario(tasks=(TASK,))).run_in_thread() as endpoint:
        yield endpoint


def write_team(folder: Path, url: str, graph: str, *, more: str = "", second: str = "") -> Path:
    team = folder / "caller"
    team.mkdir()
    (team / "team.md").write_text("---\ndescription: Calls.\nmax_attempts: 2\n---\nOne task.\n")
    keys = f"remote: {url}\ngraph: {graph}\n{more}"
    (team / "far.md").write_text(f"---\ndescription: Finds numbers far away.\n{keys}---\n")
    if second:
        (team / "near.md").write_text(f"---\ndescription: {second}\n---\nWork on it here.\n")
    return team


async def run_team(runs: Runs, team: Path, **given: Any) -> Any:
    runs.script(given.pop("task", TASK))
    graph = runs.build_graph(team, checkpointer=InMemorySaver())
    context = given.pop("context", None)
    return await graph.ainvoke({"request": "Find it.", **given}, THREAD, context=context)


async def test_a_foreign_graph_reads_the_task_as_a_message(
    runs: Runs, far: FarSide, tmp_path: Path
):
    team = write_team(tmp_path, far.url, "echo")

    state = await run_team(runs, team)

    report = state["results"]["a"]
    assert report.status == "completed"
    assert report.output == "The far side read: Find the number."
    assert report.usage.models == ("remote:echo",)
    assert report.usage.uncounted_calls == 1
    assert report.usage.input_tokens > 0
    assert report.taint_labels == ("private", "untrusted")


async def test_a_team_of_ours_returns_claims_gaps_and_its_usage(
    runs: Runs, far: FarSide, tmp_path: Path
):
    team = write_team(tmp_path, far.url, OURS)
    task = replace(TASK, description="How long does copyright last?")

    state = await run_team(runs, team, task=task)

    report = state["results"]["a"]
    assert report.status == "completed"
    assert "70 years" in report.output
    assert report.claims
    assert report.usage.model_calls > 1
    assert report.usage.uncounted_calls == 0
    assert state["usage"].by_worker["far"].model_calls == report.usage.model_calls


async def test_its_questions_go_to_a_human_and_the_answers_back(
    runs: Runs, far: FarSide, tmp_path: Path
):
    runs.script(TASK)
    team = write_team(tmp_path, far.url, "ask")
    graph = runs.build_graph(team, checkpointer=InMemorySaver())

    await graph.ainvoke({"request": "Find it."}, THREAD)
    (first,) = (await graph.aget_state(THREAD)).interrupts
    await graph.ainvoke(Command(resume={first.id: "red"}), THREAD)
    (second,) = (await graph.aget_state(THREAD)).interrupts
    state = await graph.ainvoke(Command(resume="large"), THREAD)

    assert first.value["question"] == "far asks: Which colour?"
    assert second.value["question"] == "far asks: Which size?"
    assert state["results"]["a"].output == "It is red and large."
    assert far.list_calls() == ["answered red large"]


async def test_its_actions_are_approved_and_rejected_one_by_one(
    runs: Runs, far: FarSide, tmp_path: Path
):
    runs.script(TASK)
    team = write_team(tmp_path, far.url, "approve")
    graph = runs.build_graph(team, checkpointer=InMemorySaver())

    await graph.ainvoke({"request": "Book it."}, THREAD)
    (asked,) = (await graph.aget_state(THREAD)).interrupts
    await graph.ainvoke(Command(resume="approve"), THREAD)
    state = await graph.ainvoke(Command(resume="reject: too expensive"), THREAD)

    assert asked.value["action_requests"][0]["name"] == "remote:book_hotel"
    output = state["results"]["a"].output
    assert "{'type': 'approve'}" in output
    assert "too expensive" in output
    assert far.list_calls() == ["approved"]


async def test_the_end_of_its_time_cancels_the_far_side(runs: Runs, far: FarSide, tmp_path: Path):
    team = write_team(tmp_path, far.url, "wait", more="timeout_s: 3\n")

    state = await run_team(runs, team, context={"max_attempts": 1})

    assert "timed out after 3 s" in (state["results"]["a"].error or "")
    assert state["results"]["a"].usage.uncounted_calls == 1
    assert await list_statuses(far) == {"wait": ["interrupted"]}
    assert far.list_calls() == ["wait began"]


async def test_the_deadline_of_the_run_cancels_the_far_side(
    runs: Runs, far: FarSide, tmp_path: Path
):
    team = write_team(tmp_path, far.url, "wait")

    state = await run_team(runs, team, context={"deadline_s": 4})

    assert "deadline" in state["results"]["a"].error
    assert await list_statuses(far) == {"wait": ["interrupted"]}


def test_a_killed_run_joins_the_run_that_it_has_begun(
    outside: Endpoint, far: FarSide, tmp_path: Path
):
    team = write_team(tmp_path, far.url, "wait")
    child = start_run(team, outside, "k")
    wait_until(lambda: "wait began" in far.list_calls())
    child.send_signal(signal.SIGKILL)
    child.wait(PATIENCE_S)
    far.let_go()

    resumed = call_cli(outside, tmp_path, "resume", "k", "--json")

    assert resumed.returncode == 0, resumed.stderr
    assert "42 is the number" in resumed.stdout
    assert far.list_calls() == ["wait began", "wait ended"]
    assert asyncio.run(list_statuses(far)) == {"wait": ["success"]}


def test_a_run_that_is_stopped_cancels_the_far_side_and_a_resume_starts_it_again(
    outside: Endpoint, far: FarSide, tmp_path: Path
):
    team = write_team(tmp_path, far.url, "wait")
    child = start_run(team, outside, "s")
    wait_until(lambda: "wait began" in far.list_calls())

    child.send_signal(signal.SIGINT)

    assert child.wait(PATIENCE_S) == 130
    assert asyncio.run(list_statuses(far)) == {"wait": ["interrupted"]}
    far.let_go()
    resumed = call_cli(outside, tmp_path, "resume", "s", "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert far.list_calls() == ["wait began", "wait began", "wait ended"]


def test_a_task_that_a_human_stops_is_cancelled_on_the_far_side(
    outside: Endpoint, far: FarSide, tmp_path: Path
):
    team = write_team(tmp_path, far.url, "wait")
    child = start_run(team, outside, "h")
    wait_until(lambda: "wait began" in far.list_calls())

    stopped = call_cli(outside, tmp_path, "stop", "h")

    assert stopped.returncode == 0, stopped.stderr
    assert "stopped" in stopped.stderr
    assert child.wait(PATIENCE_S) != 130
    assert asyncio.run(list_statuses(far)) == {"wait": ["interrupted"]}


def test_a_probe_says_what_each_server_offers_and_starts_nothing(far: FarSide, tmp_path: Path):
    names = {"ours": OURS, "foreign": "echo", "gone": "nowhere"}
    for name in names:
        (tmp_path / name).mkdir()
    teams = {name: write_team(tmp_path / name, far.url, graph) for name, graph in names.items()}

    said = {name: probe_remote_workers(load_team(team), {})["far"] for name, team in teams.items()}

    assert "takes request and materials" in str(said["ours"])
    assert "caps that it knows: deadline_s, max_cost_usd, max_tokens" in str(said["ours"])
    assert "takes a message" in str(said["foreign"])
    assert isinstance(said["gone"], RemoteError) and said["gone"].code == "REMOTE_UNKNOWN"
    assert far.list_calls() == []


async def list_statuses(far: FarSide) -> dict[str, list[str]]:
    """Return the statuses of the latest thread's runs, by the name of their graph."""
    async with get_client(url=far.url, api_key=None) as client:
        (thread,) = await client.threads.search(limit=1, sort_by="created_at", sort_order="desc")
        runs = await client.runs.list(thread["thread_id"])
    found: dict[str, list[str]] = {}
    for run in runs:
        found.setdefault(str((run["metadata"] or {}).get("graph_id")), []).append(run["status"])
    return found


def start_run(team: Path, endpoint: Endpoint, thread: str) -> "subprocess.Popen[bytes]":
    command = build_command("run", "Find it.", "--team", str(team), "--thread", thread)
    return subprocess.Popen(command, cwd=team.parent, env=build_env(endpoint))


def call_cli(
    endpoint: Endpoint, folder: Path, *arguments: str
) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        build_command(*arguments),
        cwd=folder,
        env=build_env(endpoint),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def build_command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "graph.cli", *arguments]


def build_env(endpoint: Endpoint) -> dict[str, str]:
    root = str(Path(__file__).parents[2])
    return {
        "PATH": os.defpath,
        "PYTHONPATH": root,
        "OPENAI_BASE_URL": endpoint.base_url,
        "OPENAI_API_KEY": "sk-test-of-remote-workers",
        **list_user_folders(),
    }


def wait_until(is_true: Callable[[], bool]) -> None:
    gives_up_s = time.monotonic() + PATIENCE_S
    while not is_true():
        assert time.monotonic() < gives_up_s
        # Only the other process knows; it has no way to call back.
        time.sleep(0.05)
