"""Tools by name."""

import subprocess
import sys
from pathlib import Path

import pytest
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from nodes.errors import TeamInvalid
from nodes.tools.framework.catalog import list_shipped_tools, load_tools
from nodes.tools.framework.settings import ToolSettings

ROOT = Path(__file__).parents[4]


def test_the_known_tools_are_the_files_that_define_one():
    assert {"calculate", "search_documents", "query_database"} <= set(list_shipped_tools())
    assert not {"catalog", "settings", "isolation", "plain_text"} & set(list_shipped_tools())


def test_every_known_tool_loads_under_its_own_name_and_tells_the_model_an_example(tmp_path):
    tools = load_tools(list_shipped_tools(), ToolSettings(documents=tmp_path, output=tmp_path))

    assert [tool.name for tool in tools] == list_shipped_tools()
    assert all(f"Example: {tool.name}(" in tool.description for tool in tools)
    seen = [convert_to_openai_tool(tool)["function"]["parameters"]["properties"] for tool in tools]
    assert not any("materials" in properties for properties in seen)


def test_a_tool_of_the_users_own_is_named_by_module_and_attribute():
    (tool,) = load_tools(["extensions.tools.calculate:calculate"], ToolSettings())

    assert isinstance(tool, BaseTool)


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
        "print([name for name in ('duckdb', 'simpleeval', 'docx', 'extensions.tools.calculate') "
        "if name in sys.modules])"
    )

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )

    assert done.stdout.strip() == "[]"
