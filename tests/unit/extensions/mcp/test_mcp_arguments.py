"""Names and schemas of servers' tools, the arguments that are checked by them, and files."""

from pathlib import Path
from typing import Any

import pytest
from mcp.types import Tool

from extensions.mcp.server.server import choose_roots, resolve_file
from extensions.mcp.servers.listed_tool import ArgumentCheck, ListedTool, read_tool
from extensions.mcp.servers.mcp_tool import build_tool_name
from nodes.errors import FileUnreadable
from nodes.limits.nesting import MAX_EXPANDED_LEVELS, MAX_LEVELS
from nodes.limits.patterns import Pattern

DAY = {"type": "string", "format": "date"}


def make_schema(part: Any, **definitions: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": part}, "$defs": definitions}


def list_tool(part: Any, **definitions: Any) -> ListedTool:
    tool = read_tool(Tool(name="x", inputSchema=make_schema(part, **definitions)))
    assert tool
    return tool


def find_problem(part: Any, value: Any) -> str:
    return ArgumentCheck(make_schema(part)).find_problem({"a": value})


def test_a_tools_references_are_replaced_and_its_arguments_checked_by_them() -> None:
    tool = list_tool({"$ref": "#/$defs/day"}, day=DAY)

    assert (tool.problem, tool.schema["properties"]) == ("", {"a": DAY})
    assert tool.arguments.find_problem({"a": 3}) == "a: 3 is not of type 'string'"


def test_a_schema_of_the_greatest_depth_is_read() -> None:
    count = (MAX_EXPANDED_LEVELS - 4) // 2
    chain = {f"n{i}": {"not": {"$ref": f"#/$defs/n{i + 1}"}} for i in range(count)}

    tool = list_tool({"$ref": "#/$defs/n0"}, **chain, **{f"n{count}": DAY})

    assert tool.problem == ""


@pytest.mark.parametrize("pattern", ["(" * 4_000, "(?i)" + r"[\x00-\U0010ffff]" * 1_000, "(a+)+$"])
def test_a_pattern_is_not_read(pattern: str) -> None:
    assert list_tool({"type": "string", "pattern": pattern}).problem == ""


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"enum": ["x", "y"]}, "z"),
        ({"items": {"type": "integer"}}, [1, "x"]),
        ({"properties": {"b": DAY}, "required": ["b"]}, {}),
        ({"properties": {"b": DAY}, "additionalProperties": False}, {"c": 1}),
        ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 3),
        ({"maxLength": 3}, "long"),
        ({"minimum": 3}, 2),
        ({"exclusiveMaximum": 3}, 3),
    ],
)
def test_arguments_that_do_not_fit_are_named(part: Any, value: Any) -> None:
    assert find_problem(part, value).startswith("a")


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ({"not": {"pattern": "x"}}, "y"),
        ({"oneOf": [DAY, {"type": "string", "pattern": "x"}]}, "y"),
        ({"patternProperties": {"x": {}}, "additionalProperties": False}, {"x": 1}),
        ({"multipleOf": 0.5}, 10**400),
        ({"uniqueItems": True}, [1, 1]),
        ({"unevaluatedProperties": False}, {"x": 1}),
    ],
)
def test_what_takes_long_or_may_raise_is_left_to_the_server(part: Any, value: Any) -> None:
    assert find_problem(part, value) == ""


def test_many_arguments_for_a_large_schema_are_left_to_the_server() -> None:
    part = {"allOf": [{"items": {"type": "integer"}}] * 3_000}

    assert find_problem(part, ["x"]) and not find_problem(part, ["x"] * 3_000)


def test_arguments_of_the_greatest_depth_are_checked() -> None:
    value: Any = 3
    part: Any = {"type": "string"}
    for _ in range(MAX_LEVELS - 1):
        value, part = [value], {"anyOf": [{"items": part}]}

    assert find_problem(part, value)


ALLOWED = Pattern(r"[A-Za-z0-9_-]{1,64}")


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("github", "search_issues", "github_search_issues"),
        ("git", "git_log", "git_log"),
        ("fetch", "fetch", "fetch"),
        ("my.files", "read/text", "my_files_read_text"),
    ],
)
def test_a_name_holds_server_and_tool(server: str, tool: str, name: str) -> None:
    assert build_tool_name(server, tool) == name


def test_a_long_name_is_cut_and_stays_distinct() -> None:
    names = {build_tool_name("server", "x" * 100 + end) for end in ("a", "b")}

    assert len(names) == 2 and all(map(ALLOWED.fullmatch, names))


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "project"
    (folder / "docs").mkdir(parents=True)
    (folder / "docs" / "a.md").write_text("a")
    (tmp_path / "other.md").write_text("other")
    monkeypatch.chdir(folder)
    return folder.resolve()


def test_the_working_folder_is_the_root_of_a_client_that_declares_none(project: Path) -> None:
    assert choose_roots([]) == [project]
    assert resolve_file("docs/a.md", [project]) == project / "docs" / "a.md"
    assert resolve_file(str(project / "docs"), [project]) == project / "docs"


def test_a_home_folder_and_a_whole_disk_are_no_roots(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project))
    assert choose_roots([]) == []
    monkeypatch.chdir(project.parent)
    assert choose_roots([]) == []
    monkeypatch.chdir("/")
    assert choose_roots([]) == []
    assert choose_roots(["file:///"]) == []

    with pytest.raises(FileUnreadable, match="declares no root"):
        resolve_file("etc/passwd", [])


def test_declared_roots_replace_the_working_folder(project: Path, tmp_path: Path) -> None:
    spaced = tmp_path / "my files"
    spaced.mkdir()

    roots = choose_roots([spaced.as_uri(), "https://example.com/", "file://elsewhere/share"])

    assert roots == [spaced.resolve()]
    with pytest.raises(FileUnreadable, match="outside"):
        resolve_file(str(project / "docs" / "a.md"), roots)


@pytest.mark.parametrize(
    "name", ["../other.md", "docs/../../other.md", ".git/config", "docs/.secret", "link.md", "a\0b"]
)
def test_what_is_hidden_or_leads_outside_is_refused(project: Path, name: str) -> None:
    (project / "link.md").symlink_to(project.parent / "other.md")

    with pytest.raises(FileUnreadable):
        resolve_file(name, [project])
