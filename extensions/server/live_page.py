"""The routes of the live page: its built files, and nothing else.

The page holds no word of any run and needs no token: what it shows, it asks of the server's own
routes, with the token of whoever opened it.
"""

from collections.abc import Mapping
from functools import partial
from hashlib import sha256
from typing import Final, NamedTuple

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from graph.pages.built_page import BUILT, load_built_page

PAGE_PATH: Final = "/supervise"
NOT_BUILT: Final = "error[PAGE_MISSING] the live page is not built. next: make pages\n"
HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
_ICON: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Crect width='32' height='32' rx='7' fill='%231556b8'/%3E"
    "%3Cpath d='M16 9v12M7 21v-5h18v5' stroke='%23fff' stroke-width='2.2' fill='none'/%3E"
    "%3Cpath d='M16 4.5a4 4 0 1 0 .1 0zM7 20a3 3 0 1 0 .1 0zM16 20a3 3 0 1 0 .1 0zM25 20"
    "a3 3 0 1 0 .1 0z' fill='%23fff'/%3E%3C/svg%3E"
)
_INDEX: Final = f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>supervise</title>
<link rel="icon" href="{_ICON}">
<link rel="stylesheet" href="live.css">
<script src="live.js" defer></script>
</head>
<body>
<div id="page"><noscript>This page needs JavaScript.</noscript></div>
</body>
</html>
"""


class PageFile(NamedTuple):
    """A file as it is sent."""

    content: bytes
    media_type: str


def list_page_routes() -> list[Route]:
    """Return the routes below `/supervise`; the files are read once, here."""
    answer = partial(_answer, _read_files())
    return [
        Route(PAGE_PATH, redirect_to_page),
        Route(f"{PAGE_PATH}/", answer),
        Route(f"{PAGE_PATH}/{{name}}", answer),
    ]


async def redirect_to_page(request: Request) -> Response:
    """Answer with the address that ends with a slash: the page names its files relative to it."""
    return RedirectResponse(f"{PAGE_PATH.rpartition('/')[2]}/", status_code=307, headers=HEADERS)


async def _answer(files: Mapping[str, PageFile], request: Request) -> Response:
    """Answer with the file of a name; 404 for one that is none of the page's."""
    file = files.get(request.path_params.get("name", ""))
    if file is None:
        said = "not a file of the live page\n" if files else NOT_BUILT
        return PlainTextResponse(said, status_code=404, headers=HEADERS)
    tag = f'"{sha256(file.content).hexdigest()[:32]}"'
    headers = {**HEADERS, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)


def _read_files() -> dict[str, PageFile]:
    """Return the files by their names; none before they were built."""
    if not (BUILT / "live.js").exists():
        return {}
    page = load_built_page("live")
    return {
        "": PageFile(_INDEX.encode(), "text/html"),
        "live.js": PageFile(page.script.encode(), "text/javascript"),
        "live.css": PageFile(page.style.encode(), "text/css"),
    }
