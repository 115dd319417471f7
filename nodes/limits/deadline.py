"""How much time a run has left."""

from langchain_core.runnables import RunnableConfig

from nodes.limits.clock import now_s

SYNTHESIS_SHARE = 0.15
"""Of a run's deadline, kept for the answer."""
MAX_SYNTHESIS_S = 30.0
WARNING_SHARE = 0.8
"""Of the time for work: from here on the run does without what it can."""


def get_remaining_s(config: RunnableConfig) -> float | None:
    """Give the seconds left for work before the answer must be written; None without a deadline."""
    deadline_at = config["configurable"].get("work_until")
    return None if deadline_at is None else max(0.0, deadline_at - now_s())


def is_deadline_past(config: RunnableConfig) -> bool:
    """Return whether the time for work is over."""
    return get_remaining_s(config) == 0.0


def is_deadline_near(config: RunnableConfig) -> bool:
    """Return whether most of the time for work is over."""
    left_s, begun = get_remaining_s(config), config["configurable"].get("work_from")
    if left_s is None or begun is None:
        return False
    whole_s = config["configurable"]["work_until"] - begun
    return bool(left_s <= (1.0 - WARNING_SHARE) * whole_s)


def build_deadline_keys(now: float, deadline_s: float | None) -> dict[str, float]:
    """Return the moments of a deadline, on the clock of `now_s`, as entries of a configurable."""
    if deadline_s is None:
        return {}
    kept = min(deadline_s * SYNTHESIS_SHARE, MAX_SYNTHESIS_S)
    ends = now + deadline_s
    return {"deadline_at": ends, "work_from": now, "work_until": ends - kept}
