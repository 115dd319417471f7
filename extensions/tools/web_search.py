"""Search the open web."""

from typing import Any

from langchain_core.tools import BaseTool, tool

from extensions.tools.web.search_engines import Search, SearchUnreachable, choose_engine
from nodes.errors import ToolFailed, ToolRefused
from nodes.text.plain_text import sanitize_line
from nodes.tools.framework.settings import ToolSettings

MAX_RESULTS = 10
MAX_QUERY_CHARS = 400
MAX_TEXT_CHARS = 1200


def web_search(settings: ToolSettings, *, search: Search | None = None) -> BaseTool:
    """Build the search; `search` is the engine, by default the one that the settings allow."""
    ask = search or choose_engine(settings.tavily_api_key)

    @tool("web_search")
    async def find(query: str, max_results: int = 5) -> dict[str, Any]:
        """Find public web pages; returns address, title and an excerpt of each.

        Excerpts are short: read a promising page with fetch_page before you quote figures.
        Example: web_search(query="AWS annual revenue 2025 growth", max_results=5)
        """
        words = sanitize_line(query, MAX_QUERY_CHARS)
        if not words:
            raise ToolRefused("the query is empty; give a few telling words")
        try:
            found = await ask(words, min(max(max_results, 1), MAX_RESULTS))
        except SearchUnreachable as error:
            raise ToolFailed(
                f"the web cannot be reached ({error}); use search_documents or report what is "
                "missing"
            ) from error
        results = [
            {
                "source": page.url,
                "title": sanitize_line(page.title, 200),
                "text": sanitize_line(page.text, MAX_TEXT_CHARS),
            }
            for page in found[:MAX_RESULTS]
            if page.url.startswith(("https://", "http://"))
        ]
        return {"results": results} if results else {"results": [], "note": "no page was found"}

    return find
