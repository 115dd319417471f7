"""How much time a run has left."""

from langchain_core.runnables import RunnableConfig

from nodes.events import now_s

SYNTHESIS_SHARE = 0.15
"""Of a run's deadline, kept for the answer."""
MAX_SYNTHESIS_S = 30.0


def remaining_s(config: RunnableConfig) -> float | None:
    """Give the seconds left for work before the answer must be written; None without a deadline."""
    deadline_at = config["configurable"].get("work_until")
    return None if deadline_at is None else max(0.0, deadline_at - now_s())


def is_past(config: RunnableConfig) -> bool:
    """Say whether the time for work is over."""
    return remaining_s(config) == 0.0


def stamps(now: float, deadline_s: float) -> dict[str, float]:
    """Give the moments of a deadline, on the clock of `now_s`, as entries of a configurable."""
    kept = min(deadline_s * SYNTHESIS_SHARE, MAX_SYNTHESIS_S)
    return {"deadline_at": now + deadline_s, "work_until": now + deadline_s - kept}
