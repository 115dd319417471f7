"""Servers that a team's files name: a worker elsewhere, and an MCP server with its tools.

Values still hold their `${VARIABLES}`: a secret is put in only when the server is connected.
"""

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, Final, Literal, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import AliasChoices, BeforeValidator, Field, field_serializer, model_validator

from nodes.errors.redaction import MASK
from state import Frozen, TaintLabel

RemoteProtocol = Literal["agent_protocol", "a2a"]
HostTrust = Literal["nothing", "anything"]
ALL_LABELS: Final[tuple[TaintLabel, ...]] = ("private", "untrusted")


class RemoteAccess(Frozen):
    """What a remote worker reads, and whether what it is given leaves the user's own machines."""

    reads: tuple[TaintLabel, ...] = ALL_LABELS
    """Labels of its answer."""
    sends: HostTrust = "anything"
    """`anything`: it may pass on what it is given, so nothing private is sent to it. `nothing`: it
    passes nothing on, so it may be given what is private."""


class RemoteSpec(Frozen):
    """Where a remote worker is, and how it is called."""

    protocol: RemoteProtocol = "agent_protocol"
    url: str
    graph: str = ""
    """Graph or assistant at the address; empty for an A2A agent, which is the address."""
    headers: Mapping[str, str] = Field(default_factory=dict)
    """As written: `${VAR}` is replaced when a run needs the worker."""
    access: RemoteAccess = RemoteAccess()

    @field_serializer("headers")
    def _hide_values(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers as they may be shown: a value that is written out is none of them."""
        return {name: text if "${" in text else MASK for name, text in headers.items()}

    @property
    def host(self) -> str:
        """Return the host and the port, which messages name; never a path or a header."""
        return urlsplit(self.url).netloc.rpartition("@")[2]

    def describe(self) -> str:
        """Return the worker's place in a few words."""
        return f"graph {self.graph} at {self.host}" if self.graph else f"A2A agent at {self.host}"


MCP_PREFIX: Final = "mcp:"
"""Begins the name of a server's tool in a team's files: `mcp:SERVER/TOOL`."""
DEFAULT_TIMEOUT_S: Final = 30.0
PUBLIC_HEADERS: Final = frozenset(("accept", "accept-language", "content-type", "user-agent"))
MIN_KEY_CHARS: Final = 20
"""Of a part of an address's path that may be a key; names of places are shorter."""
Transport = Literal["stdio", "http", "sse"]


def _read_transport(value: Any) -> Any:
    """Return the transport, which others also name `streamable-http`."""
    return "http" if value in ("streamable-http", "streamable_http") else value


class McpServer(Frozen):
    """How a server is started or reached, and how far the user trusts it."""

    transport: Annotated[Transport, BeforeValidator(_read_transport)] = Field(
        "stdio", validation_alias=AliasChoices("type", "transport")
    )
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = Field(default_factory=dict, repr=False, exclude=True)
    cwd: str = ""
    url: str = ""
    headers: dict[str, str] = Field(default_factory=dict, repr=False, exclude=True)
    trust: bool = False
    """Whether its own hints about a tool may allow more than the team's files do."""
    timeout_s: float = Field(DEFAULT_TIMEOUT_S, gt=0, le=600, allow_inf_nan=False)
    """Seconds for the connection, and for each call."""
    folder: str = Field("", exclude=True)
    """The team's folder: the place of `mcp.json` and of the lock."""

    @property
    def texts(self) -> tuple[str, ...]:
        """All texts that may name variables."""
        own = (self.command, *self.args, self.cwd, self.url)
        return (*own, *self.env.values(), *self.headers.values())

    @model_validator(mode="before")
    @classmethod
    def _find_transport(cls, value: Any) -> Any:
        is_web = isinstance(value, dict) and "url" in value
        if is_web and not {"type", "transport"} & value.keys():
            return {**value, "type": "http"}
        return value

    @model_validator(mode="after")
    def _require_place(self) -> Self:
        if self.transport == "stdio" and (not self.command or self.url or self.headers):
            raise ValueError("a server of type stdio needs a command, and has no url or headers")
        if self.transport != "stdio" and (not self.url or self.command or self.args or self.env):
            raise ValueError(f"a server of type {self.transport} needs a url, and has no command")
        if self.url and not _is_address(self.url):
            raise ValueError("url must be an address such as https://example.com/mcp")
        return self


def _is_address(url: str) -> bool:
    """Return whether an address can be one, with its variables still to be put in."""
    try:
        parts = urlsplit(url)
        has_port = "${" in url or parts.port is None or parts.port > 0
    except ValueError:
        return False
    return has_port and (parts.scheme in ("http", "https") or url.startswith("${"))


def split_tool_name(name: str) -> tuple[str, str] | None:
    """Return the server and the tool, or pattern of tools, of `mcp:SERVER/TOOL`; else None."""
    if not name.startswith(MCP_PREFIX):
        return None
    server, _, tool = name.removeprefix(MCP_PREFIX).partition("/")
    return server, tool


def matches_pattern(name: str, pattern: str) -> bool:
    """Return whether a tool's name `mcp:SERVER/TOOL` is, or is one of, those of a pattern."""
    wanted, found = split_tool_name(pattern), split_tool_name(name)
    if not wanted or not found:
        return False
    return wanted[0] == found[0] and fnmatchcase(found[1], wanted[1])


def is_pattern(name: str) -> bool:
    """Return whether `mcp:SERVER/TOOL` may mean several tools."""
    split = split_tool_name(name)
    return split is not None and not {"*", "?", "["}.isdisjoint(split[1])


def list_secrets(values: Mapping[str, str]) -> list[str]:
    """Return what may be secret of variables or headers, by name: `Bearer abc` is also `abc`."""
    kept = [value for name, value in values.items() if name.lower() not in PUBLIC_HEADERS]
    return [secret for value in kept for secret in (value, value.rpartition(" ")[2])]


def list_address_secrets(url: str) -> list[str]:
    """Return what may be secret in an address: its password, the values of its query, its path.

    Of the path, the parts that are as long as a key. An address that is none has no secrets.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    values = [value for _, value in parse_qsl(parts.query)]
    values += [part for part in parts.path.split("/") if len(part) >= MIN_KEY_CHARS]
    return [*values, *([unquote(parts.password)] if parts.password else [])]
