"""The child process that reads untrusted code, logs and configuration."""

from collections.abc import Callable, Mapping
from typing import Any

from nodes.tools.child_server import serve_requests
from nodes.tools.incident.config_report import compare_config
from nodes.tools.incident.errors import InsufficientMaterials
from nodes.tools.incident.explanation import explain_error
from nodes.tools.incident.metrics import log_metrics
from nodes.tools.incident.symbols import find_symbol, search_code

HANDLERS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    look.__name__: look
    for look in (compare_config, explain_error, find_symbol, log_metrics, search_code)
}


def answer_request(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{look, materials, …}` with a report."""
    try:
        return HANDLERS[request["look"]](request)
    except InsufficientMaterials as reason:
        return {"refused": str(reason)}


if __name__ == "__main__":
    serve_requests(answer_request, max_written_bytes=20_000_000)
