"""A team's folder brings its own tools, wherever it is."""

import sys
from pathlib import Path

import pytest

from graph.settings import Settings
from graph.teams.team_loader import find_team, list_team_problems, list_teams, load_team
from graph.teams.team_warnings import list_trifecta_warnings
from nodes.errors import TeamInvalid
from nodes.security.tool_access import get_declared_access, reaches_outside, read_access
from nodes.tools.framework.catalog import find_own_tools, load_tools
from nodes.tools.framework.isolation import run_isolated_blocking
from nodes.tools.framework.own_tools_check import check_own_tools
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_packages import import_tool_module

TEAM = "---\ndescription: Weighs.\n---\nPlan the weighing.\n"
WORKER = "---\ndescription: Weighs things.\ntools: [{tools}]\n---\nWeigh.\n"
TOOL = '''"""Weigh."""

from langchain_core.tools import tool

from .helpers.scale import read_scale

ACCESS = {{"reads": ["private"], "sends": "{sends}"}}


@tool
def {name}(thing: str) -> int:
    """Return a weight."""
    return read_scale(thing)
'''


def write_team(folder: Path, *, name: str = "weigh", sends: str = "nothing") -> Path:
    helpers = folder / "tools" / "helpers"
    helpers.mkdir(parents=True)
    (folder / "team.md").write_text(TEAM)
    (folder / "scales.md").write_text(WORKER.format(tools=name))
    (folder / "tools" / f"{name}.py").write_text(TOOL.format(name=name, sends=sends))
    (helpers / "scale.py").write_text("def read_scale(thing):\n    return len(thing)\n")
    return folder


def test_a_tool_is_a_file_beside_the_worker_and_may_import_its_neighbours(tmp_path):
    team = load_team(write_team(tmp_path / "lab"))

    (tool,) = load_tools(["weigh"], ToolSettings(), team.own_tools)

    assert tool.invoke({"thing": "apple"}) == 5


def test_two_teams_may_have_tools_of_one_name(tmp_path):
    one, other = write_team(tmp_path / "a" / "lab"), write_team(tmp_path / "b" / "lab")
    (other / "tools" / "helpers" / "scale.py").write_text("def read_scale(thing):\n    return 1\n")

    weights = [
        load_tools(["weigh"], ToolSettings(), load_team(folder).own_tools)[0].invoke(
            {"thing": "xy"}
        )
        for folder in (one, other)
    ]

    assert weights == [2, 1]


def test_what_a_tool_reads_and_sends_is_known_without_importing_it(tmp_path):
    folder = write_team(tmp_path / "lab", sends="query")
    (folder / "tools" / "helpers" / "scale.py").write_text("raise SystemError")

    team = load_team(folder)

    assert get_declared_access("weigh", team).sends == "query" and reaches_outside(team)


def test_a_tool_without_a_declaration_counts_as_the_least_trusted(tmp_path):
    folder = write_team(tmp_path / "lab")
    file = folder / "tools" / "weigh.py"
    file.write_text(file.read_text().replace("ACCESS", "OTHER"))
    team = load_team(folder)

    (tool,) = load_tools(["weigh"], ToolSettings(), team.own_tools)

    assert read_access(tool).sends == "anything" and reaches_outside(team)


@pytest.mark.slow
def test_an_invalid_declaration_is_named_with_its_file(tmp_path):
    folder = write_team(tmp_path / "lab", sends="letters")

    (problem,) = list_team_problems(folder)

    assert "weigh.py, line 7, is invalid" in problem and "sends" in problem
    assert check_own_tools(folder / "tools") == []


def test_a_tool_of_the_team_comes_before_a_shared_one_of_its_name(tmp_path):
    team = load_team(write_team(tmp_path / "lab", name="calculate"))

    (tool,) = load_tools(["calculate"], ToolSettings(), team.own_tools)

    assert tool.invoke({"thing": "abc"}) == 3


def test_an_unknown_name_is_answered_with_the_teams_own_tools_too(tmp_path):
    folder = write_team(tmp_path / "lab")
    (folder / "scales.md").write_text(WORKER.format(tools="wiegh"))

    (problem,) = list_team_problems(folder)

    assert "did you mean 'weigh'" in problem


@pytest.mark.slow
def test_a_tool_that_does_not_import_is_one_line_at_the_check_and_in_a_run(tmp_path):
    folder = write_team(tmp_path / "lab")
    (folder / "tools" / "helpers" / "scale.py").write_text("import nowhere_at_all\n")
    team = load_team(folder)

    (problem,) = check_own_tools(folder / "tools")

    assert problem.line == 5 and "No module named 'nowhere_at_all'" in problem.text
    with pytest.raises(TeamInvalid, match="nowhere_at_all"):
        load_tools(["weigh"], ToolSettings(), team.own_tools)


@pytest.mark.slow
def test_a_child_process_imports_the_tools_of_a_folder_anywhere(tmp_path):
    tools = write_team(tmp_path / "lab") / "tools"
    module = import_tool_module(tools, "helpers.scale")

    weight = run_isolated_blocking(f"{module.__name__}:read_scale", timeout_s=30, thing="pear")

    assert weight == 4


def test_a_file_that_does_not_define_its_name_is_no_tool(tmp_path):
    (tmp_path / "notes.py").write_text("x = 1\n")

    assert find_own_tools(tmp_path) == {} and find_own_tools(tmp_path / "none") == {}


def test_a_team_in_an_installed_package_is_found_by_its_name(tmp_path, monkeypatch):
    write_team(tmp_path / "acme_teams" / "weighing")
    metadata = tmp_path / "acme_teams-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-teams\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[supervisor_worker.teams]\nweighing = acme_teams.weighing\nbroken = nowhere.at_all\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    assert find_team("weighing", Settings()) == tmp_path / "acme_teams" / "weighing"
    assert "weighing" in [path.name for path in list_teams(Settings())]
    assert load_team("weighing").own_tools["weigh"].sends == "nothing"
    sys.modules.pop("acme_teams", None)


HEAD = "from langchain_core.tools import tool\n\n@tool\n"
BAD_TOOLS = {
    f"{HEAD}def weigh(thing) -> int:\n    'Return a weight.'\n": (4, "'thing' has no type"),
    f"{HEAD}def weigh(\n    thing: str,\n    digits: int = 'two',\n) -> int:\n    'Weigh.'\n": (
        6,
        "the default 'two' of parameter 'digits' does not fit its type",
    ),
    f"{HEAD}def weigh(thing: str = None) -> int:\n    'Weigh.'\n": (4, "the default None of"),
    f"{HEAD}def other(thing: str) -> int:\n    'Weigh.'\n": (4, "name the file other.py"),
    f"{HEAD[:-1]}('mass')\ndef weigh(thing: str) -> int:\n    'Weigh.'\n": (4, "use one name"),
    f"{HEAD}def weigh(thing: str) -> int:\n    return 1\n": (3, "must have a docstring"),
    "def weigh(thing: str) -> int:\n    return thing.mass\n": (0, "decorate it"),
    "import sys\nsys.exit(1)\nweigh = None\n": (2, "SystemExit: 1"),
    "def weigh(:\n": (1, "SyntaxError"),
}


@pytest.mark.slow
def test_a_tool_that_no_model_can_use_is_one_line_with_file_and_line(tmp_path):
    files = [tmp_path / f"weigh_{number}.py" for number in range(len(BAD_TOOLS))]
    for file, source in zip(files, BAD_TOOLS, strict=True):
        file.write_text(source.replace("weigh", file.stem))

    problems = {problem.file: problem for problem in check_own_tools(tmp_path)}

    assert sorted(problems) == sorted(map(str, files))
    for file, (line, text) in zip(files, BAD_TOOLS.values(), strict=True):
        assert problems[str(file)].line == line and text in problems[str(file)].text


@pytest.mark.slow
def test_a_tool_whose_parameters_have_types_and_fitting_defaults_is_accepted(tmp_path):
    folder = write_team(tmp_path / "lab")
    (folder / "tools" / "weigh.py").write_text(
        f"{HEAD}def weigh(things: list[str] = (), share: float = 1, unit: str | None = None):\n"
        "    'Return weights.'\n"
    )

    assert check_own_tools(folder / "tools") == []


def test_two_tools_of_one_name_are_refused_for_a_worker(tmp_path):
    folder = write_team(tmp_path / "lab", name="calculate")
    (tmp_path / "lab" / "tools" / "sum_up.py").write_text(
        f"{HEAD[:-1]}('calculate')\ndef sum_up(thing: str) -> int:\n    'Add.'\n"
    )

    with pytest.raises(TeamInvalid, match="two tools are named 'calculate'"):
        load_tools(["calculate", "sum_up"], ToolSettings(), load_team(folder).own_tools)


def test_the_warning_on_a_tool_without_a_declaration_shows_how_to_declare_it(tmp_path):
    folder = write_team(tmp_path / "lab")
    file = folder / "tools" / "weigh.py"
    file.write_text(file.read_text().replace("ACCESS", "OTHER"))

    (warning,) = list_trifecta_warnings(load_team(folder))

    assert "tools/weigh.py" in warning and 'ACCESS = {"reads": ["private"]' in warning
