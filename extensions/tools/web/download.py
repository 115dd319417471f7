"""Download one page: addresses, redirects, size, time and content type are checked here."""

import asyncio
import socket
import zlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

import httpx

from nodes.errors import ToolFailed, ToolRefused

Address = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Awaitable[list[Address]]]

_PUBLIC_IPV6 = ip_network("2000::/3")
"""The only IPv6 range that IANA assigns public hosts from; all forms that hold an IPv4 address but
6to4 and Teredo, which are below, lie outside of it."""
_NON_PUBLIC_NETWORKS = tuple(
    map(
        ip_network,
        (
            *("192.0.0.0/24", "2001::/23"),  # protocol assignments, Teredo among them
            *("192.88.99.0/24", "2002::/16"),  # 6to4
            *("192.31.196.0/24", "192.175.48.0/24", "2620:4f:8000::/48"),  # AS112
            "192.52.193.0/24",  # multicast tunnels
            "3fff::/20",  # documentation
            "168.63.129.16/32",  # Azure's own services, on each of its machines
        ),
    )
)
"""Special-purpose addresses of IANA that `is_global` of some Python versions counts as public."""


def is_public_address(address: Address) -> bool:
    """Return whether an address is on the public internet; an embedded one is checked too."""
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return is_public_address(address.ipv4_mapped)
        if address not in _PUBLIC_IPV6:
            return False
    if any(address in network for network in _NON_PUBLIC_NETWORKS):
        return False
    return address.is_global and not address.is_multicast


async def resolve_host(host: str, port: int) -> list[Address]:
    """Resolve a name, IPv4 first.

    Raises:
        OSError: the name is not known, or no name server answers.
    """
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = {ip_address(str(entry[4][0]).partition("%")[0]) for entry in found}
    return sorted(addresses, key=lambda address: (address.version, address.packed))


@dataclass(frozen=True)
class AddressPolicy:
    """The addresses to which a request may connect."""

    ports: frozenset[int] = frozenset({80, 443})
    allows: Callable[[Address], bool] = is_public_address
    resolve: Resolver = resolve_host

    async def resolve_allowed(self, host: str, port: int) -> list[Address]:
        """Return the addresses of a host, if every one of them is allowed.

        Raises:
            ToolRefused: the port or one of the addresses is not allowed.
            OSError: the name cannot be resolved.
        """
        if port not in self.ports:
            raise ToolRefused(f"port {port} is not allowed: pages are fetched from 80 and 443")
        try:
            found = [ip_address(host)]
        except ValueError:
            found = await self.resolve(host, port)
        if not found or not all(map(self.allows, found)):
            raise ToolRefused(f"{host!r} is not a public web address; fetch a public page")
        return found


MAX_REDIRECTS = 5
MAX_BYTES = 2_000_000
TIMEOUT_S = 15.0
SUFFIX_BY_CONTENT_TYPE = {
    "text/html": ".html",
    "application/xhtml+xml": ".html",
    "application/pdf": ".pdf",
    "text/plain": ".txt",
    "text/markdown": ".txt",
    "text/csv": ".txt",
    "application/json": ".txt",
}
_HEADERS = {
    "User-Agent": "supervisor-worker/0.1 (research; one page at a time)",
    "Accept": "text/html,application/pdf,text/plain;q=0.9,*/*;q=0.1",
    "Accept-Encoding": "identity",
}


@dataclass(frozen=True)
class Page:
    """A downloaded page, and its final address."""

    url: str
    suffix: str
    charset: str
    """From the header; empty if it has none."""
    body: bytes


async def download_page(url: str, policy: AddressPolicy, *, timeout_s: float = TIMEOUT_S) -> Page:
    """Fetch a page over at most `MAX_HOPS` redirects; each hop is checked like the first.

    Raises:
        ToolFailed: too slow, or the server is busy or broken.
        ToolRefused: not allowed, too large, of another kind, or not found.
        httpx.TransportError: the host cannot be reached.
    """
    try:
        async with (
            asyncio.timeout(timeout_s),
            httpx.AsyncClient(
                transport=CheckedTransport(policy),
                trust_env=False,
                follow_redirects=False,
                headers=_HEADERS,
                timeout=timeout_s,
            ) as client,
        ):
            for _ in range(MAX_REDIRECTS + 1):
                page = await _fetch_hop(client, url)
                if isinstance(page, Page):
                    return page
                url = page
    except (TimeoutError, httpx.TimeoutException):
        raise ToolFailed(f"the page took longer than {timeout_s:g} s; use another one") from None
    except (httpx.InvalidURL, httpx.UnsupportedProtocol):
        raise ToolRefused("not a URL; give one such as https://example.com/page") from None
    raise ToolRefused(f"more than {MAX_REDIRECTS} redirects; use another page")


async def _fetch_hop(client: httpx.AsyncClient, url: str) -> Page | str:
    async with client.stream("GET", url) as response:
        if response.is_redirect:
            target = response.url.join(response.headers["location"])
            if response.url.scheme == "https" and target.scheme == "http":
                raise ToolRefused("the page redirects from https to http; use another one")
            return str(target)
        if response.status_code != 200:
            is_passing = response.status_code >= 500 or response.status_code in (408, 429)
            raise (ToolFailed if is_passing else ToolRefused)(
                f"the page answers with status {response.status_code}; use another"
            )
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind not in SUFFIX_BY_CONTENT_TYPE:
            raise ToolRefused(f"{kind or 'an unnamed kind'} is not read; use a page of text")
        body = await _read_body(response)
        return Page(
            str(response.url), SUFFIX_BY_CONTENT_TYPE[kind], response.charset_encoding or "", body
        )


async def _read_body(response: httpx.Response) -> bytes:
    """Read the body and decompress it piecewise, so that a small one cannot grow without bound."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("identity", "", "gzip", "deflate"):
        raise ToolRefused(f"the page is packed as {coding}; use another one")
    unpack = zlib.decompressobj(47) if coding in ("gzip", "deflate") else None
    body = bytearray()
    async for chunk in response.aiter_raw():
        try:
            body += unpack.decompress(chunk, MAX_BYTES + 1 - len(body)) if unpack else chunk
        except zlib.error:
            raise ToolRefused("the page cannot be unpacked; use another one") from None
        if len(body) > MAX_BYTES:
            raise ToolRefused(f"the page is larger than {MAX_BYTES} bytes; use another one")
    return bytes(body)


MAX_ADDRESSES = 3


class CheckedTransport(httpx.AsyncBaseTransport):
    """Resolves once, checks, and connects to the checked address: no second lookup can differ."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._inner = httpx.AsyncHTTPTransport(trust_env=False)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request to a checked address; the host's name is kept in Host and SNI.

        Raises:
            ToolRefused: the URL or its address is not allowed.
            httpx.TransportError: none of the addresses can be reached.
        """
        url = request.url
        if url.scheme not in ("http", "https"):
            raise ToolRefused("only http and https addresses are fetched")
        if url.userinfo:
            raise ToolRefused("a URL with credentials is not fetched")
        port = url.port or (443 if url.scheme == "https" else 80)
        try:
            addresses = await self._policy.resolve_allowed(url.raw_host.decode("ascii"), port)
        except (OSError, UnicodeError) as error:
            raise httpx.ConnectError(f"the name {url.host!r} cannot be resolved") from error
        failure: httpx.TransportError | None = None
        for address in addresses[:MAX_ADDRESSES]:
            request.url = url.copy_with(host=str(address))
            request.extensions = {**request.extensions, "sni_hostname": url.raw_host.decode()}
            try:
                return await self._inner.handle_async_request(request)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
            finally:
                request.url = url
        assert failure is not None, "there was an address to try"
        raise failure

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()
