"""The package in a program of the user's, and the engine without extensions and teams."""

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from langgraph_sdk import get_client

from extensions.evals.evaluate import evaluate_team
from extensions.evals.kept_exams import keep_exam
from graph.settings import Settings
from graph.teams.team_loader import SHIPPED_TEAMS_FOLDER
from tests.integration.dev_server import TEAM, DevServer
from tests.integration.ui_server import ui_server
from tests.local_servers import Recorder

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
HANG_S = 300
PLAIN = """
import asyncio, logging

logging.basicConfig(level=logging.WARNING)

from graph import build_supervisor
from langgraph.checkpoint.memory import MemorySaver
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, MessagesState, StateGraph

REQUEST = {"request": "Which coffee is cheapest? `SELECT * FROM prices ORDER BY eur`",
           "materials": {"prices.csv": "coffee,eur\\nSidamo,3\\nHuila,2\\n"}}
THREAD = {"configurable": {"thread_id": "one"}}
ended = []


def build(**options):
    return build_supervisor("market_analysis", **options)


def twice(graph):
    for request in (REQUEST, {"request": "And now? `SELECT * FROM prices ORDER BY eur DESC`"}):
        ended.append(graph.invoke(request, THREAD)["status"])
    ended.append(graph.get_state(THREAD, subgraphs=True).values["status"])


ended.append(build().invoke(REQUEST)["status"])
ended.append(build().invoke(REQUEST, THREAD)["status"])
twice(build(checkpointer=MemorySaver()))
attached = build()
attached.checkpointer = MemorySaver()
twice(attached)
twice(build(checkpointer=MemorySaver()).with_config(tags=["mine"]))
with SqliteSaver.from_conn_string("sync.sqlite") as saver:
    twice(build(checkpointer=saver))

outer = StateGraph(MessagesState).add_node("team", build()).add_edge(START, "team")
parent = outer.compile(checkpointer=MemorySaver())
for words in ("Which is the largest cloud provider?", "And the second?"):
    asyncio.run(parent.ainvoke({"messages": [("user", words)]}, THREAD))
asyncio.run(parent.aget_state(THREAD, subgraphs=True))


async def keep():
    async with AsyncSqliteSaver.from_conn_string("async.sqlite") as saver:
        graph = build(checkpointer=saver)
        await graph.ainvoke(REQUEST, THREAD)
        ended.append((await graph.aget_state(THREAD)).values["status"])


asyncio.run(keep())
assert len(ended) == 15 and set(ended) <= {"done", "passages", "partial"}, ended
"""
TYPED = """
from langgraph.checkpoint.memory import InMemorySaver

from graph import Outcome, build_supervisor, load_team, run

graph = build_supervisor("market_analysis", checkpointer=InMemorySaver())


def ask(request: str) -> str:
    outcome: Outcome = run(request, team=load_team("code_review"), files=["change.diff"])
    state = graph.invoke({"request": request}, context={"deadline_s": 60})
    return f"{outcome.exit_code} {state['answer'].text}"
"""


def run_python(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the current folder, where the package is installed as `bin/` installs it."""
    path = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"]}
    return subprocess.run(
        [sys.executable, *arguments],
        env={**path, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )


def test_plain_use_from_python_prints_no_warning():
    Path("plain.py").write_text(PLAIN)

    done = run_python("-W", "error", "plain.py")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_typed_program_that_uses_the_package_passes_strict_checks():
    Path("program.py").write_text(TYPED)

    done = run_python("-P", "-m", "mypy", "--strict", "program.py", PYTHONPATH="")

    assert "Success" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("state.py", "import graph"),
        ("nodes.py", "import state, nodes"),
        ("extensions/__init__.py", "import graph"),
    ],
)
def test_a_user_module_that_shadows_ours_is_named_in_one_line(name: str, first: str):
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("class State: ...\n")
    Path("app.py").write_text(f"{first}\nfrom graph import build_supervisor\n")

    done = run_python("app.py")

    last = done.stderr.splitlines()[-1]
    module = name.removesuffix(".py").removesuffix("/__init__")
    assert done.returncode == 1
    assert last.startswith(f"ImportError: {Path(name).absolute()} is imported instead of")
    assert f"module {module!r}" in last and f"my_app.{module}" in last


def test_modules_in_a_package_of_the_user_clash_with_nothing():
    Path("my_app").mkdir()
    for name in ("__init__", "extensions", "graph", "nodes", "state"):
        Path(f"my_app/{name}.py").write_text("class State: ...\n")
    Path("app.py").write_text(
        "from my_app.state import State\nimport my_app.graph, my_app.nodes\n"
        "from graph import load_team\nprint(load_team('market_analysis').name, State.__module__)\n"
    )

    assert run_python("app.py").stdout == "market_analysis my_app.state\n"


def test_the_command_line_runs_ours_wherever_it_is_called_and_whatever_the_path_says():
    script = re.search(r"<<'END'\n(.*?)^END$", (ROOT / "bin/environment").read_text(), re.M | re.S)
    assert script is not None, "bin/environment writes the script"
    checkout = Path("checkout")
    programs = checkout / ".venv" / "bin"
    programs.mkdir(parents=True)
    for name in ("extensions", "graph", "nodes", "state.py", "teams"):
        (checkout / name).symlink_to(ROOT / name)
    (programs / "python").write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    (programs / "supervise").write_text(script[1])
    for program in programs.iterdir():
        program.chmod(0o755)
    for name in ("extensions", "graph", "nodes", "state"):
        Path(f"{name}.py").write_text("raise SystemExit('not ours')\n")

    done = subprocess.run(
        [programs / "supervise", "teams", "market_analysis"],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": "."},
        capture_output=True,
        text=True,
        timeout=HANG_S,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "market_analysis" in done.stdout


PRESENCE = "open(__file__ + '.imported', 'w')"
OWN_MODULES = (
    *("state.py", "graph.py", "graph/__init__.py", "extensions/__init__.py", "nodes/__init__.py"),
    *("httpx.py", "sitecustomize.py"),
)
REQUEST = "What does Huila cost?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with modules that write a file when they are imported, and with an exam."""
    place = tmp_path_factory.mktemp("home") / "project"
    for name in OWN_MODULES:
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(PRESENCE)
    (place / "documents").mkdir()
    (place / "documents" / "prices.md").write_text("# Prices\n\nHuila costs 24 EUR a kilogram.\n")
    shutil.copytree(SHIPPED_TEAMS_FOLDER / "tech_support", place / "teams" / "own_support")
    settings = Settings(database_url=f"sqlite:///{place}/.supervise/runs.sqlite")
    graded = evaluate_team(TEAM, settings=settings, limit=1)
    keep_exam(settings.home, SHIPPED_TEAMS_FOLDER / TEAM, graded)
    return place


@pytest.fixture(scope="module")
def listener() -> Iterator[Recorder]:
    """What other hosts would be asked through."""
    listening = Recorder()
    yield listening
    listening.close()


@pytest.fixture(scope="module")
def server(folder: Path, listener: Recorder) -> Iterator[DevServer]:
    given = {"SUPERVISE_DOCUMENTS": "documents", "SUPERVISE_TEAMS": "teams"}
    with ui_server(folder, https_proxy=listener.url, **given) as running:
        yield running


def load(server: DevServer, path: str) -> Any:
    with urllib.request.urlopen(f"{server.url}/supervise/{path}") as answer:
        return json.load(answer)


def test_no_module_of_the_current_folder_is_imported(server: DevServer, folder: Path):
    with urllib.request.urlopen(f"{server.url}/supervise/") as answer:
        page = answer.read()

    assert b"live.js" in page
    assert list(folder.rglob("*.imported")) == []


def test_the_exam_of_a_team_is_shown_with_its_rows(server: DevServer):
    [kept] = load(server, f"teams/{TEAM}")["exams"]

    exam = load(server, f"teams/{TEAM}/exams/{kept['id']}")

    assert [row["score"] for row in exam["rows"]] == [exam["score"]]


async def test_a_run_reads_documents_of_a_relative_folder_and_asks_no_other_host(
    server: DevServer, listener: Recorder
):
    client = get_client(url=server.url)
    thread = (await client.threads.create())["thread_id"]

    ended = await client.runs.wait(thread, "own_support", input={"request": REQUEST})

    assert isinstance(ended, dict)
    assert "24 EUR" in str(ended["answer"])
    assert "BlockingError" not in server.read_log()
    assert listener.requests == []


ENGINE = (
    *("nodes", "planning", "limits", "proof", "recovery", "security", "human", "checks", "models"),
)
ROOMS = " ".join(f"tests/unit/{name}" for name in ENGINE)
TEST_RUN = """
import os, sys
sys.path[:] = [os.getcwd(), *(p for p in sys.path if os.path.realpath(p) != sys.argv[1])]
import pytest
sys.exit(pytest.main([*sys.argv[2:-1], *sys.argv[-1].split()]))
"""


@pytest.mark.parametrize(
    "tests",
    [
        "tests/integration/test_graph.py",
        pytest.param(ROOMS, id="all", marks=pytest.mark.nightly),
    ],
)
def test_the_engines_tests_pass_without_extensions_and_teams(tests: str, tmp_path: Path):
    house = tmp_path / "house"
    for name in ("examples", "graph", "nodes", "supervisor_worker", "tests"):
        shutil.copytree(ROOT / name, house / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("state.py", "pyproject.toml"):
        shutil.copy(ROOT / name, house / name)
    options = ["-m", "not slow", "-p", "no:cacheprovider", "--hypothesis-profile", "quick"]

    done = subprocess.run(
        [sys.executable, "-P", "-c", TEST_RUN, str(ROOT), *options, tests],
        cwd=house,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert not (house / "extensions").exists() and not (house / "teams").exists()
