"""Reads a team's `mcp.json`, and checks what the team's other files say of its servers."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from graph.teams.front_matter import FileProblem, YamlPage, read_text
from graph.teams.front_matter_keys import suggest_name
from nodes.errors.redaction import register_secrets
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.schemas.servers import (
    MCP_PREFIX,
    McpServer,
    list_address_secrets,
    list_secrets,
    split_tool_name,
)

MCP_FILE: Final = "mcp.json"
SERVERS_KEY: Final = "mcpServers"
MAX_SERVERS: Final = 32
_SERVER_NAME: Final = Pattern(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,39}")
_TOOL_PATTERN: Final = Pattern(r"[\w.\-*?\[\]!/]{1,128}")
_KEYS: Final = (
    "type",
    *(name for name in McpServer.model_fields if name not in ("transport", "folder")),
)


def read_servers(folder: Path) -> tuple[dict[str, McpServer], list[FileProblem]]:
    """Return the servers of a team's folder by name, and the problems of its `mcp.json`.

    Nothing is started. Values of headers and of `env` are registered for redaction.
    """
    path = folder / MCP_FILE
    if not path.exists() and not path.is_symlink():
        return {}, []
    try:
        entries = _read_entries(path, folder)
    except FileProblem as problem:
        return {}, [problem]
    servers, problems = dict[str, McpServer](), list[FileProblem]()
    for name, entry in entries.items():
        try:
            servers[name] = _read_server(path, name, entry)
        except FileProblem as problem:
            problems.append(problem)
    return servers, problems


def list_unknown_tools(
    page: YamlPage, key: str, names: Iterable[str], servers: Mapping[str, McpServer]
) -> Iterator[FileProblem]:
    """Yield the names under `access` and `approve` that are no tools of a server."""
    for index, name in enumerate(names):
        place = name if key == "access" else index
        if split_tool_name(name) is None:
            text = f"{key}: {name!r} must be written {MCP_PREFIX}SERVER/TOOL"
            yield page.build_problem(text, key, place)
        elif text := find_name_problem(name, servers):
            yield page.build_problem(f"{key}: {text}", key, place)


def find_name_problem(name: str, servers: Mapping[str, McpServer]) -> str:
    """Return why `mcp:SERVER/TOOL` cannot be a tool; empty if it can."""
    server, tool = split_tool_name(name) or ("", "")
    if not _TOOL_PATTERN.fullmatch(tool):
        return f"tool {name!r} must be written {MCP_PREFIX}SERVER/TOOL, such as mcp:git/git_log"
    if server in servers:
        return ""
    if not servers:
        return f"tool {name!r}: the team has no {MCP_FILE}"
    known = f"; known: {', '.join(servers)}"
    return f"tool {name!r}: {MCP_FILE} has no server {server!r}" + (
        suggest_name(server, servers) or known
    )


def _read_entries(path: Path, folder: Path) -> dict[str, Any]:
    try:
        content = parse_json(read_text(path, folder))
    except json.JSONDecodeError as error:
        raise FileProblem(path, f"JSON syntax: {error.msg}", error.lineno) from None
    except ValueError as error:
        raise FileProblem(path, str(error), 1) from None
    if not isinstance(content, dict) or not isinstance(content.get(SERVERS_KEY), dict):
        raise FileProblem(path, f'must be written {{"{SERVERS_KEY}": {{NAME: {{…}}}}}}', 1)
    if unknown := sorted(content.keys() - {SERVERS_KEY, "$schema"}):
        raise FileProblem(path, f"unknown key {unknown[0]!r}; known: {SERVERS_KEY}", 1)
    entries: dict[str, Any] = content[SERVERS_KEY]
    if len(entries) > MAX_SERVERS:
        raise FileProblem(path, f"has {len(entries)} servers; allowed: {MAX_SERVERS}", 1)
    return entries


def _read_server(path: Path, name: str, entry: Any) -> McpServer:
    if not _SERVER_NAME.fullmatch(name):
        raise FileProblem(path, f"server {name!r:.60}: allowed are letters, digits, _, . and -")
    if not isinstance(entry, dict):
        raise FileProblem(path, f"server {name}: must be an object with a command or a url")
    if unknown := sorted(entry.keys() - set(_KEYS)):
        hint = suggest_name(unknown[0], _KEYS) or f"; known keys: {', '.join(_KEYS)}"
        raise FileProblem(path, f"server {name}: unknown key {unknown[0]!r}{hint}")
    try:
        server = McpServer.model_validate({**entry, "folder": str(path.parent.absolute())})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        text = first["msg"].removeprefix("Value error, ")
        raise FileProblem(path, f"server {name}: {f'{place}: ' if place else ''}{text}") from None
    given = {**server.env, **server.headers}
    secrets = list_secrets(given) + list_address_secrets(server.url)
    register_secrets(text for text in secrets if "${" not in text)
    return server
