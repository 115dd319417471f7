"""Follows a run on a server of the Agent Protocol to its end."""

import asyncio
from collections.abc import Mapping
from typing import Final

from langgraph_sdk.client import LangGraphClient

from nodes.remote.connection import translate_errors
from nodes.remote.errors import RemoteError, RemoteTooLarge
from nodes.remote.session import HearEvent
from nodes.schemas.remote import RemoteSpec
from nodes.text.plain_text import sanitize_line

FIRST_EVENT: Final = "0"
"""Asks for the events of a run from its start."""
POLL_S: Final = (0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
"""Pauses between questions for the status, where no stream says that the run has ended."""
MAX_ERROR_CHARS: Final = 500
WORKING: Final = ("pending", "running")


class RunStream:
    """The events of one run, and its status at the end."""

    def __init__(self, spec: RemoteSpec, client: LangGraphClient, thread: str, run: str) -> None:
        self.run, self.error = run, ""
        self._spec, self._client, self._thread = spec, client, thread
        self._is_open = True
        self._last_event = FIRST_EVENT

    async def follow(self, hear: HearEvent) -> str:
        """Return the status of the run when it has ended, and pass on its events until then.

        It is followed by its stream, and by its status where the stream breaks off. What the
        server says of a failure is in `error` then.

        Raises:
            RemoteError: the server cannot be asked for the status.
        """
        pauses = iter(POLL_S)
        while True:
            with translate_errors(self._spec):
                run = await self._client.runs.get(self._thread, self.run)
                status = str(run["status"])
            if status not in WORKING:
                return status
            if self._is_open:
                await self._read_events(hear)
            await asyncio.sleep(next(pauses, POLL_S[-1]))

    async def _read_events(self, hear: HearEvent) -> None:
        """Pass on the run's events until its stream ends, or breaks off."""
        stream = self._client.runs.join_stream(
            self._thread, self.run, stream_mode="custom", last_event_id=self._last_event
        )
        try:
            with translate_errors(self._spec):
                async for part in stream:
                    self._last_event = part.id or self._last_event
                    if part.event == "error":
                        self.error = describe_error(part.data)
                    elif isinstance(part.data, Mapping):
                        await hear(part.data)
        except RemoteTooLarge:
            self._is_open = False
        except RemoteError as error:
            if not error.retryable:
                self._is_open = False


def describe_error(said: object) -> str:
    """Return what a server says of a failed run, on one line."""
    if isinstance(said, Mapping):
        said = ": ".join(str(said[key]) for key in ("error", "message") if said.get(key))
    return sanitize_line(str(said), MAX_ERROR_CHARS)
