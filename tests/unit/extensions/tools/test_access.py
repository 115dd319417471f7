"""Tools by name; what they read and send: declared, and true of what they import."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from graph.teams.team_warnings import list_trifecta_notes, list_trifecta_warnings
from nodes.errors import TeamInvalid
from nodes.schemas.team import Worker
from nodes.security.tool_access import (
    LOCAL_ACCESS,
    NON_LOCAL_TOOLS,
    UNDECLARED_ACCESS,
    get_shipped_access,
    read_access,
)
from nodes.tools.framework.catalog import list_shipped_tools, load_tools
from nodes.tools.framework.settings import ToolSettings
from nodes.tools.framework.tool_packages import name_tool_package
from tests.shipped_tools import find_team_tools
from tests.teams import make_team

ROOT = Path(__file__).parents[4]
CONNECTS = {
    *("httpx", "aiohttp", "requests", "urllib3", "ddgs", "socket", "smtplib", "urllib.request"),
}


@cache
def list_imports(module: str) -> frozenset[str]:
    """Return what a module names in its imports; nothing for what is no module of ours."""
    path = ROOT / f"{module.replace('.', '/')}.py"
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))) if path.exists() else ():
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            around = module.split(".")[: -node.level] if node.level else []
            base = ".".join([*around, *filter(None, [node.module])])
            names |= {base, *(f"{base}.{alias.name}" for alias in node.names)}
    return frozenset(names)


def list_reached_modules(module: str) -> set[str]:
    """Return all that a module of the tools imports, and that its own modules import."""
    reached, left = {module}, [module]
    while left:
        found = list_imports(left.pop()) - reached
        reached |= found
        left += [
            name for name in found if name.startswith(("extensions.", "nodes.tools", "teams."))
        ]
    return reached


@pytest.mark.parametrize("name", list_shipped_tools())
def test_a_shared_tool_that_can_connect_is_declared_as_one_that_sends(name):
    connects = list_reached_modules(".".join(("extensions.tools", name))) & CONNECTS

    assert get_shipped_access(name).sends != "nothing" or not connects


@pytest.mark.parametrize("name", find_team_tools())
def test_a_tool_of_a_shipped_team_declares_that_it_sends_nothing_and_cannot_connect(name):
    own = find_team_tools()[name]
    assert own.folder
    module = f"{name_tool_package(own.folder)}.{name}"

    assert (set(own.reads), own.sends) == ({"private", "untrusted"}, "nothing")
    assert not list_reached_modules(module) & CONNECTS


def test_the_declared_tools_exist_and_bear_their_declaration(tmp_path):
    tools = load_tools(list_shipped_tools(), ToolSettings(documents=tmp_path, output=tmp_path))

    assert set(NON_LOCAL_TOOLS) <= set(list_shipped_tools())
    assert {found.name: read_access(found) for found in tools} == {
        name: get_shipped_access(name) for name in list_shipped_tools()
    }
    assert (
        get_shipped_access("search_documents")
        == get_shipped_access("query_database")
        == LOCAL_ACCESS
    )


@tool
def stock(coffee: str) -> int:
    """Return the stock of a coffee."""
    return 40


def test_a_tool_of_the_users_own_counts_as_the_worst_until_it_declares_itself():
    declared = stock.model_copy(update={"metadata": {"reads": [], "sends": "nothing"}})

    assert read_access(stock) == UNDECLARED_ACCESS
    assert read_access(declared).sends == "nothing" and not read_access(declared).reads


def test_a_namesake_of_a_shipped_tool_is_not_taken_for_it():
    (found,) = load_tools(["extensions.tools.calculate:calculate"], ToolSettings())

    assert found.name == "calculate" and read_access(found.model_copy(update={"metadata": None}))


@pytest.mark.parametrize("metadata", [{"reads": "all"}, {"reads": ["secret"]}, {"sends": "mail"}])
def test_a_declaration_that_cannot_be_read_is_named(metadata):
    with pytest.raises(TeamInvalid, match="metadata of tool 'stock' is invalid"):
        read_access(stock.model_copy(update={"metadata": metadata}))


def make_worker(name, *tools):
    return Worker(name=name, description="Works.", instructions="Work.", tools=tools)


def test_what_a_worker_that_joins_all_three_cannot_do_is_noted_also_in_a_grant_and_within_a_team():
    trio = ("web_search", "fetch_page", "search_documents")
    inner = make_team(workers=(make_worker("scout", *trio),))
    office = Worker(name="office", description="Leads.", team=inner)

    (note, *_) = list_trifecta_notes(inner)
    assert "worker scout combines private data (search_documents)" in note
    assert list_trifecta_notes(make_team(workers=(office,)))[0].startswith(
        "office: worker scout combines"
    )
    assert "a specialist combines" in list_trifecta_notes(make_team(recruit=True, grant=trio))[0]
    apart = (make_worker("scout", *trio[:2]), make_worker("reader", trio[2]))
    assert list_trifecta_notes(make_team(workers=apart)) == []
    assert list_trifecta_warnings(inner) == []


def test_a_tool_that_declares_nothing_joins_all_three_by_itself():
    own = (
        make_worker("clerk", "tests.injections.tools:send"),
        make_worker("guard", "nowhere:tool"),
    )

    assert list_trifecta_notes(make_team(workers=own)) == []
    clerk, guard = list_trifecta_warnings(make_team(workers=own))
    assert clerk.startswith("tests.injections.tools:send does not declare")
    assert guard.startswith("nowhere:tool does not declare") and "worker guard is treated" in guard


def test_every_known_tool_loads_under_its_own_name_and_tells_the_model_an_example(tmp_path):
    tools = load_tools(list_shipped_tools(), ToolSettings(documents=tmp_path, output=tmp_path))

    assert [tool.name for tool in tools] == list_shipped_tools()
    assert all(f"Example: {tool.name}(" in tool.description for tool in tools)
    seen = [convert_to_openai_tool(tool)["function"]["parameters"]["properties"] for tool in tools]
    assert not any("materials" in properties for properties in seen)


def test_a_name_that_is_nearly_right_is_answered_with_the_right_one():
    with pytest.raises(TeamInvalid, match="did you mean 'calculate'"):
        load_tools(["calculat"], ToolSettings())


@pytest.mark.parametrize(
    "name",
    [
        *("settings", "../x", "", ":", "nodes.tools.nowhere:x", "extensions.tools.calculate:x"),
        *("json:dumps", "os:sep"),
    ],
)
def test_a_name_that_leads_to_no_tool_is_refused(name):
    with pytest.raises(TeamInvalid):
        load_tools([name], ToolSettings())


@pytest.mark.parametrize("name", ["calculat\u0435", "query_d\u0430tabase", "run_sqI", "Calculate"])
def test_i13_a_name_that_only_looks_like_a_tools_is_refused(name):
    with pytest.raises(TeamInvalid, match="unknown tool"):
        load_tools([name], ToolSettings())


@pytest.mark.slow
def test_naming_the_tools_imports_none_of_them():
    script = (
        "import sys; from nodes.tools.framework.catalog import list_shipped_tools; "
        "list_shipped_tools(); "
        "print([name for name in ('duckdb', 'docx', 'extensions.tools.calculate') "
        "if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )

    assert done.stdout.strip() == "[]"
