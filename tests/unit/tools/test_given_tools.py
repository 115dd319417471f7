"""Tools that a program passes as objects, and arguments that do not fit a tool's schema."""

from pathlib import Path
from typing import Any

import pytest
from langchain_core.tools import BaseTool, StructuredTool, tool

from graph import build_supervisor, load_team
from nodes.errors import SettingsInvalid, TeamInvalid, ToolRefused
from nodes.schemas.team import Team, Worker
from nodes.security.tool_access import get_declared_access, reaches_outside
from nodes.tools.framework.catalog import declare_given_tools, load_tools
from nodes.tools.framework.settings import ToolSettings
from tests.shipped_tools import list_all_tools, load_shipped_tools
from tests.teams import write_team
from tests.unit.tools.test_no_blocking import CALLS


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
    lab = write_team(tmp_path / "lab", scales="description: Weighs things.\ntools: [weigh]")

    with pytest.raises(TeamInvalid, match="unknown tool 'weigh'"):
        load_team(lab)
    graph = build_supervisor(lab, tools={"weigh": make_tool()})

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
        declare_given_tools({"weigh": make_tool(sends="everything")})


def test_a_tool_of_an_adapter_whose_schema_cannot_be_expanded_is_refused_by_name() -> None:
    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/x"}}}
    weigh = StructuredTool(name="weigh", description="Weighs.", args_schema=schema, func=print)

    with pytest.raises(SettingsInvalid, match=r"the schema of tools\['weigh'\] is refused"):
        declare_given_tools({"weigh": weigh})


FILES = {"h.csv": "ticker,quantity\nAAA,1\n", "p.csv": "date,AAA\n2025-01-03,9\n"}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("trade_list", {"max_turnover_percent": "much"}, "max_turnover_percent: .* not 'much'"),
        ("trade_list", {"max_turnover_percent": 101}, "less than or equal to 100, not 101"),
        ("trade_list", {"max_turnover_percent": float("nan")}, "max_turnover_percent: .* not nan"),
        ("trade_list", {"deposit_amount": float("inf")}, "deposit_amount: .* not inf"),
        ("trade_list", {"min_trade_amount": -1}, "min_trade_amount: .* not -1"),
        ("trade_list", {"target_weights_percent": {"AAA": -5}}, "target_weights_percent.AAA: "),
        ("trade_list", {"equal_weights": "momentum"}, "equal_weights: .* not 'momentum'"),
        ("trade_list", {"keep": ["A" * 10_000_000]}, "keep.0: .* at most 15 characters"),
        ("trade_list", {"files": ["x"] * 10_000}, "files: .* at most 20 items"),
        ("market_data", {"as_of": "last Monday"}, "as_of: .* valid date.* not 'last Monday'"),
        ("launch_price", {"price_amount": 0}, "price_amount: .* greater than 0, not 0"),
        ("launch_price", {"unit_cost_amount": 1e300}, "unit_cost_amount: "),
        ("check_copy", {"texts": [{"channel": "fax", "text": "x"}]}, "texts.0.channel: "),
        ("check_copy", {"texts": [{"channel": "sms", "text": "x" * 10_000_000}]}, "texts.0.text: "),
        ("check_copy", {"channels": ["sms"] * 31}, "channels: .* at most 30 items"),
    ],
)
async def test_an_argument_that_does_not_fit_is_named_with_what_would(tool, arguments, message):
    (loaded,) = load_shipped_tools([tool], ToolSettings())

    with pytest.raises(ToolRefused, match=message) as raised:
        await loaded.ainvoke({**arguments, "materials": FILES})

    assert "\n" not in str(raised.value) and len(str(raised.value)) < 400


@pytest.mark.parametrize("name", list_all_tools())
async def test_an_argument_of_the_wrong_kind_is_refused_by_its_name(name):
    (loaded,) = load_shipped_tools([name], ToolSettings(documents=Path(), sql_url="a.csv"))

    for argument in set(loaded.args) - {"materials"}:
        with pytest.raises(ToolRefused, match=argument):
            await loaded.ainvoke({**CALLS.get(name, {}), argument: {"no": [None]}})


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ("market_data", "no CSV material is a table of holdings"),
        ("launch_price", "no CSV material has columns of prices and units"),
    ],
)
async def test_the_wrong_kind_of_file_is_refused_with_the_names_of_the_files(tool, message):
    (loaded,) = load_shipped_tools([tool], ToolSettings())

    with pytest.raises(ToolRefused, match=f"{message}.*; materials of this task: lease.txt"):
        await loaded.ainvoke({"materials": {"lease.txt": "The tenant may keep one cat."}})
