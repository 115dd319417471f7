"""The build step that writes a checkout as one importable package."""

import ast
import re
import runpy
import subprocess
from pathlib import Path
from typing import Any

import ormsgpack
import pytest

import state
from graph.stores.serializer import build_strict_serializer
from state import Dependency, Plan, Task

ROOT = Path(__file__).parents[2]
KNOWN = {"graph", "graph.cli", "nodes", "nodes.text", "state", "teams"}


@pytest.fixture(scope="module")
def program() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "bin" / "one_package.py"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from graph.cli import start", "from supervisor_worker.graph.cli import start"),
        (
            "from state import (\n    Plan,\n)",
            "from supervisor_worker.state import (\n    Plan,\n)",
        ),
        ("    import state", "    from supervisor_worker import state"),
        ("import nodes.text as text", "from supervisor_worker.nodes import text as text"),
        ("A = 'nodes.text:split'", "A = 'supervisor_worker.nodes.text:split'"),
        ('ä = "graph.cli"; b = "é"', 'ä = "supervisor_worker.graph.cli"; b = "é"'),
        ("from graphlib import x", "from graphlib import x"),
        ("A = 'state'; import statistics", "A = 'state'; import statistics"),
        ("A = 'graph.unknown'", "A = 'graph.unknown'"),
        ("'''See graph.cli.'''", "'''See graph.cli.'''"),
    ],
)
def test_names_of_modules_are_moved_and_nothing_else(
    program: dict[str, Any], before: str, after: str
) -> None:
    indented = before.startswith(" ")
    head = "if True:\n" if indented else ""

    assert program["move_source"](head + before, KNOWN) == head + after


def test_an_import_that_binds_a_moved_name_is_refused_with_its_place(
    program: dict[str, Any],
) -> None:
    with pytest.raises(program["NotMovable"], match=r"a\.py:2: write `from … import …`"):
        program["move_source"]("import os\nimport graph.cli\n", KNOWN, "a.py")


@pytest.mark.parametrize(
    "text",
    [
        *("A = '''graph.cli'''", "A = 'graph' '.cli'", "A = f'graph.cli{1}'"),
        *("A = f'nodes.text.{1}'", "A = 'graph\\x2ecli'", "from  graph import cli"),
    ],
)
def test_a_name_that_is_not_where_it_should_be_is_refused_and_nothing_else_is_changed(
    program: dict[str, Any], text: str
) -> None:
    with pytest.raises(program["NotMovable"], match=r"a\.py:1: write"):
        program["move_source"](text, KNOWN, "a.py")


@pytest.mark.slow
def test_the_package_is_complete_and_imports_no_name_of_the_checkout(
    program: dict[str, Any], tmp_path: Path
) -> None:
    package = program["build_package"](ROOT, tmp_path)

    assert [each.name for each in tmp_path.iterdir()] == ["supervisor_worker"]
    assert (package / "py.typed").exists() and (package / "teams" / "default.txt").exists()
    old = {*program["FOLDERS"], *program["MODULES"]}
    suspect = re.compile(rf"^\s*(?:from|import) .*\b(?:{'|'.join(old)})\b", re.MULTILINE)
    for path in package.rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        if {"sample", "my_app"} & set(path.parts) or not suspect.search(source):
            continue
        for node in ast.walk(ast.parse(source)):
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            level = getattr(node, "level", 0)
            assert level or not old & {name.split(".")[0] for name in names}, path


@pytest.mark.parametrize("is_git", [True, False])
def test_no_secret_and_of_a_git_checkout_no_untracked_file_is_packed(
    program: dict[str, Any], tmp_path: Path, is_git: bool
) -> None:
    checkout = tmp_path / "checkout"
    tracked = ["state.py", "graph/cli.py", "nodes/a.py", "extensions/b.py", "teams/x/.env.example"]
    tracked += ["supervisor_worker/__init__.py"]
    for name in (*tracked, "teams/x/.env", "teams/x/.env.local", "teams/x/key.pem"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    if is_git:
        subprocess.run(["git", "init", "-q", checkout], check=True)
        subprocess.run(["git", "-C", checkout, "add", "-f", *tracked, "teams/x/.env"], check=True)

    package = program["build_package"](checkout, tmp_path / "built")

    packed = {path.relative_to(package).as_posix() for path in package.rglob("*") if path.is_file()}
    expected = {name.removeprefix("supervisor_worker/") for name in tracked} | {"py.typed"}
    assert packed == expected | (set() if is_git else {"teams/x/key.pem"})


def move_types(code: int, data: bytes) -> ormsgpack.Ext:
    """Write our types as an installed package names them."""
    value = ormsgpack.unpackb(data, ext_hook=move_types, option=ormsgpack.OPT_NON_STR_KEYS)
    if isinstance(value, list) and value[0] == "state":
        value[0] = "supervisor_worker.state"
    return ormsgpack.Ext(code, ormsgpack.packb(value, option=ormsgpack.OPT_NON_STR_KEYS))


def test_a_checkpoint_of_an_installed_package_is_read_in_a_checkout() -> None:
    tasks = (
        Task(id="a", description="d", worker="w"),
        Task(id="b", description="d", worker="w", depends_on=(Dependency(task="a"),)),
    )
    value = {"plan": Plan(goal="supervisor_worker.state", tasks=tasks), 3: ["x", {1, 2}]}
    serializer = build_strict_serializer()
    kind, data = serializer.dumps_typed(value)
    option = ormsgpack.OPT_NON_STR_KEYS
    plain = ormsgpack.unpackb(data[:-4], ext_hook=move_types, option=option)
    moved = ormsgpack.packb(plain, option=option)
    assert b"supervisor_worker.state" in moved and state.__name__ == "state"

    back = serializer.loads_typed((kind.partition("+")[0], moved))

    assert back == value
    assert type(back["plan"]) is Plan
