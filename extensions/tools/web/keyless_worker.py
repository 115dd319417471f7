"""The child process that searches without a key."""

from ddgs import DDGS
from ddgs.exceptions import DDGSException

from nodes.errors import ToolRefused

ENGINE_TIMEOUT_S = 8


def search_keyless(query: str, max_results: int) -> list[dict[str, str]]:
    """Return results, each with `href`, `title` and `body`.

    Raises:
        ToolRefused: no engine answered.
    """
    try:
        found = DDGS(timeout=ENGINE_TIMEOUT_S).text(query, max_results=max_results)
    except DDGSException as error:
        if "No results" in str(error):
            return []
        raise ToolRefused(str(error)) from error
    return [{key: str(item.get(key, "")) for key in ("href", "title", "body")} for item in found]
