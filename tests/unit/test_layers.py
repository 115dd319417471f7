"""The house: imports go one way, and only two files join steps."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RANK = {"state": 0, "nodes": 1, "graph": 2}
FOUNDATIONS = {"nodes.models", "nodes.tools", "nodes.checks", "nodes.synthesis"}
"""What steps stand on, in folders below them; none of these may import a step."""
TOPOLOGY = {"graph/supervisor.py", "graph/worker.py"}

SOURCES = [
    ROOT / "state.py",
    *sorted((ROOT / "nodes").rglob("*.py")),
    *sorted((ROOT / "graph").rglob("*.py")),
]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found.add(str(node.module))
    return {name for name in found if name.split(".")[0] in RANK}


def steps() -> set[str]:
    """Each step is a file of `nodes/` that a topology file adds as a node."""
    joined = set().union(*(imports(ROOT / path) for path in TOPOLOGY))
    return {name for name in joined if name.count(".") == 1 and name.startswith("nodes.")} - {
        "nodes.errand",
        "nodes.rendezvous",
        "nodes.agent",
    }


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_a_module_imports_only_its_own_layer_and_those_below(path: Path) -> None:
    rank = RANK[module_name(path).split(".")[0]]

    above = {name for name in imports(path) if RANK[name.split(".")[0]] > rank}

    assert not above


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_no_step_is_imported_below_the_topology(path: Path) -> None:
    if path.relative_to(ROOT).as_posix() in TOPOLOGY:
        return

    imported_steps = imports(path) & steps()

    assert not imported_steps


def test_the_steps_are_those_of_the_picture() -> None:
    assert steps() == {
        "nodes.act",
        "nodes.approval",
        "nodes.assess",
        "nodes.await_inputs",
        "nodes.consult",
        "nodes.critic",
        "nodes.recruit",
        "nodes.refine",
        "nodes.supervisor",
        "nodes.synthesizer",
    }


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_only_the_topology_files_add_nodes_and_edges(path: Path) -> None:
    called = {
        node.func.attr
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    }
    joins = called & {"add_node", "add_edge", "add_conditional_edges"}

    assert not joins or path.relative_to(ROOT).as_posix() in TOPOLOGY


@pytest.mark.parametrize("path", SOURCES, ids=module_name)
def test_the_environment_is_read_in_settings_only(path: Path) -> None:
    text = path.read_text(encoding="utf-8")

    assert "os.environ" not in text or module_name(path) == "graph.settings"
    assert "getenv" not in text


@pytest.mark.parametrize("path", SOURCES[1:], ids=module_name)
def test_a_file_stays_within_four_hundred_lines(path: Path) -> None:
    """The vocabulary alone is longer: checkpoints name its module, so it is one file."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
