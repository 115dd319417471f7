"""The HTTP client for servers elsewhere: answers of limited size, no redirect to another place."""

from collections.abc import AsyncIterator

import httpx

from nodes.tools.mcp_servers.message_screen import MAX_MESSAGE_BYTES, MessageTooLarge

CONNECT_TIMEOUT_S = 10.0


class CappedTransport(httpx.AsyncHTTPTransport):
    """Ends a response that exceeds the limit; a stream of events is limited as one message is."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the body of the response is capped."""
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx.AsyncByteStream), "the client is asynchronous"
        response.stream = _CappedBody(response.stream)
        return response


class _CappedBody(httpx.AsyncByteStream):
    """Counts the bytes since the last end of an event."""

    def __init__(self, body: httpx.AsyncByteStream) -> None:
        self._body = body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            event_end = max(chunk.rfind(b"\n\n"), chunk.rfind(b"\r\n\r\n"))
            size = size + len(chunk) if event_end < 0 else len(chunk) - event_end
            if size > MAX_MESSAGE_BYTES:
                raise httpx.ReadError(str(MessageTooLarge()))
            yield chunk

    async def aclose(self) -> None:
        await self._body.aclose()


def make_http_client(
    headers: dict[str, str] | None = None,
    timeout: httpx.Timeout | None = None,
    auth: httpx.Auth | None = None,
) -> httpx.AsyncClient:
    """Return a client with the given headers; compression is not asked for, since it hides sizes.

    Args:
        timeout: of the reading; the user's timeout ends a call in any case.
    """
    return httpx.AsyncClient(
        headers={**(headers or {}), "accept-encoding": "identity"},
        timeout=timeout or httpx.Timeout(CONNECT_TIMEOUT_S, read=None),
        auth=auth,
        transport=CappedTransport(),
        follow_redirects=False,
    )
