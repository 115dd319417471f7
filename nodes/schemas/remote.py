"""A worker on another server, as its front matter describes it."""

from collections.abc import Mapping
from typing import Final, Literal
from urllib.parse import urlsplit

from pydantic import Field, field_serializer

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
