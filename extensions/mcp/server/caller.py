"""The request of an MCP client that is being served."""

from contextlib import suppress
from dataclasses import dataclass
from typing import Final, get_args

import anyio
from mcp import types
from mcp.server.session import ServerSession
from mcp.shared.exceptions import McpError

_ENDED_CONNECTION: Final = (anyio.ClosedResourceError, anyio.BrokenResourceError)
_LEVELS: Final = get_args(types.LoggingLevel)
_ROOTS_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True)
class Caller:
    """A request, and what can be sent to its client; a connection that has ended gets nothing."""

    session: ServerSession
    request_id: str
    progress_token: str | int | None
    log_level: types.LoggingLevel = "info"
    """The least level of lines that the client wants in its log."""

    async def send_log(
        self, level: types.LoggingLevel, text: str, *, is_cancelled: bool = False
    ) -> None:
        """Send a line for the client's log, also while its request is being cancelled."""
        if _LEVELS.index(level) < _LEVELS.index(self.log_level):
            return
        # The stream of a request that is cancelled has ended.
        related = None if is_cancelled else self.request_id
        with suppress(*_ENDED_CONNECTION), anyio.CancelScope(shield=True), anyio.move_on_after(1):
            await self.session.send_log_message(level, text, "supervise", related)

    async def send_progress(self, progress: float, total: float | None, message: str) -> None:
        """Send how far a run is, if the client asked for it."""
        if self.progress_token is not None:
            with suppress(*_ENDED_CONNECTION):
                await self.session.send_progress_notification(
                    self.progress_token, progress, total, message, self.request_id
                )

    async def list_roots(self) -> list[str]:
        """Return the addresses of the client's roots; none where it declares none."""
        asked = types.ClientCapabilities(roots=types.RootsCapability())
        if not self.session.check_client_capability(asked):
            return []
        try:
            with anyio.fail_after(_ROOTS_TIMEOUT_S):
                return [str(root.uri) for root in (await self.session.list_roots()).roots]
        except (TimeoutError, McpError):
            return []
