"""The program of a child process: calls one function of ours for each line of its input.

    python -m nodes.tools.framework.isolated_child MODULE:FUNCTION MAX_BYTES [PACKAGE FOLDER]

It is quick to import, as each call may start a child.
"""

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any

from nodes.errors import ToolRefused
from nodes.limits.nesting import parse_json

MAX_MEMORY_BYTES = 3_000_000_000


def main() -> None:
    """Serve the function that the command line names."""
    name, max_written_bytes, *package = sys.argv[1:]
    if package:
        from nodes.tools.framework.tool_packages import register_tool_package  # not always needed

        register_tool_package(package[0], Path(package[1]))
    module, _, function = name.partition(":")
    serve_calls(getattr(import_module(module), function), int(max_written_bytes))


def serve_calls(function: Callable[..., Any], max_written_bytes: int) -> None:
    """Answer calls from standard input until it ends; report an error and end."""
    _limit_resources(max_written_bytes)
    out, sys.stdout = sys.stdout, sys.stderr

    def report_error(
        kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        _write_answer(out, {"died": f"{kind.__name__}: {error}"[:500]})

    sys.excepthook = report_error
    for line in sys.stdin:
        try:
            answer = {"result": function(**parse_json(line))}
        except ToolRefused as refusal:
            answer = {"refused": str(refusal)}
        _write_answer(out, answer)


def _write_answer(out: Any, answer: dict[str, Any]) -> None:
    out.write(json.dumps(answer) + "\n")
    out.flush()


def _limit_resources(max_written_bytes: int) -> None:
    try:
        import resource  # not on Windows
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_FSIZE, (max_written_bytes, max_written_bytes))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main()
