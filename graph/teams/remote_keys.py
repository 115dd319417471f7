"""Reads the keys of a worker on another server: `remote` and `graph`, or `a2a`."""

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Final, get_args
from urllib.parse import urlsplit

from pydantic import ValidationError

from graph.teams.front_matter import FileProblem, YamlPage
from nodes.limits.patterns import Pattern
from nodes.schemas.servers import HostTrust, RemoteAccess, RemoteSpec
from state import TaintLabel

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
