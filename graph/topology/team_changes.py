"""What has changed of a team since a thread's run began, read from the run's own checkpoint."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from nodes.planning.team_record import require_same_team
from state import Team


async def list_team_changes(
    team: Team,
    saver: BaseCheckpointSaver[Any] | None,
    config: RunnableConfig,
    *,
    request: str | None = None,
) -> list[str]:
    """Return what has changed of a team, where the run can go on all the same.

    A graph that has lost workers cannot be asked: LangGraph passes over their tasks.

    Args:
        request: what was accepted last; where it is not what was planned, any team can plan it.

    Raises:
        TeamChanged: the run cannot go on.
    """
    saved = await saver.aget_tuple(config) if saver else None
    values: Mapping[str, Any] = saved.checkpoint["channel_values"] if saved else {}
    if request is not None and values.get("request") != request:
        return []
    return require_same_team(team, values)


def build_changes_event(changes: Sequence[str], at_s: float) -> dict[str, Any]:
    """Return the event that tells of changes that a run goes on with."""
    told = {"kind": "team_changed", "task": "", "worker": "", "changes": list(changes)}
    return {"t": at_s, **told}
