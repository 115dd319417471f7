"""Lets through only what a server may send: answers to our requests, and pings.

A server's notifications and requests need no answer here, and the library would log some of them,
with what the server wrote, on stderr.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Final

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCError, JSONRPCRequest, JSONRPCResponse

MAX_MESSAGE_BYTES: Final = 8_000_000
"""Limit for one message of a server."""
MAX_UNREADABLE: Final = 20
"""Messages that are no protocol, such as a greeting on stdout, before the session ends."""


class MessageTooLarge(Exception):
    """A message of a server exceeds the limit; the session ends."""

    def __init__(self) -> None:
        super().__init__(f"it sent a message of more than {MAX_MESSAGE_BYTES // 1_000_000} MB")


class ScreenedMessages:
    """The messages that were let through, and why there are no more."""

    def __init__(self, stream: MemoryObjectReceiveStream[SessionMessage | Exception]) -> None:
        self.stream = stream
        self.end_reason = ""
        """Why the server's messages ended; empty while they have not."""


@asynccontextmanager
async def screen_messages(
    incoming: MemoryObjectReceiveStream[SessionMessage | Exception], on_end: Callable[[], None]
) -> AsyncIterator[ScreenedMessages]:
    """Yield a server's messages without those that are not for us.

    Args:
        on_end: is called when there are no more.
    """
    passed, stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    screened = ScreenedMessages(stream)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_screen, incoming, passed, screened, on_end)
        try:
            yield screened
        finally:
            tasks.cancel_scope.cancel()
            passed.close()
            stream.close()


async def _screen(
    incoming: MemoryObjectReceiveStream[SessionMessage | Exception],
    passed: MemoryObjectSendStream[SessionMessage | Exception],
    screened: ScreenedMessages,
    on_end: Callable[[], None],
) -> None:
    unreadable = 0
    try:
        with passed, suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for message in incoming:
                if isinstance(message, MessageTooLarge):
                    screened.end_reason = str(message)
                    return
                unreadable += isinstance(message, Exception)
                if unreadable > MAX_UNREADABLE:
                    screened.end_reason = "what it sent is not the protocol"
                    return
                if isinstance(message, SessionMessage) and _is_wanted(message):
                    await passed.send(message)
    finally:
        screened.end_reason = screened.end_reason or "it ended"
        on_end()


def _is_wanted(message: SessionMessage) -> bool:
    root = message.message.root
    if isinstance(root, JSONRPCRequest):
        return root.method == "ping"
    return isinstance(root, JSONRPCResponse | JSONRPCError)
