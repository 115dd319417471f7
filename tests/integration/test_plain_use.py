"""The package in a program of the user's: no warning, types, and names that clash."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_plain_use_from_python_prints_no_warning() -> None:
    Path("plain.py").write_text(PLAIN)

    done = run_python("-W", "error", "plain.py")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_typed_program_that_uses_the_package_passes_strict_checks() -> None:
    Path("program.py").write_text(TYPED)

    done = run_python("-P", "-m", "mypy", "--strict", "program.py", PYTHONPATH="")

    assert "Success" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["state.py", "nodes.py", "extensions/__init__.py"])
@pytest.mark.parametrize("first", ["import state, nodes", "import graph"])
def test_a_user_module_that_shadows_ours_is_named_in_one_line(name: str, first: str) -> None:
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_text("class State: ...\n")
    Path("app.py").write_text(f"{first}\nfrom graph import build_supervisor\n")

    done = run_python("app.py")

    last = done.stderr.splitlines()[-1]
    module = name.removesuffix(".py").removesuffix("/__init__")
    assert done.returncode == 1
    assert last.startswith(f"ImportError: {Path(name).absolute()} is imported instead of")
    assert f"module {module!r}" in last and f"my_app.{module}" in last


def test_modules_in_a_package_of_the_user_clash_with_nothing() -> None:
    Path("my_app").mkdir()
    for name in ("__init__", "extensions", "graph", "nodes", "state"):
        Path(f"my_app/{name}.py").write_text("class State: ...\n")
    Path("app.py").write_text(
        "from my_app.state import State\nimport my_app.graph, my_app.nodes\n"
        "from graph import load_team\nprint(load_team('market_analysis').name, State.__module__)\n"
    )

    assert run_python("app.py").stdout == "market_analysis my_app.state\n"


def test_the_command_line_runs_ours_wherever_it_is_called_and_whatever_the_path_says() -> None:
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
