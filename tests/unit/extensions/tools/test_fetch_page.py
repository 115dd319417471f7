"""Pages from a server on loopback; the policy is an argument."""

import gzip
from functools import cache
from ipaddress import IPv6Address, ip_address

import httpx
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from hypothesis import given
from hypothesis import strategies as st

from extensions.tools.fetch_page import fetch_page
from extensions.tools.web.download import (
    MAX_BYTES,
    AddressPolicy,
    _fetch_hop,
    download_page,
    is_public_address,
)
from extensions.tools.web.search_engines import SearchResult, SearchUnreachable, search_tavily
from extensions.tools.web_search import web_search
from nodes.errors import ToolFailed, ToolRefused
from nodes.tools.framework.settings import ToolSettings
from tests.unit.tools.document_samples import write_pdf

PAGE = "<title>Cloud</title><h1>Cloud</h1><p>AWS grew by 17 %.</p><script>evil()</script>"


class Site(TestServer):
    """A server that notes the `Host` of each request."""

    seen: list[str]


async def resolve_name(host, port):
    """Resolve every name to loopback, and `inside.example` to a private address as well."""
    found = [ip_address("127.0.0.1")]
    return [*found, ip_address("10.0.0.1")] if host == "inside.example" else found


@cache
def pack_bomb():
    """Return a few bytes that become 50 MB."""
    return gzip.compress(b" " * 50_000_000, 1)


@pytest.fixture
async def server(tmp_path):
    """A site with good pages and bad ones."""
    write_pdf(tmp_path / "a.pdf", "Azure grew by 29 percent")
    seen: list[str] = []

    def reply(**content):
        async def handle(request):
            seen.append(request.headers["Host"])
            return web.Response(**content)

        return handle

    async def redirect(request):
        raise web.HTTPFound(request.query["to"])

    async def endless(request):
        response = web.StreamResponse(headers={"Content-Type": "text/plain"})
        await response.prepare(request)
        while True:
            await response.write(b"x" * 65536)

    pages = {
        "/page": reply(text=PAGE, content_type="text/html"),
        "/utf8": reply(body="<p>Größe: 5 €</p>".encode(), content_type="text/html"),
        "/greek": reply(text="<p>αβγ</p>", content_type="text/html", charset="iso-8859-7"),
        "/odd": reply(body=b"<p>beta</p>", headers={"Content-Type": "text/html; charset=x-odd"}),
        "/pdf": reply(body=(tmp_path / "a.pdf").read_bytes(), content_type="application/pdf"),
        "/image": reply(body=b"png", content_type="image/png"),
        "/empty": reply(text="", content_type="text/html"),
        "/long": reply(text="word " * 10_000),
        **{f"/status/{code}": reply(status=code) for code in (404, 429, 503)},
        "/bomb": reply(
            body=pack_bomb(), headers={"Content-Encoding": "gzip", "Content-Type": "text/plain"}
        ),
        "/brotli": reply(
            body=b"x", headers={"Content-Encoding": "br", "Content-Type": "text/plain"}
        ),
        "/loop": reply(status=302, headers={"Location": "/loop"}),
        "/to": redirect,
        "/endless": endless,
    }
    app = web.Application()
    for path, handle in pages.items():
        app.router.add_get(path, handle)
    running = Site(app)
    running.seen = seen
    await running.start_server()
    yield running
    await running.close()


def make_policy(server, **changes):
    allowed = {"ports": frozenset({server.port}), "allows": lambda address: address.is_loopback}
    return AddressPolicy(**{**allowed, "resolve": resolve_name, **changes})


async def fetch_path(server, path, host="site.example"):
    tool = fetch_page(ToolSettings(), policy=make_policy(server))
    return await tool.ainvoke({"url": f"http://{host}:{server.port}{path}"})


async def test_a_page_is_read_as_text_with_its_address_as_source(server):
    found = await fetch_path(server, "/page")

    (page,) = found["results"]
    assert page["source"] == f"http://site.example:{server.port}/page"
    assert page["title"] == "Cloud"
    assert "AWS grew by 17 %." in page["text"] and "evil" not in page["text"]
    assert server.seen == [f"site.example:{server.port}"]


@pytest.mark.slow
async def test_a_pdf_is_read_as_text(server):
    found = await fetch_path(server, "/pdf")

    assert "Azure grew by 29 percent" in found["results"][0]["text"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text"), [("/utf8", "Größe: 5 €"), ("/greek", "αβγ"), ("/odd", "beta")]
)
async def test_a_page_keeps_its_letters_whatever_says_how_they_are_coded(server, path, text):
    found = await fetch_path(server, path)

    assert found["results"][0]["text"].strip() == text


async def test_a_long_page_is_cut_and_says_so(server):
    found = await fetch_path(server, "/long")

    assert len(found["results"][0]["text"]) == 12_000
    assert "of 50000" in found["cut"]


async def test_a_redirect_is_followed_and_the_last_address_is_the_source(server):
    found = await fetch_path(server, "/to?to=/long")

    assert found["results"][0]["source"].endswith("/long")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/to?to=http://10.0.0.1/", "port 80 is not allowed"),
        ("/to?to=http://inside.example:{port}/page", "not a public web address"),
        ("/to?to=file:///etc/passwd", "only http"),
        ("/loop", "redirects"),
        ("/image", "image/png is not read"),
        ("/status/404", "status 404"),
        ("/empty", "no text"),
        ("/bomb", "larger than"),
        ("/endless", "larger than"),
        ("/brotli", "packed as br"),
    ],
)
async def test_what_should_not_be_read_is_refused(server, path, reason):
    with pytest.raises(ToolRefused, match=reason):
        await fetch_path(server, path.replace("{port}", str(server.port)))


@pytest.mark.parametrize("status", [429, 503])
async def test_a_server_that_is_busy_has_failed_and_refuses_nothing(server, status):
    with pytest.raises(ToolFailed, match=f"status {status}"):
        await fetch_path(server, f"/status/{status}")


async def test_a02_a_page_that_leads_from_https_to_http_is_refused():
    def answer(request):
        return httpx.Response(302, headers={"Location": "http://site.example/page"})

    async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
        with pytest.raises(ToolRefused, match="from https to http"):
            await _fetch_hop(client, "https://site.example/page")


async def test_a_slow_page_is_given_up(server):
    with pytest.raises(ToolFailed, match="took longer"):
        await download_page(
            f"http://a.example:{server.port}/page", make_policy(server), timeout_s=0
        )


@pytest.mark.parametrize(
    "url",
    [
        *("http://127.0.0.1/", "http://localhost/", "http://10.0.0.1/", "http://169.254.169.254/"),
        *("http://100.100.100.200/", "http://[::1]/", "http://[::ffff:10.0.0.1]/"),
        *("http://0x7f000001/", "http://2130706433/", "http://1.1.1.1:22/", "http://1.1.1.1:0/"),
        *("http://user:secret@1.1.1.1/", "ftp://1.1.1.1/", "file:///etc/passwd", "nonsense", ""),
        *("http://0/", "http://0177.0.0.1/", "http://127.1/", "http://[64:ff9b::7f00:1]/"),
        *("http://[::127.0.0.1]/", "http://[fec0::1]/", "http://1.1.1.1:6379/", "//1.1.1.1"),
        *("http://1.1.1.1:99999/", "gopher://1.1.1.1/", "javascript:alert(1)", "data:text/html,x"),
    ],
)
async def test_addresses_that_are_not_the_public_web_are_refused(url):
    with pytest.raises(ToolRefused) as refusal:
        await fetch_page(ToolSettings()).ainvoke({"url": url})

    assert "secret" not in str(refusal.value)


async def test_a_host_that_cannot_be_reached_is_reported(server):
    async def unknown(host, port):
        raise OSError("no name server")

    tool = fetch_page(ToolSettings(), policy=make_policy(server, resolve=unknown))

    with pytest.raises(ToolFailed, match="cannot be reached"):
        await tool.ainvoke({"url": f"http://a.example:{server.port}/"})


async def test_the_next_address_is_tried_when_the_first_does_not_answer(server):
    async def two(host, port):
        return [ip_address("127.0.0.2"), ip_address("127.0.0.1")]

    page = await download_page(
        f"http://a.example:{server.port}/page", make_policy(server, resolve=two)
    )

    assert page.body.decode() == PAGE


async def test_settings_of_a_proxy_are_not_followed(server, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")

    page = await download_page(f"http://a.example:{server.port}/page", make_policy(server))

    assert len(page.body) < MAX_BYTES and isinstance(httpx.URL(page.url), httpx.URL)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        *(("1.1.1.1", True), ("8.8.8.8", True), ("2606:4700::1111", True)),
        *(("192.168.1.1", False), ("0.0.0.0", False), ("224.0.0.1", False), ("100.64.0.1", False)),
        *(("::ffff:8.8.8.8", True), ("::ffff:127.0.0.1", False), ("64:ff9b::7f00:1", False)),
        *(("2002:7f00:1::", False), ("fe80::1", False), ("fc00::1", False), ("ff02::1", False)),
        *(("192.0.0.192", False), ("168.63.129.16", False), ("192.88.99.1", False)),
        *(("192.31.196.1", False), ("192.52.193.1", False), ("192.175.48.1", False)),
        *(("3fff::1", False), ("100:0:0:1::1", False), ("2620:4f:8000::1", False)),
        *(("::ffff:0:127.0.0.1", False), ("::127.0.0.1", False), ("64:ff9b:1::7f00:1", False)),
        *(("2001::1", False), ("2001:20::1", False), ("4000::1", False), ("200::1", False)),
        *(("2a00:1450::1", True), ("2001:4860:4860::8888", True), ("168.63.129.17", True)),
    ],
)
def test_public_means_the_open_internet(address, public):
    assert is_public_address(ip_address(address)) is public


@given(address=st.ip_addresses(v=4).filter(lambda address: not is_public_address(address)))
def test_no_form_of_ipv6_hides_an_address_that_is_not_public(address):
    number = int(address)
    prefixes = ("::", "::ffff:0:0", "::ffff:0:0:0", "64:ff9b::", "64:ff9b:1::")
    forms = [IPv6Address(int(IPv6Address(prefix)) | number) for prefix in prefixes]
    forms += [
        IPv6Address((0x2002 << 112) | (number << 80)),
        IPv6Address((0x20010000 << 96) | number),
    ]

    assert not [str(form) for form in forms if is_public_address(form)]


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
