"""Record of a team, saved with each run: a resume compares it with the team as it is now.

A run cannot resume when a worker that may have tasks is gone, and must not resume when a worker
may do more, or less, than when the plan was made. New wording, limits and workers are allowed.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from zlib import crc32

from nodes.errors import UsageError
from nodes.schemas.team import Team, Worker
from state import COMPLETE_STATUSES, TeamRecord

TEAM_FILE = "team.md"


class TeamChanged(UsageError):
    """A run cannot resume because its team has changed."""

    code = "TEAM_CHANGED"


def build_team_record(team: Team) -> TeamRecord:
    """Return the record of a team and of the teams within it."""
    workers = list(_walk_workers(team, ""))
    return TeamRecord(
        strategies={path: inner.strategy for path, inner in _walk_teams(team, "")},
        tools={path: _list_tools(worker) for path, worker in workers},
        words={
            **{
                path: _compute_checksum(
                    inner, exclude={"workers", "grant", "own_tools", "left_out"}
                )
                for path, inner in _walk_teams(team, "")
            },
            **{
                f"{path}.md": _compute_checksum(worker, exclude={"team", "tools"})
                for path, worker in workers
            },
        },
    )


def require_same_team(team: Team, values: Mapping[str, Any]) -> list[str]:
    """Return the changes of a team since a run began that do not prevent the run from resuming.

    Args:
        values: the run's state; a run that is done, or has no plan yet, accepts any team.

    Raises:
        TeamChanged: the run cannot resume.
    """
    plan = values.get("plan")
    is_complete = values.get("status") in COMPLETE_STATUSES
    is_over = is_complete or values.get("planned_for") != values.get("request")
    if plan is None or is_over:
        return []
    now = build_team_record(team)
    before: TeamRecord | None = values.get("team_record")
    gone = {task.worker for task in plan.tasks} - {worker.name for worker in team.roster}
    refused = [f"worker {name} is gone" for name in sorted(gone)]
    if before:
        refused = list(_list_refused_changes(before, now))
    if refused:
        raise TeamChanged(
            f"the team {team.name} has changed since this run began",
            cause="; ".join(refused),
            kept="what the run has finished",
            next="restore the team's files, or send the request on another thread",
        )
    return list(_list_allowed_changes(before, now)) if before else []


def _list_refused_changes(before: TeamRecord, now: TeamRecord) -> Iterator[str]:
    gone = [path for path in before.tools if path not in now.tools]
    yield from (f"worker {path} is gone" for path in gone)
    # A new worker of an inner team lets the outer worker, which is that team, do more.
    new = [path for path in now.tools if path not in before.tools and (gone or "/" in path)]
    yield from (f"worker {path} is new" for path in new)
    for path, tools in before.tools.items():
        if path in now.tools and set(tools) != set(now.tools[path]):
            changes = [f"+{tool}" for tool in now.tools[path] if tool not in tools]
            changes += [f"-{tool}" for tool in tools if tool not in now.tools[path]]
            yield f"worker {path} has other tools ({', '.join(changes)})"
    for path, strategy in before.strategies.items():
        if now.strategies.get(path, strategy) != strategy:
            yield f"{path} has the strategy {now.strategies[path]}, before it was {strategy}"


def _list_allowed_changes(before: TeamRecord, now: TeamRecord) -> Iterator[str]:
    yield from (f"worker {path} is new" for path in now.tools if path not in before.tools)
    for path, words in before.words.items():
        if now.words.get(path, words) != words:
            yield f"{path} has changed"


def _walk_workers(team: Team, around: str) -> Iterator[tuple[str, Worker]]:
    for worker in team.roster:
        yield f"{around}{worker.name}", worker
        if worker.team:
            yield from _walk_workers(worker.team, f"{around}{worker.name}/")


def _walk_teams(team: Team, around: str) -> Iterator[tuple[str, Team]]:
    yield f"{around}{TEAM_FILE}", team
    for worker in team.workers:
        if worker.team:
            yield from _walk_teams(worker.team, f"{around}{worker.name}/")


def _list_tools(worker: Worker) -> tuple[str, ...]:
    if worker.remote:
        return (worker.remote.describe(),)
    return (f"team {worker.team.name}",) if worker.team else worker.tools


def _compute_checksum(part: Team | Worker, *, exclude: set[str]) -> str:
    return f"{crc32(part.model_dump_json(exclude=exclude).encode()):08x}"
