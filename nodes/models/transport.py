"""HTTP transport for the OpenAI client through aiohttp, with a cap on the size of answers.

The client's own transport needs about three times the CPU per call, and its connections are bound
to the first event loop that uses them.
"""

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, cached_property

import aiohttp
import httpx2

from nodes.errors import ResponseTooLarge
from nodes.limits.per_loop import LoopResource, PerLoop

MAX_BODY_BYTES = 10_000_000
"""After decoding."""
CONNECT_TIMEOUT_S = 10.0
KEEPALIVE_S = 15.0


class AiohttpTransport(httpx2.AsyncBaseTransport):
    """Sends requests over one aiohttp session per event loop; a loop that ends closes its own."""

    def __init__(self, max_bytes: int = MAX_BODY_BYTES) -> None:
        self._max_bytes = max_bytes
        self._sessions = PerLoop(
            lambda: LoopResource(_make_session, lambda session: session.close())
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; the body of the response is streamed.

        Raises:
            ResponseTooLarge: the body exceeds the cap.
            httpx2.TransportError: the connection cannot be made, or breaks.
        """
        response = await self._request(
            request.method, str(request.url), request.headers, await request.aread()
        )
        body = _CappedBody(response, self._max_bytes)
        headers = _list_headers(response)
        return httpx2.Response(response.status, headers=headers, stream=body, request=request)

    async def post(self, url: str, headers: Mapping[str, str], body: bytes) -> httpx2.Response:
        """Send a request, and read its whole answer; without the layers of a client.

        Raises:
            ResponseTooLarge: the answer exceeds the cap.
            httpx2.TransportError: the connection cannot be made, or breaks.
        """
        response = await self._request("POST", url, headers, body)
        answer = _CappedBody(response, self._max_bytes)
        try:
            content = b"".join([chunk async for chunk in answer])
        finally:
            await answer.aclose()
        return httpx2.Response(response.status, headers=_list_headers(response), content=content)

    async def _request(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes
    ) -> aiohttp.ClientResponse:
        session = await self._open_session()
        with _translate_errors(httpx2.ConnectError):
            response = await session.request(
                method,
                url,
                headers={**headers, "accept-encoding": "gzip, deflate"},
                data=body,
                allow_redirects=False,
                ssl=self._tls if url.startswith("https:") else True,
            )
        if (response.content_length or 0) > self._max_bytes:
            response.close()
            raise _build_size_error(self._max_bytes)
        return response

    async def aclose(self) -> None:
        """Close the connections of the running loop."""
        if session := self._sessions.forget():
            await session.close()

    async def _open_session(self) -> aiohttp.ClientSession:
        return await self._sessions.get().open()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx2.create_ssl_context()


@cache
def get_shared_transport() -> AiohttpTransport:
    """Return the transport that all clients of the process share, with its connections."""
    return AiohttpTransport()


def _make_session() -> aiohttp.ClientSession:
    connector = aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEPALIVE_S, ttl_dns_cache=60)
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S)
    return aiohttp.ClientSession(connector=connector, timeout=timeout)


class _CappedBody(httpx2.AsyncByteStream):
    def __init__(self, response: aiohttp.ClientResponse, max_bytes: int) -> None:
        self._response = response
        self._max_bytes = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        with _translate_errors(httpx2.ReadError):
            async for chunk in self._response.content.iter_any():
                read += len(chunk)
                if read > self._max_bytes:
                    self._response.close()
                    raise _build_size_error(self._max_bytes)
                yield chunk

    async def aclose(self) -> None:
        if self._response.content.is_eof():
            self._response.release()
        else:
            self._response.close()


def _list_headers(response: aiohttp.ClientResponse) -> list[tuple[str, str]]:
    """Return a response's headers, without those that describe the body before it was decoded."""
    decoded = ("content-encoding", "content-length", "transfer-encoding")
    return [(k, v) for k, v in response.headers.items() if k.lower() not in decoded]


def _build_size_error(max_bytes: int) -> ResponseTooLarge:
    return ResponseTooLarge(
        f"the endpoint's answer is over {max_bytes:,} bytes",
        next="check that the address is that of a model endpoint",
    )


@contextmanager
def _translate_errors(kind: type[httpx2.TransportError]) -> Iterator[None]:
    try:
        yield
    except (TimeoutError, aiohttp.ServerTimeoutError) as error:
        raise httpx2.ConnectTimeout(str(error)) from error
    except (aiohttp.ClientError, OSError) as error:
        raise kind(str(error) or type(error).__name__) from error
