"""Reads what of a team is on other servers: the MCP servers of its `mcp.json`, and workers."""

import json
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any, Final, get_args
from urllib.parse import urlsplit

from pydantic import ValidationError

from graph.teams.front_matter import FileProblem, YamlPage, read_text, suggest_name
from nodes.errors import describe_invalid
from nodes.errors.redaction import register_secrets
from nodes.limits.nesting import parse_json
from nodes.limits.patterns import Pattern
from nodes.schemas.servers import (
    MCP_PREFIX,
    HostTrust,
    McpServer,
    RemoteAccess,
    RemoteSpec,
    list_address_secrets,
    list_secrets,
    split_tool_name,
)
from state import TaintLabel

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
        raise FileProblem(path, f"server {name}: {describe_invalid(error)}") from None
    given = {**server.env, **server.headers}
    secrets = list_secrets(given) + list_address_secrets(server.url)
    register_secrets(text for text in secrets if "${" not in text)
    return server


REMOTE_KEYS: Final = ("remote", "graph", "a2a", "headers", "access")
LOCAL_KEYS: Final = ("tools", "reads_all", "team", "tier", "tiers", "max_turns")
"""Keys of workers that work here."""
_HEADER_NAME: Final = Pattern(r"[A-Za-z0-9!#$%&'*+.^_`|~\-]{1,100}")
_OWN_HEADERS: Final = frozenset(
    ("host", "connection", "content-length", "content-type", "transfer-encoding", "accept-encoding")
)
"""What the client itself sets."""


def read_remote_keys(
    page: YamlPage, keys: MutableMapping[str, Any], problems: list[FileProblem]
) -> RemoteSpec | None:
    """Take the keys of a remote worker out of front matter; None where it has none, or problems."""
    given = {name: keys.pop(name) for name in REMOTE_KEYS if name in keys}
    if not given:
        return None
    found = [page.build_problem(text, key) for key, text in _find_problems(given, keys)]
    problems += found
    if found:
        return None
    access = given.get("access", {})
    try:
        return RemoteSpec(
            protocol="a2a" if "a2a" in given else "agent_protocol",
            url=(given.get("a2a") or given["remote"]).rstrip("/"),
            graph=given.get("graph", ""),
            headers=given.get("headers", {}),
            access=RemoteAccess.model_validate(access),
        )
    except ValidationError:
        labels, sends = ", ".join(get_args(TaintLabel)), ", ".join(get_args(HostTrust))
        text = f"access must have the keys reads (a list of {labels}) and sends (one of {sends})"
        problems.append(page.build_problem(text, "access"))
        return None


def _find_problems(
    given: Mapping[str, Any], others: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    """Yield the keys that are wrong, and why."""
    match "remote" in given, "a2a" in given:
        case True, True:
            yield "a2a", "a worker has one of remote and a2a"
        case False, False:
            name = next(iter(given))
            yield name, f"{name} is for a worker on another server, which remote or a2a names"
        case True, False if not given.get("graph"):
            yield "remote", "graph is missing; it is the name of a graph, or an assistant's id"
        case False, True if "graph" in given:
            yield "graph", "an A2A agent is its address; remove graph"
    for name in LOCAL_KEYS:
        if name in others:
            yield name, "this is for workers that work here; remove it"
    yield from _find_value_problems(given)


def _find_value_problems(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("remote", "a2a"):
        if problem := _find_address_problem(given[name]) if name in given else "":
            yield name, f"{name} {problem}"
    for header in given.get("headers", {}):
        if not _HEADER_NAME.fullmatch(header) or header.lower() in _OWN_HEADERS:
            yield "headers", f"{header!r} is not a header that can be set here"


def _find_address_problem(address: str) -> str:
    try:
        parts = urlsplit(address)
        is_complete = parts.scheme in ("http", "https") and bool(parts.hostname)
        _ = parts.port
    except ValueError:
        is_complete = False
    if not is_complete or not address.isprintable() or " " in address:
        return "must be an address such as https://agents.example.com"
    if parts.username or parts.password:
        return 'holds a password; write it as a header: Authorization: "Bearer ${TOKEN}"'
    if parts.query or parts.fragment:
        return "must have no ? and no #"
    return ""
