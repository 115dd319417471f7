"""The routes of the live page: its built files, and nothing else.

The page holds no word of any run and needs no token: what it shows, it asks of the server's own
routes, with the token of whoever opened it.
"""

from collections.abc import Mapping
from hashlib import sha256
from mimetypes import guess_type
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

PAGE_PATH: Final = "/supervise"
FIRST_FILE: Final = "index.html"
BUILT_FOLDER: Final = Path(__file__).parents[1] / "pages" / "built" / "live"
NOT_BUILT: Final = "error[PAGE_MISSING] the live page is not built. next: make pages\n"
HEADERS: Final = {
    # `blob:` is the report that the page has built, for the download.
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


def list_page_routes(folder: Path = BUILT_FOLDER) -> list[Route]:
    """Return the routes below `/supervise`; the files are read once, here."""
    page = _LivePage(_read_files(folder))
    return [
        Route(PAGE_PATH, redirect_to_page),
        Route(f"{PAGE_PATH}/", page.answer),
        Route(f"{PAGE_PATH}/{{name:path}}", page.answer),
    ]


async def redirect_to_page(request: Request) -> Response:
    """Answer with the address that ends with a slash: the page names its files relative to it."""
    return RedirectResponse(f"{PAGE_PATH.rpartition('/')[2]}/", status_code=307)


class _LivePage:
    """Answers with a built file, by its name."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    async def answer(self, request: Request) -> Response:
        """Answer with the file; 404 for a name that is none of the page's."""
        name = request.path_params.get("name") or FIRST_FILE
        content = self._files.get(name)
        if content is None:
            said = NOT_BUILT if not self._files else "not a file of the live page\n"
            return PlainTextResponse(said, status_code=404)
        tag = f'"{sha256(content).hexdigest()[:32]}"'
        headers = {**HEADERS, "ETag": tag}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(content, media_type=_choose_type(name), headers=headers)


def _read_files(folder: Path) -> dict[str, bytes]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def _choose_type(name: str) -> str:
    """Return the media type; a template of a report is text, so that no browser runs it here."""
    if name.endswith(".html") and name != FIRST_FILE:
        return "text/plain"
    known = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    suffix = Path(name).suffix
    return known.get(suffix) or guess_type(name)[0] or "application/octet-stream"
