"""What is loaded late, and what an import leaves as it was."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

LATE_MODULES = (
    *("openai", "langchain_openai", "langchain.agents", "tiktoken", "genai_prices"),
    *("langgraph.store.sqlite", "sqlite_vec", "numpy", "psycopg", "duckdb", "trafilatura"),
)
"""Libraries of models, agents, tools and databases."""

_LIST_AT_PLAN = """
import asyncio, json, sys
from graph import arun

names, loaded = json.loads(sys.argv[1]), []

def note(event):
    if event["kind"] == "plan_created":
        loaded.extend(name for name in names if name in sys.modules)

asyncio.run(arun("What is a heat pump?", team="research_writing_code", on_event=note))
print(json.dumps(loaded))
"""


def run_python(code: str, *arguments: str, folder: Path = ROOT) -> str:
    """Run code in a process of its own, with the embedded model, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=folder,
        env={"PATH": "", "HOME": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.mark.slow
def test_an_import_loads_no_library_of_tasks_and_leaves_the_garbage_collector_alone() -> None:
    """The library leaves it to the program that imports it; commands load what they need late."""
    code = (
        "import gc, json, sys; before = gc.get_threshold(), gc.get_freeze_count(); "
        "import graph, graph.runs.runner, graph.commands.run; "
        "same = (gc.get_threshold(), gc.get_freeze_count()) == before; "
        "print(json.dumps([same, sorted(sys.modules)]))"
    )

    is_same, loaded = json.loads(run_python(code))

    assert is_same
    assert [name for name in LATE_MODULES if name in loaded] == []


@pytest.mark.slow
def test_the_store_is_not_loaded_before_a_plan_is_made_also_when_it_holds_items(
    tmp_path: Path,
) -> None:
    asked = json.dumps(["langgraph.store.sqlite", "sqlite_vec"])

    first = run_python(_LIST_AT_PLAN, asked, folder=tmp_path)
    second = run_python(_LIST_AT_PLAN, asked, folder=tmp_path)

    assert (json.loads(first), json.loads(second)) == ([], [])


def test_the_end_of_the_process_keeps_the_exit_code_its_output_and_later_exit_handlers() -> None:
    code = (
        "import atexit, sys; from graph.commands.process import end_process, prepare_process; "
        "prepare_process(); atexit.register(print, 'handled'); "
        "sys.stdout.write('answer '); end_process(3)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stdout, done.stderr) == (3, "answer handled\n", "")
