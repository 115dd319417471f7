"""What a remote worker is given, what it returns, and the session in which it works."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

RemoteStatus = Literal["done", "asks", "failed", "cancelled"]
HearEvent = Callable[[Mapping[str, Any]], Awaitable[None]]
"""Called with an event that the remote worker sends while it works."""


@dataclass(frozen=True, kw_only=True)
class RemoteRequest:
    """One task, in both forms that remote workers read."""

    key: str
    """The same for the same attempt, also after a crash: from it follow the ids of the far side."""
    words: str
    """The task, for a worker that takes materials beside it."""
    materials: Mapping[str, str] = field(default_factory=dict)
    full_text: str
    """The task with its materials, for a worker that takes only a message."""
    caps: Mapping[str, Any] = field(default_factory=dict)
    """`deadline_s`, `max_tokens`, `max_cost_usd`, as far as the run has them."""


@dataclass(frozen=True)
class RemoteStart:
    """How the work on a request began."""

    place: str
    """The id of the work on the far side."""
    is_joined: bool = False
    """It was begun before, and is continued."""
    answered: int = 0
    """Questions of the far side that were answered before."""


@dataclass(frozen=True)
class RemoteQuestion:
    """What the far side asks a human."""

    id: str
    value: Any  # JSON of any shape


@dataclass(frozen=True)
class RemoteState:
    """What the far side has reached when it no longer works."""

    status: RemoteStatus
    values: Any = None  # JSON of any shape
    questions: tuple[RemoteQuestion, ...] = ()
    error: str = ""


class RemoteSession(Protocol):
    """A connection to one remote worker for one attempt; every method may be called again."""

    can_reply: bool
    """Questions can be answered within the work."""

    async def probe(self) -> str:
        """Return what the far side offers, in one line; nothing is started there."""

    async def begin(self, request: RemoteRequest) -> RemoteStart:
        """Start the work on a request, or join it where it was started before."""

    async def wait(self, hear: HearEvent) -> RemoteState:
        """Return the state when the far side no longer works."""

    async def reply(self, replies: Mapping[str, Any], *, answered: int) -> None:
        """Answer the open questions, by their ids, so that the work continues.

        Args:
            answered: questions of this work that are answered then.
        """

    async def cancel(self) -> None:
        """End the work on the far side."""


OpenSession = Callable[[Mapping[str, str]], AbstractAsyncContextManager[RemoteSession]]
"""Opens a session; takes headers that are sent beside those of the worker."""
