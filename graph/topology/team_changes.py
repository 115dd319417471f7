"""Changes to a team since a thread's run began, read from the run's checkpoint."""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver

from nodes.planning.team_record import require_same_team
from nodes.schemas.team import Team


async def list_team_changes(
    team: Team,
    saver: BaseCheckpointSaver[Any] | None,
    config: RunnableConfig,
    *,
    request: str | None = None,
) -> list[str]:
    """Return the changes to a team with which the run can still continue.

    The checkpoint is read directly, since a graph that has lost workers skips their tasks.

    Args:
        request: the last accepted request; if it is not the planned one, any team can plan it.

    Raises:
        TeamChanged: the run cannot continue.
    """
    saved = await saver.aget_tuple(config) if saver else None
    values: Mapping[str, Any] = saved.checkpoint["channel_values"] if saved else {}
    if request is not None and values.get("request") != request:
        return []
    return require_same_team(team, values)


def build_changes_event(changes: Sequence[str], at_s: float) -> dict[str, Any]:
    """Return the event that reports changes with which a run continues."""
    changed = {"kind": "team_changed", "task": "", "worker": "", "changes": list(changes)}
    return {"t": at_s, **changed}
