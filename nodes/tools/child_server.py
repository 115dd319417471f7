"""The child's side of `child_process.py`: quick to import, as each request may start a child."""

import json
import sys
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

MAX_MEMORY_BYTES = 3_000_000_000


def serve_requests(
    handle: Callable[[dict[str, Any]], dict[str, Any]], *, max_written_bytes: int = 0
) -> None:
    """Answer requests from standard input until it ends; report an error and end."""
    _limit_resources(max_written_bytes)
    out, sys.stdout = sys.stdout, sys.stderr

    def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        _write_answer(out, {"died": f"{kind.__name__}: {error}"[:500]})

    sys.excepthook = tell
    for line in sys.stdin:
        _write_answer(out, handle(json.loads(line)))


def _write_answer(out: Any, answer: Mapping[str, Any]) -> None:
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
