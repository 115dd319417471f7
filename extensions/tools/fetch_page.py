"""Fetch a web page as text."""

import base64
from typing import Any

import httpx
from langchain_core.tools import BaseTool, tool

from extensions.tools.web.download import AddressPolicy, Page, download_page
from nodes.errors import ToolFailed, ToolRefused
from nodes.text.plain_text import sanitize_line, sanitize_text
from nodes.tools.framework.isolation import run_isolated
from nodes.tools.framework.settings import ToolSettings

PARSER = "extensions.tools.documents.parser:parse_document"
PARSE_TIMEOUT_S = 15.0
MAX_CHARS = 12_000


def fetch_page(settings: ToolSettings, *, policy: AddressPolicy | None = None) -> BaseTool:
    """Build the fetcher; `policy` decides which addresses are allowed, by default public ones."""
    allowed = policy or AddressPolicy()

    @tool("fetch_page")
    async def fetch(url: str) -> dict[str, Any]:
        """Read one public web page or PDF as text.

        Give a URL exactly as a search result or the handoff names it. Cite `source`, quote `text`.
        Example: fetch_page(url="https://www.example.com/report.html")
        """
        try:
            page = await download_page(url.strip(), allowed)
        except httpx.TransportError as error:
            late = " in time" if isinstance(error, httpx.TimeoutException) else ""
            raise ToolFailed(
                f"the page cannot be reached{late}; use another page or search_documents, or "
                "report what is missing"
            ) from error
        except httpx.DecodingError:
            raise ToolRefused("the page cannot be decoded; use another one") from None
        title, text = await _extract_text(page)
        if not text.strip():
            raise ToolRefused("the page holds no text that can be read; use another one")
        found = {"source": page.url, "title": sanitize_line(title, 200), "text": text[:MAX_CHARS]}
        if len(text) <= MAX_CHARS:
            return {"results": [found]}
        return {"results": [found], "cut": f"the first {MAX_CHARS} of {len(text)} characters"}

    return fetch


async def _extract_text(page: Page) -> tuple[str, str]:
    if page.suffix == ".txt":
        return "", sanitize_text(_decode_body(page, page.charset or "utf-8"))
    is_told = page.suffix == ".html" and page.charset
    body = _decode_body(page, page.charset).encode() if is_told else page.body
    request: dict[str, Any] = {
        "content": base64.b64encode(body).decode(),
        "suffix": page.suffix,
        "max_chars": 20 * MAX_CHARS,
    }
    try:
        answer = await run_isolated(PARSER, timeout_s=PARSE_TIMEOUT_S, **request)
    except (ToolFailed, ToolRefused) as error:
        raise type(error)(f"the page cannot be read: {error}; use another one") from error
    return answer["title"], sanitize_text(answer["text"])


def _decode_body(page: Page, charset: str) -> str:
    try:
        return page.body.decode(charset, errors="replace")
    except LookupError:
        return page.body.decode("utf-8", errors="replace")
