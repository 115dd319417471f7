"""HTTP that connects only to addresses that were checked."""

import httpx

from extensions.tools.web.addresses import AddressPolicy
from nodes.errors import ToolRefused

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
