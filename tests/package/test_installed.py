"""The wheel beside a project that has a `graph.py`, a `state.py` and `nodes/` of its own.

    .ci/run package

A wheel is built twice, installed from a folder, and used: nothing is downloaded but the builder.
"""

import json
import shlex
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest

from tests.package.installation import (
    ROOT,
    Installation,
    build_distributions,
    copy_tests,
    install_wheel,
)

REQUEST = "Compare the market capitalization of the top 3 cloud providers"
SAMPLE = ROOT / "teams" / "market_analysis" / "sample"
ENGINE_TESTS = (
    *("unit/test_state.py", "unit/test_dispatch.py", "unit/test_ladder.py"),
    *("integration/test_graph.py", "integration/test_approval.py"),
)

PROJECT = {
    "state.py": "from typing import TypedDict\n\n\nclass Plan(TypedDict):\n    asked: str\n",
    "nodes/__init__.py": "",
    "nodes/greet.py": "def greet(state):\n    return {'asked': 'Hello ' + state['asked']}\n",
    "graph.py": """
from langgraph.graph import END, START, StateGraph

from nodes.greet import greet
from state import Plan

builder = StateGraph(Plan)
builder.add_node("greet", greet)
builder.add_edge(START, "greet")
builder.add_edge("greet", END)
graph = builder.compile()
""",
    "main.py": """
import sys

import graph, nodes, state
from supervisor_worker import Plan, build_supervisor, run

print(graph.graph.invoke({"asked": "Ada"})["asked"])
stock = {"stock.csv": "part,pieces\\nbolt,3\\nnut,4\\n"}
outcome = run("How many pieces?", materials=stock)
print(outcome.status, type(outcome.plan) is Plan, build_supervisor("market_analysis").name)
ours = {name.partition(".")[0] for name in sys.modules if "supervisor_worker" in name}
print(ours, state.Plan is not Plan, "/nodes/" in nodes.__file__)
""",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, bytes]]:
    folder = tmp_path_factory.mktemp("wheels")
    return folder, build_distributions(folder)


@pytest.fixture(scope="module")
def installed(
    built: tuple[Path, dict[str, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> Installation:
    return install_wheel(built[0], tmp_path_factory.mktemp("Umgebung für alle"))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "mein schönes Projekt"
    for name, text in PROJECT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    yield folder


def test_two_builds_have_the_same_bytes(
    built: tuple[Path, dict[str, bytes]], tmp_path: Path
) -> None:
    assert build_distributions(tmp_path) == built[1]
    assert sorted(name.rpartition(".")[2] for name in built[1]) == ["gz", "whl"]


def test_the_wheel_holds_one_name_and_the_archive_what_it_is_built_from(
    built: tuple[Path, dict[str, bytes]],
) -> None:
    packed = {name.rpartition(".")[2]: BytesIO(data) for name, data in built[1].items()}
    with zipfile.ZipFile(packed["whl"]) as wheel:
        names = {name.partition("/")[0] for name in wheel.namelist()}
    with tarfile.open(fileobj=packed["gz"]) as archive:
        files = {name.partition("/")[2] for name in archive.getnames()} - {"PKG-INFO"}
    known = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert {name for name in names if not name.endswith(".dist-info")} == {"supervisor_worker"}
    assert {"bin/one_package.py", "graph/cli.py", "hatch_build.py", "state.py"} <= files
    assert files <= set(known.stdout.splitlines()), "only what git knows is packed"


def test_a_project_with_the_same_names_and_the_package_are_both_used(
    installed: Installation, project: Path
) -> None:
    done = installed.run("python", "main.py", folder=project)

    assert done.stdout.splitlines() == [
        "Hello Ada",
        "done True market_analysis",
        "{'supervisor_worker'} True True",
    ], done.stderr


def test_every_name_of_the_package_can_be_imported(installed: Installation, project: Path) -> None:
    code = "import supervisor_worker as s; print(len([getattr(s, name) for name in dir(s)]))"

    done = installed.run("python", "-c", code, folder=project)

    assert int(done.stdout or 0) > 40, done.stderr


def test_a_run_of_one_is_shown_and_replayed_equal_by_the_other(
    installed: Installation, project: Path
) -> None:
    begun = installed.run(
        "supervisor-worker", "run", REQUEST, "--file", str(SAMPLE), "--thread", "here", "--approve",
        folder=project,
    )  # fmt: skip
    assert begun.returncode == 7, begun.stderr
    resumed = run_checkout("resume", "here", "--answer", "accept", "--json", folder=project)
    assert json.loads(resumed.stdout)["status"] in ("done", "passages"), resumed.stderr
    shown = installed.run("supervise", "show", "here", folder=project)
    assert "3,133.4" in shown.stdout
    replayed = installed.run("supervise", "replay", "here", folder=project)
    assert "are equal" in replayed.stderr

    begun = run_checkout(
        "run", REQUEST, "--file", str(SAMPLE), "--thread", "there", "--approve", folder=project
    )
    assert begun.returncode == 7
    resumed = installed.run("supervise", "resume", "there", "--answer", "accept", folder=project)
    assert resumed.returncode == 0 and "3,133.4" in resumed.stdout, resumed.stderr


def run_checkout(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "graph.cli", *arguments],
        cwd=folder,
        env={"PATH": "", "HOME": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_an_extension_of_another_package_is_found(installed: Installation, project: Path) -> None:
    site = project / "site"
    (site / "acme-1.0.dist-info").mkdir(parents=True)
    (site / "acme-1.0.dist-info" / "METADATA").write_text("Name: acme\nVersion: 1.0\n")
    entry = "[supervisor_worker]\nacme = acme_weather\n"
    (site / "acme-1.0.dist-info" / "entry_points.txt").write_text(entry)
    (site / "acme_weather.py").write_text(
        "from supervisor_worker import DoctorCheck, Extension\n\n\n"
        "class Weather(Extension):\n"
        "    def list_checks(self, settings):\n"
        "        yield DoctorCheck('ok', 'weather', 'it is sunny')\n\n\n"
        "EXTENSION = Weather()\n"
    )

    done = installed.run("supervise", "doctor", folder=project, PYTHONPATH=str(site))

    assert "it is sunny" in done.stdout and "left out" not in done.stdout


def test_the_tests_of_the_engine_pass_against_the_wheel(
    installed: Installation, tmp_path: Path
) -> None:
    paths = copy_tests(tmp_path, *ENGINE_TESTS)

    done = installed.run(
        "python", "-m", "pytest", "-n", "0", "-q", "--hypothesis-profile", "quick", *paths,
        folder=tmp_path,
    )  # fmt: skip

    assert done.returncode == 0, done.stdout[-4000:]
    assert done.stdout.count(".") > 100


def test_what_is_wrong_with_the_installation_is_one_line(
    installed: Installation, project: Path
) -> None:
    old = project / "old" / "langgraph-0.6.0.dist-info"
    old.mkdir(parents=True)
    (old / "METADATA").write_text("Metadata-Version: 2.1\nName: langgraph\nVersion: 0.6.0\n")

    done = installed.run("supervise", "teams", folder=project, PYTHONPATH=str(old.parent))

    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("error[SETUP] langgraph 0.6.0 is installed, and ")
    assert "Run: pip install 'langgraph>=" in done.stderr


def test_a_package_of_the_same_name_is_named(installed: Installation, project: Path) -> None:
    menu = installed.packages / "supervisor_worker" / "__init__.py"
    kept = menu.read_text(encoding="utf-8")
    menu.write_text("def start():\n    import supervisor_worker.graph\n")
    try:
        code = "import supervisor_worker.graph"
        done = installed.run("python", "-c", code, folder=project)
    finally:
        menu.write_text(kept, encoding="utf-8")

    assert done.stderr.splitlines()[-1].startswith("ImportError: ")
    assert "belongs to another package" in done.stderr


def test_a_missing_extra_is_one_line_with_its_command(
    installed: Installation, project: Path
) -> None:
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        "from importlib import metadata\n"
        "found = metadata.version\n"
        "def lose(name):\n"
        "    if name == 'duckdb': raise metadata.PackageNotFoundError(name)\n"
        "    return found(name)\n"
        "metadata.version = lose\n"
        "from supervisor_worker import run\n"
        "run('How many?', files=['main.py'])\n"
    )

    done = installed.run("python", "-c", code, folder=project)

    error, following = done.stderr.splitlines()[-2:]
    assert error.endswith("need packages that are not installed: duckdb")
    own = shlex.quote(str(installed.folder / "bin" / "supervise"))  # on no PATH
    assert following == f"next: {own} install market-analysis"


def test_a_new_project_passes_its_tests_beside_its_own_graph(
    installed: Installation, project: Path
) -> None:
    made = installed.run("supervise", "new-app", "kiosk", folder=project)
    assert made.returncode == 0 and "next: cd kiosk" in made.stdout, made.stderr

    (_, *blocks) = (ROOT / "docs/guide/install.md").read_text("utf-8").split("```python\n")
    shown = next(each.partition("```")[0] for each in blocks if "def test_" in each)
    (project / "kiosk/tests/test_guide.py").write_text(shown, encoding="utf-8")
    plain = ("-q", "-p", "no:asyncio")
    tested = installed.run("python", "-m", "pytest", *plain, folder=project / "kiosk")
    again = installed.run("supervise", "new-app", "kiosk", folder=project)
    odd = installed.run("supervise", "new-app", "Ki osk", folder=project)

    assert tested.returncode == 0 and "6 passed" in tested.stdout, tested.stdout
    assert again.returncode == 2 and "kiosk exists already" in again.stderr
    assert odd.returncode == 2 and odd.stderr.count("\n") == 1
