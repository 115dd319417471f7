"""The HTTP client for servers elsewhere: answers of limited size, no redirect to another place."""

from collections.abc import AsyncIterator

import httpx

from extensions.mcp.servers.message_screen import MAX_MESSAGE_BYTES, MessageTooLarge

CONNECT_TIMEOUT_S = 10.0


class CappedTransport(httpx.AsyncHTTPTransport):
    """Ends a response that exceeds the limit; a stream of events is limited as one message is."""

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the body of the response is capped.

        Raises:
            httpx.RemoteProtocolError: the body is compressed, though no compression was asked for.
        """
        response = await super().handle_async_request(request)
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            await response.aclose()
            raise httpx.RemoteProtocolError("it sent a compressed answer, which is not read")
        assert isinstance(response.stream, httpx.AsyncByteStream), "the client is asynchronous"
        is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _CappedBody(response.stream, is_stream=is_stream)
        return response


class _CappedBody(httpx.AsyncByteStream):
    """Counts the bytes, in a stream those since the last end of an event."""

    def __init__(self, body: httpx.AsyncByteStream, *, is_stream: bool) -> None:
        self._body, self._is_stream = body, is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._body:
            event_end = max(chunk.rfind(b"\n\n"), chunk.rfind(b"\r\n\r\n"))
            is_new = self._is_stream and event_end >= 0
            size = len(chunk) - event_end if is_new else size + len(chunk)
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
