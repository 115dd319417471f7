"""The child process that reads untrusted code, logs and configuration."""

from collections.abc import Callable, Mapping
from typing import Any

from .config_report import compare_config
from .explanation import explain_error
from .metrics import log_metrics
from .symbols import find_symbol, search_code

HANDLERS: Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    look.__name__: look
    for look in (compare_config, explain_error, find_symbol, log_metrics, search_code)
}


def answer_request(request: dict[str, Any]) -> dict[str, Any]:
    """Answer `{look, materials, …}` with a report."""
    return HANDLERS[request["look"]](request)
