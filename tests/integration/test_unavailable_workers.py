"""Workers whose servers do not answer: named at the run's start, and spared before their task."""

import asyncio
import gc
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph import build_supervisor
from graph.commands.doctor import run_doctor
from graph.settings import Settings
from graph.teams.team_loader import load_team
from nodes.errors import SupervisorError
from nodes.limits.worker_load import get_team_load
from tests.endpoint import ScriptedTask
from tests.local_servers import QuietHandler, serve
from tests.mcp.teams import write_team
from tests.runs import Runs, run_graph
from tests.unit.extensions.remote.test_output import make_card

pytestmark = pytest.mark.slow

REQUEST = {"request": "Find the number of the part."}
TASK = ScriptedTask(id="a", worker="far")
NOBODY = "http://127.0.0.1:9"
"""No server listens there."""


def write_pair(folder: Path, name: str, **keys: Any) -> Path:
    """Write a team with a worker on another server, and one here."""
    team = write_team(folder / name, {}, {"near": []})
    (team / "mcp.json").unlink()
    lines = "".join(f"{key}: {text}\n" for key, text in keys.items())
    (team / "far.md").write_text(f"---\ndescription: Finds numbers far away.\n{lines}---\n")
    return team


def write_mcp_pair(folder: Path, name: str, url: str) -> Path:
    team = write_team(folder / name, {"shop": {"url": url}}, {"far": ["mcp:shop/*"], "near": []})
    page = (team / "far.md").read_text()
    (team / "far.md").write_text(page.replace("---\n", "---\nfallback: near\n", 1))
    return team


async def run(team: Path, runs: Runs) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    return await run_graph(runs.build_graph(team), REQUEST)


@contextmanager
def serve_card() -> Iterator[str]:
    """Serve the card of an A2A agent."""

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            self.answer(200, json.dumps(make_card(url)).encode())

    with serve(Handler) as url:
        yield url


def list_kinds(events: list[dict[str, Any]]) -> list[str]:
    return [event["kind"] for event in events]


async def test_its_task_goes_to_another_worker_before_it_begins_and_without_a_model_call(
    runs: Runs, tmp_path: Path
):
    runs.script(TASK)
    team = write_pair(tmp_path, "pair", remote=NOBODY, graph="g", fallback="near")

    state, events = await run(team, runs)

    kinds = list_kinds(events)
    (named,) = [event for event in events if event["kind"] == "worker_unavailable"]
    assert named["worker"] == "far" and "127.0.0.1:9 cannot be reached" in named["reason"]
    assert kinds.index("worker_unavailable") < kinds.index("task_started")
    assert state["results"]["a"].worker == "near" and state["status"] == "done"
    assert state["usage"].model_calls == 3


async def test_a_tool_server_elsewhere_is_tried_too(runs: Runs, tmp_path: Path):
    runs.script(TASK)

    state, events = await run(write_mcp_pair(tmp_path, "shops", f"{NOBODY}/mcp"), runs)

    assert "worker_unavailable" in list_kinds(events)
    assert state["results"]["a"].worker == "near" and state["status"] == "done"


async def test_where_no_other_worker_fits_it_gets_its_task_and_the_gap_names_its_server(
    runs: Runs, tmp_path: Path
):
    runs.script(TASK)
    host = runs.base_url.removeprefix("http://").partition("/")[0]
    team = write_pair(tmp_path, "alone", remote=runs.base_url, graph="no_such_graph")
    (team / "near.md").write_text("---\ndescription: Writes poems.\n---\nWrite.\n")

    state, events = await run(team, runs)

    assert list_kinds(events).index("worker_unavailable") < list_kinds(events).index("report")
    assert state["results"]["a"].worker == "far" and state["status"] == "failed"
    assert any(host in gap for gap in state["answer"].gaps)


async def test_the_next_plan_of_the_process_knows_it_until_its_server_answers_again(
    runs: Runs, tmp_path: Path
):
    runs.script(TASK)
    team = write_pair(tmp_path, "again", remote=NOBODY, graph="g", fallback="near")
    await run(team, runs)

    await run(team, runs)

    first, second = [str(call.body["messages"]) for call in runs.select_calls(schema="Plan")]
    assert "- far: unavailable" in second and "- far: unavailable" not in first
    with serve_card() as url:
        page = (team / "far.md").read_text()
        a2a = page.replace(f"remote: {NOBODY}\ngraph: g", f"a2a: {url}")
        (team / "far.md").write_text(a2a.replace("fallback: near\n", ""))
        runs.script(replace(TASK, worker="near"))
        _, events = await run(team, runs)
    assert "worker_unavailable" not in list_kinds(events)
    assert not get_team_load(load_team(team)).unavailable


def test_doctor_names_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    write_pair(tmp_path / "teams", "doctored", remote=NOBODY, graph="g")
    write_mcp_pair(tmp_path / "teams", "bought", f"{NOBODY}/mcp")

    code = run_doctor(Settings(team_folders=(tmp_path / "teams",)))

    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("broken")]
    assert code == 2
    assert any("remote worker doctored/far" in line and "127.0.0.1:9" in line for line in lines)
    assert any("MCP bought/shop" in line for line in lines)


async def test_a_team_that_cannot_be_built_leaves_no_probe_that_nobody_awaits(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        team = write_pair(
            tmp_path, "odd", remote=f"http://127.0.0.1:{silent.getsockname()[1]}", graph="g"
        )
        loaded = load_team(team, settings)
        near = loaded.find_worker("near").model_copy(update={"tools": ("no_such_tool",)})
        broken = loaded.model_copy(update={"workers": (loaded.find_worker("far"), near)})

        with pytest.raises(SupervisorError, match="no_such_tool"):
            await build_supervisor(broken, settings=settings).prepare(broken)
        if left := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(left)
        gc.collect()

    assert "never retrieved" not in caplog.text
