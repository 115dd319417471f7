"""The time, and how long a run has taken."""

import time
from typing import Final

from langchain_core.runnables import RunnableConfig
from langgraph.config import get_config

from nodes.limits.run_scope import get_run_scope

_EPOCH: Final = time.time() - time.monotonic()


def now_s() -> float:
    """Return the time of day in seconds, from a clock that never runs backwards in a process."""
    return _EPOCH + time.monotonic()


def get_elapsed_s(config: RunnableConfig | None = None) -> float:
    """Return the seconds since the run began; 0 outside a run of ours."""
    began_at = get_run_scope(config or get_config()).began_at
    return 0.0 if began_at is None else max(0.0, now_s() - began_at)
