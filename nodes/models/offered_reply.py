"""A model call that was begun before its turn: its reply is used for the same call."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage

from nodes.errors import BudgetSpent


class OfferedReply:
    """The reply of a call in flight, for one call with exactly the same input."""

    def __init__(self, call: "asyncio.Future[AIMessage]") -> None:
        self.call = call
        self.key = ""
        """Of the input, set once the call has begun."""
        self.was_taken = False

    def matches(self, key: str) -> bool:
        """Return whether the reply is free and answers this input."""
        return bool(self.key) and self.key == key and not self.was_taken


_offered: ContextVar[OfferedReply | None] = ContextVar("offered_reply", default=None)


@contextmanager
def offer_reply(reply: OfferedReply | None) -> Iterator[None]:
    """Offer a reply to the calls made inside."""
    token = _offered.set(reply)
    try:
        yield
    finally:
        _offered.reset(token)


async def take_offered_reply(
    model: str, messages: Sequence[BaseMessage], kwargs: Mapping[str, Any]
) -> AIMessage | None:
    """Return the reply that is offered for this input; None where there is none.

    Nor is there one where the budget had no room for the call when it began, beside the call of
    the planner, which may have ended by now.

    Raises:
        SupervisorError: the call that was begun early has failed.
    """
    reply = _offered.get()
    if reply is None or not reply.matches(build_input_key(model, messages, kwargs)):
        return None
    reply.was_taken = True
    try:
        return await reply.call
    except BudgetSpent:
        reply.was_taken, reply.key = False, ""
        return None


def build_input_key(model: str, messages: Sequence[BaseMessage], kwargs: Mapping[str, Any]) -> str:
    """Return what a model is asked, as text."""
    said = [[message.type, message.content] for message in messages]
    return json.dumps([model, said, dict(kwargs)], sort_keys=True, default=str)
