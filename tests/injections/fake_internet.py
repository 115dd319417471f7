"""The outside, on this machine: a search engine, a site, and a mailbox that note what reaches them.

A world is named by its port; the tools of `tools.py` find it there, as they are built from names.
"""

from dataclasses import dataclass, field
from ipaddress import ip_address
from typing import Self

from aiohttp import web
from aiohttp.test_utils import TestServer

from extensions.tools.web.download import AddressPolicy
from extensions.tools.web.search_engines import SearchResult


@dataclass
class FakeInternet:
    """What the outside says, and what it has been told."""

    search_results: list[SearchResult] = field(default_factory=list)
    """What every search gives."""
    pages: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What an address gives, by its path: content type and body."""
    failure: str = "the meter is out of order"
    """What the broken tool says."""
    queries: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)
    """Host and path of each request."""
    mails: list[str] = field(default_factory=list)
    port: int = 0

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer_request)
        self._server = TestServer(app, host="127.0.0.1")
        await self._server.start_server()
        self.port = self._server.port or 0
        RUNNING_INTERNETS.append(self)
        return self

    async def __aexit__(self, *_: object) -> None:
        RUNNING_INTERNETS.remove(self)
        await self._server.close()

    def build_url(self, path: str, host: str = "site.example") -> str:
        """Return an address of this world; every host is here."""
        return f"http://{host}:{self.port}/{path}"

    def build_policy(self) -> AddressPolicy:
        """Allow this machine at this port, under any name."""

        async def here(host: str, port: int) -> list[object]:
            return [ip_address("127.0.0.1")]

        return AddressPolicy(
            ports=frozenset({self.port}),
            allows=lambda address: address.is_loopback,
            resolve=here,  # type: ignore[arg-type]
        )

    async def search_web(self, query: str, max_results: int) -> list[SearchResult]:
        """Note a query, and find what there is."""
        self.queries.append(query)
        return self.search_results[:max_results]

    async def _answer_request(self, request: web.Request) -> web.Response:
        self.requests.append(f"{request.headers['Host']} {request.path_qs}")
        kind, body = self.pages.get(request.path.lstrip("/"), DEFAULT_PAGE)
        return web.Response(body=body.encode(), headers={"Content-Type": kind})


DEFAULT_PAGE = ("text/html", "<title>Alpha</title><p>Alpha grew by 17 percent.</p>")
"""What all other addresses give."""
RUNNING_INTERNETS: list[FakeInternet] = []
"""Those that are running, the innermost last."""
