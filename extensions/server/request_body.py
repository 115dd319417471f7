"""Reads the body of a request in a middleware, and passes the same request on."""

from collections.abc import Iterator

from starlette.types import Message, Receive


async def read_body(receive: Receive) -> tuple[bytes, Receive]:
    """Return the body of a request, and a `receive` from which it can be read once more."""
    messages = [await receive()]
    while messages[-1].get("more_body"):
        messages.append(await receive())
    kept: Iterator[Message] = iter(messages)

    async def replay() -> Message:
        return next(kept, None) or await receive()

    return b"".join(message.get("body", b"") for message in messages), replay
