"""Search on the web, without the web."""

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from extensions.tools.web.search_engines import SearchResult, SearchUnreachable, search_tavily
from extensions.tools.web_search import web_search
from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.settings import ToolSettings


def make_engine(*found):
    """An engine that gives these pages and keeps what it was asked."""
    asked = []

    async def search(query, max_results):
        asked.append((query, max_results))
        return list(found)

    return search, asked


async def test_pages_come_back_with_their_address_as_source():
    search, asked = make_engine(
        SearchResult("https://a.example/x", "A  page", "AWS\u200b grew\n17 %")
    )
    tool = web_search(ToolSettings(), search=search)

    found = await tool.ainvoke({"query": "  aws growth ", "max_results": 99})

    assert found["results"] == [
        {"source": "https://a.example/x", "title": "A page", "text": "AWS grew 17 %"}
    ]
    assert asked == [("aws growth", 10)]


async def test_no_page_is_an_answer_with_a_note_and_odd_addresses_are_left_out():
    search, _ = make_engine(SearchResult("javascript:evil()", "", ""))

    found = await web_search(ToolSettings(), search=search).ainvoke({"query": "x"})

    assert found["results"] == [] and "note" in found


async def test_without_a_network_the_failure_names_another_way():
    async def search(query, max_results):
        raise SearchUnreachable("ConnectError")

    with pytest.raises(ToolFailed, match=r"cannot be reached \(ConnectError\).*search_documents"):
        await web_search(ToolSettings(), search=search).ainvoke({"query": "x"})


async def test_tavily_is_asked_with_the_key_and_read():
    async def handle(request):
        assert request.headers["Authorization"] == "Bearer key"
        assert (await request.json())["query"] == "aws"
        return web.json_response({"results": [{"url": "https://a", "title": "A", "content": "t"}]})

    async with FakeTavily(handle) as url:
        found = await search_tavily("key", "aws", 3, url=url)

    assert found == [SearchResult("https://a", "A", "t")]


@pytest.mark.parametrize(
    ("status", "body", "error"),
    [
        (401, "{}", ToolRefused),
        (500, "{}", SearchUnreachable),
        (200, "no json", SearchUnreachable),
        (200, "[]", SearchUnreachable),
        (200, "[" * 200_000, SearchUnreachable),
        (200, '{"results": [1]}', SearchUnreachable),
    ],
)
async def test_an_error_of_tavily_is_reported(status, body, error):
    async def handle(request):
        return web.Response(status=status, text=body)

    async with FakeTavily(handle) as url:
        with pytest.raises(error):
            await search_tavily("key", "aws", 3, url=url)


class FakeTavily:
    """A server on loopback that handles every POST."""

    def __init__(self, handle):
        app = web.Application()
        app.router.add_post("/", handle)
        self.server = TestServer(app)

    async def __aenter__(self):
        await self.server.start_server()
        return str(self.server.make_url("/"))

    async def __aexit__(self, *error):
        await self.server.close()
