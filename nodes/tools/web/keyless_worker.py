"""The child process that searches without a key."""

from typing import Any

from ddgs import DDGS
from ddgs.exceptions import DDGSException

from nodes.tools.child_process import serve_requests

ENGINE_TIMEOUT_S = 8


def answer_request(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{query, max_results}` with `{results}`, or `{refused}`."""
    try:
        found = DDGS(timeout=ENGINE_TIMEOUT_S).text(
            request["query"], max_results=request["max_results"]
        )
    except DDGSException as error:
        if "No results" in str(error):
            return {"results": []}
        return {"refused": str(error)}
    kept = [{key: str(item.get(key, "")) for key in ("href", "title", "body")} for item in found]
    return {"results": kept}


if __name__ == "__main__":
    serve_requests(answer_request)
