"""The connection of a command to a server of the Agent Protocol: LangGraph's, or Aegra.

What the server sends is untrusted: answers have a limit, redirects are refused, and every failure
is one line.
"""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from langgraph_sdk.client import LangGraphClient

from extensions.server.trace_view import SUMMARY_NAMESPACE
from graph.settings import Settings
from nodes.errors import RemoteError, SettingsInvalid, SupervisorError, UsageError
from nodes.models.settings import find_address_problem
from nodes.net.connection import (
    RemoteBusy,
    RemoteInvalid,
    RemoteTooLarge,
    RemoteUnauthorized,
    RemoteUnknown,
    RemoteUnreachable,
    RemoteUnreadable,
    is_loopback,
    open_http_client,
    translate_errors,
)
from nodes.schemas.servers import RemoteSpec
from nodes.text.plain_text import sanitize_line

MAX_THREAD_CHARS: Final = 200


class ServerError(SupervisorError):
    """A server of runs cannot be used."""

    code, exit_code = "SERVER_REFUSED", 5


class ServerUnreachable(ServerError):
    retryable = True


class ServerUnauthorized(ServerError):
    """The server refuses the key."""


class ServerUnreadable(ServerError):
    """The answer of the server cannot be read."""


class ServerThreadUnknown(UsageError):
    """The server has no thread of this id, or none that may be read."""

    code = "THREAD_UNKNOWN"


class ServerThreadForeign(UsageError):
    """A thread of the server is not one of this application's teams."""

    code = "THREAD_FOREIGN"


@dataclass(frozen=True)
class RunServer:
    """An open connection."""

    spec: RemoteSpec
    client: LangGraphClient

    @property
    def host(self) -> str:
        """Host and port, which messages name."""
        return self.spec.host

    @contextmanager
    def translate(self) -> Iterator[None]:
        """Turn what goes wrong inside into an error for the user.

        Raises:
            ServerError: the server cannot be used, or its answer cannot be read.
        """
        try:
            with translate_errors(self.spec):
                yield
        except RemoteError as error:
            raise _build_error(error) from None

    async def load_thread(self, thread: str) -> Mapping[str, Any]:
        """Return what the server says of a thread.

        Raises:
            ServerThreadUnknown: it has none of this id.
        """
        if not thread or len(thread) > MAX_THREAD_CHARS or not thread.isprintable():
            raise ServerThreadUnknown(f"{thread[:80]!r} is not the id of a thread")
        try:
            with translate_errors(self.spec):
                return {**await self.client.threads.get(thread)}
        except RemoteError as error:
            # LangGraph's server has threads with a UUID only, and refuses any other id.
            if not isinstance(error, RemoteUnknown | RemoteInvalid):
                raise _build_error(error) from None
        raise ServerThreadUnknown(
            f"{self.host} has no thread {thread!r}",
            next=f"supervise runs --url {self.spec.url} lists those that you may read",
        )

    async def load_view(
        self, thread: str, namespace: str = SUMMARY_NAMESPACE, number: str = ""
    ) -> Mapping[str, Any]:
        """Return a view of a thread, as `build_view` has built it.

        Raises:
            ServerThreadForeign: its graph is none of this application's.
        """
        at: Any = {"checkpoint_ns": namespace, "checkpoint_id": number or ZERO}
        try:
            with translate_errors(self.spec):
                state: Mapping[str, Any] = {
                    **await self.client.threads.get_state(thread, checkpoint=at)
                }
        except (RemoteUnreachable, RemoteUnauthorized, RemoteTooLarge, RemoteUnreadable) as error:
            raise _build_error(error) from None
        except RemoteError as error:
            raise self._build_foreign_error(thread, str(error.cause)) from None
        values = state.get("values")
        if not isinstance(values, Mapping) or not isinstance(values.get("run"), Mapping):
            raise self._build_foreign_error(thread, "")
        return values

    def _build_foreign_error(self, thread: str, cause: str) -> ServerThreadForeign:
        return ServerThreadForeign(
            f"thread {thread!r} of {self.host} holds no run of a team of this version",
            cause=sanitize_line(cause, 200),
            next="is its graph a team of supervise, and the server's version that of this command?",
        )


ZERO: Final = "00000000-0000-0000-0000-000000000000"


@asynccontextmanager
async def open_server(url: str, settings: Settings) -> AsyncIterator[RunServer]:
    """Open a connection to a server; `SUPERVISE_SERVER_KEY` is sent to it alone.

    Raises:
        SettingsInvalid: the address is none.
    """
    if problem := find_address_problem(url):
        raise SettingsInvalid(f"--url {problem}", next="--url http://127.0.0.1:2024, for instance")
    spec = RemoteSpec(url=url.rstrip("/"))
    async with open_http_client(spec, settings.build_server_headers()) as http:
        # Not `get_client`, which would send the LangSmith key of the environment.
        yield RunServer(spec, LangGraphClient(http))


def is_open_to_network(url: str) -> bool:
    """Return whether what is sent to an address can be read on the way there."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")


_ERRORS: Final = (
    (
        (RemoteUnreachable, RemoteBusy),
        ServerUnreachable,
        "is the server started, and --url its address?",
    ),
    ((RemoteUnauthorized,), ServerUnauthorized, "set SUPERVISE_SERVER_KEY to the server's key"),
    (
        (RemoteUnreadable, RemoteTooLarge, RemoteUnknown),
        ServerUnreadable,
        "is --url a server of the Agent Protocol, such as `langgraph dev`?",
    ),
    ((RemoteError,), ServerError, "is --url the address of the server?"),
)


def _build_error(error: RemoteError) -> ServerError:
    """Return the error of a command for one of the connection."""
    known = (row[1:] for row in _ERRORS if isinstance(error, row[0]))
    kind, advice = next(known)
    return kind(error.what, cause=error.cause, next=advice)
