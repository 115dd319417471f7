"""Search engines: Tavily with a key, else engines that need none."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx

from nodes.errors import ToolFailed, ToolRefused
from nodes.limits.nesting import parse_json
from nodes.tools.framework.isolation import run_isolated

KEYLESS_SEARCH = f"{__name__}:ask_keyless_engines"
ENGINE_TIMEOUT_S = 8
TAVILY_URL = "https://api.tavily.com/search"
TIMEOUT_S = 20.0
MAX_ANSWER_BYTES = 2_000_000


class SearchUnreachable(Exception):
    """The engine does not answer; a later try or another engine may."""


@dataclass(frozen=True)
class SearchResult:
    """One page in an engine's results."""

    url: str
    title: str
    text: str


Search = Callable[[str, int], Awaitable[list[SearchResult]]]


def choose_engine(tavily_api_key: str | None) -> Search:
    """Return the engine: Tavily if there is a key."""
    return partial(search_tavily, tavily_api_key) if tavily_api_key else search_keyless


async def search_tavily(
    key: str, query: str, max_results: int, *, url: str = TAVILY_URL
) -> list[SearchResult]:
    """Search with Tavily.

    Raises:
        SearchUnreachable: no answer, or one that cannot be read.
        ToolRefused: the key or the query is not accepted.
    """
    try:
        async with asyncio.timeout(TIMEOUT_S), httpx.AsyncClient(trust_env=False) as client:
            response = await client.post(
                url,
                json={"query": query, "max_results": max_results, "search_depth": "basic"},
                headers={"Authorization": f"Bearer {key}"},
                timeout=TIMEOUT_S,
            )
    except (httpx.TransportError, httpx.DecodingError, TimeoutError) as error:
        raise SearchUnreachable("no answer") from error
    if response.status_code in (401, 403):
        raise ToolRefused(
            "the search engine refuses the key (TAVILY_API_KEY); use search_documents, or report "
            "what is missing"
        )
    if response.status_code != 200 or len(response.content) > MAX_ANSWER_BYTES:
        raise SearchUnreachable(f"status {response.status_code}")
    return _parse_results(response)


async def search_keyless(query: str, max_results: int) -> list[SearchResult]:
    """Search with engines that need no key, in a child process.

    Raises:
        SearchUnreachable: none of them answers.
    """
    try:
        found = await run_isolated(
            KEYLESS_SEARCH, timeout_s=TIMEOUT_S, query=query, max_results=max_results
        )
    except (ToolFailed, ToolRefused) as failure:
        raise SearchUnreachable("no search engine answers") from failure
    return [SearchResult(item["href"], item["title"], item["body"]) for item in found]


def _parse_results(response: httpx.Response) -> list[SearchResult]:
    try:
        answer: Any = parse_json(response.content)
        return [
            SearchResult(str(item["url"]), str(item.get("title", "")), str(item.get("content", "")))
            for item in answer["results"]
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SearchUnreachable("an answer that cannot be read") from error


def ask_keyless_engines(query: str, max_results: int) -> list[dict[str, str]]:
    """Return results, each with `href`, `title` and `body`; runs in the child process.

    Raises:
        ToolRefused: no engine answered.
    """
    from ddgs import DDGS  # takes long to load, and only the child needs it
    from ddgs.exceptions import DDGSException

    try:
        found = DDGS(timeout=ENGINE_TIMEOUT_S).text(query, max_results=max_results)
    except DDGSException as error:
        if "No results" in str(error):
            return []
        raise ToolRefused(str(error)) from error
    return [{key: str(item.get(key, "")) for key in ("href", "title", "body")} for item in found]
