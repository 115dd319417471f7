"""Tools that a program passes as objects."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool, tool

from graph import build_supervisor, load_team
from nodes.errors import SettingsInvalid, TeamInvalid
from nodes.schemas.team import Team, Worker
from nodes.security.tool_access import get_declared_access, reaches_outside
from nodes.tools.framework.catalog import load_tools
from nodes.tools.framework.given_tools import check_given_tools
from nodes.tools.framework.settings import ToolSettings


def make_tool(**metadata: Any) -> BaseTool:
    @tool
    def weigh(thing: str) -> int:
        """Return a weight."""
        return len(thing)

    weigh.metadata = metadata or None
    return weigh


def make_team() -> Team:
    worker = Worker(name="scales", description="Weighs.", instructions="Weigh.", tools=("weigh",))
    return Team(name="lab", description="A lab.", guidance="Plan.", workers=(worker,))


def test_a_tool_is_loaded_with_the_access_it_declares() -> None:
    given = {"weigh": make_tool(reads=["private"], sends="nothing")}

    team = load_team(make_team(), tools=given)
    (loaded,) = load_tools(["weigh"], ToolSettings(given=given), team.own_tools)

    assert loaded.invoke({"thing": "apple"}) == 5
    assert not reaches_outside(team) and get_declared_access("weigh", team).sends == "nothing"


def test_a_tool_without_a_declaration_is_trusted_least_also_in_a_team_within_the_team() -> None:
    desk = Worker(name="desk", description="Is a team.", team=make_team())
    outer = Team(name="outer", description="O.", guidance="P.", workers=(desk,))

    team = load_team(outer, tools={"weigh": make_tool()})

    inner = team.workers[0].team
    assert inner and get_declared_access("weigh", inner).sends == "anything"
    assert reaches_outside(team)


def test_a_worker_in_a_file_may_name_a_tool_that_the_program_passes(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "lab" / "team.md").write_text("---\ndescription: Weighs.\n---\nPlan.\n")
    page = "---\ndescription: Weighs things.\ntools: [weigh]\n---\nWeigh.\n"
    (tmp_path / "lab" / "scales.md").write_text(page)

    with pytest.raises(TeamInvalid, match="unknown tool 'weigh'"):
        load_team(tmp_path / "lab")
    graph = build_supervisor(tmp_path / "lab", tools={"weigh": make_tool()})

    assert graph.team.own_tools["weigh"].folder is None


@pytest.mark.parametrize(
    ("tools", "said"),
    [
        ({"weigh": len}, "not a tool"),
        ({5: make_tool()}, "not a tool's name"),
        ({"a:b": make_tool()}, "not a tool's name"),
        ({"other": make_tool()}, "no worker of team lab has the tool 'other'"),
    ],
)
def test_what_is_no_tool_or_belongs_to_no_worker_is_refused(tools: Any, said: str) -> None:
    with pytest.raises(SettingsInvalid, match=said):
        build_supervisor(make_team(), tools=tools)


def test_an_access_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TeamInvalid, match="metadata of tool 'weigh'"):
        check_given_tools({"weigh": make_tool(sends="everything")})


def test_a_tool_of_an_adapter_whose_schema_cannot_be_expanded_is_refused_by_name() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}
    weigh = StructuredTool(name="weigh", description="Weighs.", args_schema=schema, func=print)

    with pytest.raises(SettingsInvalid, match=r"the schema of tools\['weigh'\] is refused"):
        check_given_tools({"weigh": weigh})
