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


def get_request_s(config: RunnableConfig) -> float:
    """Return the seconds of the run at which its request came; another server may have begun it."""
    scope = get_run_scope(config)
    if scope.first_claimed_at is None or scope.began_at is None:
        return get_elapsed_s(config)
    return max(0.0, scope.first_claimed_at - scope.began_at)
