"""Servers that others have written, where they are installed."""

import shutil
import subprocess
from pathlib import Path

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command

from graph import build_supervisor
from graph.settings import Settings
from tests.endpoint import ScriptedTask
from tests.mcp.teams import write_team
from tests.runs import THREAD, Runs

GIT, TIME, FILES = "mcp-server-git", "mcp-server-time", "mcp-server-filesystem"
REQUEST = {"request": "What time is it in Europe/Berlin, and which commits are there?"}
ACCESS = """access:
  "mcp:git/*": {reads: [private, untrusted], sends: nothing}
  "mcp:time/*": {reads: [], sends: nothing}
"""


def need(command: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(
        shutil.which(command) is None, reason=f"{command} is not installed and on the PATH"
    )


pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("no_session_stays_open")]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "greeting.txt").write_text("hello")
    git = ["git", "-C", str(folder), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Add a greeting"]):
        subprocess.run([*git, *words], check=True)
    return folder


def write_pair(folder: Path, repository: Path) -> Path:
    servers = {
        "git": {"command": GIT, "args": ["--repository", str(repository)]},
        "time": {"command": TIME},
    }
    workers = {"clock": ["mcp:time/get_current_time"], "historian": ["mcp:git/git_log"]}
    return write_team(folder / "pair", servers, workers, ACCESS)


@need(GIT)
@need(TIME)
async def test_two_workers_call_two_servers(runs: Runs, tmp_path: Path, repository: Path):
    zone = ("time_get_current_time", {"timezone": "Europe/Berlin"})
    log = ("git_log", {"repo_path": str(repository)})
    tasks = (
        ScriptedTask(id="a", worker="clock", tool_calls=(zone,)),
        ScriptedTask(id="b", worker="historian", tool_calls=(log,)),
    )
    runs.script(*tasks)

    graph = runs.build_graph(write_pair(tmp_path, repository))
    state = await graph.ainvoke(REQUEST)

    read = str([call.body["messages"] for call in runs.select_calls(schema="Report")])
    assert state["status"] == "done"
    assert "Add a greeting" in read and "day_of_week" in read


@need(GIT)
async def test_the_embedded_model_calls_a_server(tmp_path: Path, repository: Path):
    graph = build_supervisor(write_pair(tmp_path, repository), settings=Settings())

    state = await graph.ainvoke({"request": f"Which commits are in the repository `{repository}`?"})

    assert "Add a greeting" in state["answer"].text


@need(FILES)
async def test_a_file_is_written_when_a_human_agrees(runs: Runs, tmp_path: Path, repository: Path):
    servers = {"files": {"command": FILES, "args": [str(repository)]}}
    team = write_team(tmp_path / "files", servers, {"clerk": ["mcp:files/write_file"]})
    note = repository / "note.txt"
    write = ("files_write_file", {"path": str(note), "content": "a"})
    runs.script(ScriptedTask(id="a", worker="clerk", tool_calls=(write,)))
    graph = runs.build_graph(team, checkpointer=InMemorySaver())

    await graph.ainvoke(REQUEST, THREAD)
    was_written_before = note.exists()
    args = {"path": str(note), "content": "b"}
    state = await graph.ainvoke(Command(resume={"args": args}), THREAD)

    assert state["status"] == "done"
    assert not was_written_before and note.read_text() == "b"
