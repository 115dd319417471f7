"""The house: imports go one way, and only three files join steps."""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from importlib.metadata import version
from pathlib import Path

import pytest
from langchain_core.runnables import RunnableConfig

from graph import build_supervisor
from graph.revision import Revision
from graph.settings import Settings
from graph.teams.team_loader import list_shipped_teams
from nodes.execution.dispatch_registry import DispatchRegistry, SavedDispatch
from nodes.models.catalog import ModelCatalog
from tests.teams import make_team
from tests.unit.test_plain_words import walk_source

pytestmark = pytest.mark.xdist_group("sources")

ROOT = Path(__file__).parents[2]
RANK = {"state": 0, "nodes": 1, "graph": 2, "extensions": 3, "teams": 4}
TOPOLOGY = {"graph/supervisor.py", "graph/worker.py", "graph/revision.py"}
IMPORT = re.compile(
    r"^ *(?:from|import) ((?:state|nodes|graph|extensions|teams)\b[\w.]*)", re.MULTILINE
)
QUOTED = re.compile(r"(?<=[\"'/])[a-z_]+(?=[\"'/])")
JOINING = re.compile(r"\.(?:add_node|add_edge|add_conditional_edges)\(")

SOURCES = [
    ROOT / "state.py",
    *sorted((ROOT / "nodes").rglob("*.py")),
    *sorted((ROOT / "graph").rglob("*.py")),
]
EXTENSIONS = sorted((ROOT / "extensions").rglob("*.py"))
TEAM_TOOLS = sorted((ROOT / "teams").glob("*/tools/**/*.py"))


async def read_nothing(_: RunnableConfig) -> SavedDispatch:
    return SavedDispatch()


def get_module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def get_relative_path(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def read_source(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def list_imports(path: Path) -> set[str]:
    """Return the modules of ours that a module imports; the linter bans relative imports."""
    return set(IMPORT.findall(read_source(path)))


def list_strings(path: Path) -> set[str]:
    """Return the parts between quotes and slashes, which names of teams would be."""
    return set(QUOTED.findall(read_source(path)))


@cache
def list_steps() -> frozenset[str]:
    """Return the files that stand directly in `nodes/`, each of which is a step."""
    files = (ROOT / "nodes").glob("*.py")
    return frozenset(f"nodes.{path.stem}" for path in files if path.stem != "__init__")


def find_package(module: str) -> str:
    """Return the folder below `nodes` or `graph` in which a module stands, else the module."""
    return ".".join(module.split(".")[:2])


def list_package_imports() -> dict[str, set[str]]:
    """Return which other packages each package imports, in functions and for types too."""
    found: dict[str, set[str]] = {}
    for path in SOURCES:
        package = find_package(get_module_name(path))
        found.setdefault(package, set()).update(map(find_package, list_imports(path)))
    return {package: others - {package} for package, others in found.items()}


def test_a_module_imports_only_its_own_layer_and_those_below() -> None:
    above = {
        get_module_name(path): {
            name
            for name in list_imports(path)
            if RANK[name.split(".")[0]] > RANK[get_module_name(path).split(".")[0]]
        }
        for path in SOURCES
    }

    assert not {name: found for name, found in above.items() if found}


def test_the_main_house_names_no_extension() -> None:
    named = [get_relative_path(path) for path in SOURCES if "extensions." in read_source(path)]

    assert named == []


def test_an_extension_imports_no_other_and_no_team() -> None:
    foreign = {
        get_relative_path(path): name
        for path in EXTENSIONS
        for name in list_imports(path)
        if name.startswith("teams")
        or (
            name.startswith("extensions.")
            and name.split(".")[1] != path.relative_to(ROOT / "extensions").parts[0]
        )
    }

    assert foreign == {}


def test_the_files_of_extensions_form_no_circle() -> None:
    """An extension's own module is its menu, which names files that it does not import."""
    found = {
        get_module_name(path): {each for each in list_imports(path) if each.count(".") > 1}
        for path in EXTENSIONS
        if path.parent.parent.name != "extensions" or path.name != "__init__.py"
    }

    order = list(TopologicalSorter(found).static_order())

    assert "extensions.tools.documents.parser" in order


def test_a_teams_tools_import_each_other_relatively_and_else_nodes_and_shared_tools() -> None:
    allowed = ("nodes.", "state", "extensions.tools.")
    imported = {
        get_relative_path(path): list_imports(path)
        for path in TEAM_TOOLS
        if any(not name.startswith(allowed) for name in list_imports(path))
    }

    assert imported == {}


def test_nothing_in_nodes_or_graph_names_a_shipped_team() -> None:
    named = {
        f"{get_relative_path(path)}: {name}"
        for path in SOURCES
        for name in list_strings(path) & {path.name for path in list_shipped_teams()}
    }

    assert named == set()


def test_no_step_is_imported_below_the_topology() -> None:
    below = [path for path in SOURCES if get_relative_path(path) not in TOPOLOGY]

    joined = {get_module_name(path): list_imports(path) & list_steps() for path in below}

    assert not {name: found for name, found in joined.items() if found}


def test_packages_form_no_circle() -> None:
    order = TopologicalSorter(list_package_imports()).static_order()

    assert "nodes.errors" in list(order)


def test_each_file_directly_in_nodes_is_a_node_of_a_drawn_graph() -> None:
    asking = make_team(recruit=True, approve_plan=True, critic=True, ladder=("refine", "human"))
    supervisor = build_supervisor(asking, settings=Settings())
    revision = Revision(
        asking,
        models=ModelCatalog(Settings().build_model_settings()),
        dispatches=DispatchRegistry(read_nothing),
        workers={},
    )
    drawn = {*supervisor.get_graph(xray=True).nodes, *revision.graph.get_graph().nodes}

    names = {name.rpartition(":")[2] for name in drawn}

    assert {step.removeprefix("nodes.") for step in list_steps()} <= names


def test_only_the_topology_files_add_nodes_and_edges() -> None:
    joining = {get_relative_path(path) for path in SOURCES if JOINING.search(read_source(path))}

    assert joining == TOPOLOGY


def test_the_environment_is_read_in_settings_only() -> None:
    texts = {get_module_name(path): read_source(path) for path in [*SOURCES, *EXTENSIONS]}

    assert [name for name, text in texts.items() if "os.environ" in text] == ["graph.settings"]
    assert [name for name, text in texts.items() if "getenv" in text] == []


def test_no_function_has_more_than_fifty_lines() -> None:
    long = [
        f"{get_relative_path(path)}: {each.name} has {size} lines"
        for path in [*SOURCES, *EXTENSIONS, *TEAM_TOOLS]
        for each in walk_source(read_source(path))
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)
        and (size := (each.end_lineno or 0) - each.lineno + 1) > 50
    ]

    assert long == []


def test_private_names_of_langgraph_are_in_one_module() -> None:
    """What another release may change is found there; `test_node_config.py` runs each name."""
    texts = {get_module_name(path): read_source(path) for path in [*SOURCES, *EXTENSIONS]}

    named = [name for name, text in texts.items() if "__pregel" in text]

    assert named == ["nodes.limits.langgraph_keys"]
    assert version("langgraph").startswith("1.2."), "run test_node_config.py with this release"


def test_a_file_stays_within_four_hundred_lines() -> None:
    """The vocabulary alone is longer: checkpoints name its module, so it is one file."""
    files = [*SOURCES[1:], *EXTENSIONS, *TEAM_TOOLS, *(ROOT / "tests").rglob("*.py")]
    lines = {get_relative_path(path): len(read_source(path).splitlines()) for path in files}

    assert {name: length for name, length in lines.items() if length > 400} == {}
