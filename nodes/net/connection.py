"""The HTTP connection to a remote worker: no redirects, no huge answers, typed errors."""

import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from ipaddress import ip_address
from typing import Final

import httpx

from nodes.errors import RemoteError
from nodes.schemas.servers import RemoteSpec
from nodes.text.plain_text import sanitize_line

MAX_RESPONSE_BYTES: Final = 20_000_000
"""Limit for one answer, and for the events of one connection."""
CONNECT_TIMEOUT_S: Final = 10.0
SILENCE_TIMEOUT_S: Final = 60.0
"""Of a connection on which nothing comes; the work itself may take longer."""
MAX_CAUSE_CHARS: Final = 300
_RETRY_STATUSES: Final = frozenset((408, 425, 429))


class CappedTransport(httpx.AsyncBaseTransport):
    """Calls one server only, refuses redirects, and stops reading at a number of bytes.

    The headers hold the user's credentials, so they are for the server that the user named.
    """

    def __init__(self, inner: httpx.AsyncBaseTransport, spec: RemoteSpec) -> None:
        self._inner, self._spec = inner, spec
        address = httpx.URL(spec.url)
        self._origin = (address.scheme, address.netloc)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request.

        Raises:
            RemoteRefused: the answer is a redirect.
            RemoteUnreadable: the answer is compressed, though none was asked for.
        """
        if (request.url.scheme, request.url.netloc) != self._origin:
            raise RemoteRefused(
                f"{self._spec.host} names another address, {request.url.netloc.decode()}, which "
                "is not called",
                next="write the address that it names into the worker's file",
            )
        response = await self._inner.handle_async_request(request)
        problem: RemoteError | None = None
        if response.is_redirect:
            problem = RemoteRefused(
                f"{self._spec.host} redirects to another address, which is not followed",
                next="write the address of the agent itself into the worker's file",
            )
        elif response.headers.get("content-encoding", "identity").lower() != "identity":
            problem = RemoteUnreadable(
                f"{self._spec.host} sent a compressed answer, which is not read"
            )
        if problem:
            await response.aclose()
            raise problem
        assert isinstance(response.stream, httpx.AsyncByteStream), "the transport is asynchronous"
        response.stream = _CappedStream(response.stream, self._spec.host)
        return response

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()


class _CappedStream(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, host: str) -> None:
        self._inner, self._host = inner, host

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_RESPONSE_BYTES:
                limit = f"{MAX_RESPONSE_BYTES / 1e6:g} MB"
                raise RemoteTooLarge(f"the answer of {self._host} is larger than {limit}")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def is_loopback(host: str) -> bool:
    """Return whether a host name or an IP address is that of this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@cache
def load_certificates() -> ssl.SSLContext:
    """Return what verifies servers; reading the files takes longer than an event loop may wait."""
    return httpx.create_ssl_context()


def open_http_client(
    spec: RemoteSpec,
    headers: Mapping[str, str],
    transport: httpx.AsyncBaseTransport | None = None,
) -> httpx.AsyncClient:
    """Return a client for a remote worker; certificates are verified.

    Private and loopback addresses are allowed: the address is the user's own, from a file.
    """
    inner = transport or httpx.AsyncHTTPTransport(verify=load_certificates())
    return httpx.AsyncClient(
        base_url=spec.url,
        headers={"accept-encoding": "identity", **headers},
        follow_redirects=False,
        timeout=httpx.Timeout(SILENCE_TIMEOUT_S, connect=CONNECT_TIMEOUT_S),
        transport=CappedTransport(inner, spec),
    )


@contextmanager
def translate_errors(spec: RemoteSpec) -> Iterator[None]:
    """Turn the errors of a client into those of `nodes.net.connection`.

    Raises:
        RemoteError: the call inside failed.
    """
    try:
        yield
    except RemoteError:
        raise
    except httpx.HTTPStatusError as error:
        raise build_status_error(spec, error.response, str(error)) from None
    except httpx.TimeoutException as error:
        cause = f"no answer in time ({type(error).__name__})"
        raise RemoteUnreachable(f"{spec.host} cannot be reached", cause=cause) from None
    except httpx.HTTPError as error:
        cause = sanitize_line(str(error) or type(error).__name__, MAX_CAUSE_CHARS)
        raise RemoteUnreachable(f"{spec.host} cannot be reached", cause=cause) from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        cause = sanitize_line(f"{type(error).__name__}: {error}", MAX_CAUSE_CHARS)
        if isinstance(error, RecursionError):
            cause = "it is nested too deeply"
        raise RemoteUnreadable(
            f"the answer of {spec.host} cannot be read",
            cause=cause,
            next="is the address that of an agent, and its version one of the supported ones?",
        ) from None


def build_status_error(spec: RemoteSpec, response: httpx.Response, said: str) -> RemoteError:
    """Return the error that an HTTP status means."""
    status, cause = response.status_code, sanitize_line(said, MAX_CAUSE_CHARS)
    if status in (401, 403):
        return RemoteUnauthorized(
            f"{spec.host} refuses the credentials ({status})",
            cause=cause,
            next="check `headers` in the worker's file and the variables that it names",
        )
    if status == 404:
        return RemoteUnknown(
            f"{spec.host} does not know what it was asked for (404)",
            cause=cause,
            next="check the address and the graph in the worker's file",
        )
    if status in _RETRY_STATUSES or status >= 500:
        return RemoteBusy(
            f"{spec.host} cannot answer now ({status})",
            cause=cause,
            retry_after_s=_read_seconds(response.headers.get("retry-after", "")),
        )
    kind = RemoteInvalid if status == 422 else RemoteRefused
    return kind(f"{spec.host} refuses the request ({status})", cause=cause)


def _read_seconds(text: str) -> float | None:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else None


class RemoteUnreachable(RemoteError):
    """It was refused, reset or timed out; the task is tried again."""

    retryable = True


class RemoteBusy(RemoteError):
    """The server cannot answer now; `retry_after_s` is None when it does not state a time."""

    retryable = True

    def __init__(self, what: str, *, retry_after_s: float | None = None, **parts: str) -> None:
        super().__init__(what, **parts)
        self.retry_after_s = retry_after_s


class RemoteUnauthorized(RemoteError):
    """The server refuses the credentials."""


class RemoteUnknown(RemoteError):
    """The server does not know what it was asked for."""


class RemoteRefused(RemoteError):
    """The server refuses the request, or names another address."""


class RemoteInvalid(RemoteRefused):
    """The server reads the request, and refuses its values."""

    code = RemoteRefused.code


class RemoteUnreadable(RemoteError):
    """The answer cannot be read."""


class RemoteTooLarge(RemoteError):
    """The answer has too many bytes."""


class RemoteRunFailed(RemoteError):
    """The worker worked, and failed or was cancelled there."""

    may_reword = True


class RemoteDenied(RemoteError):
    """Private text is not sent to the worker."""
