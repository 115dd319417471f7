"""Run a shipped team on a request, and collect what comes of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from graph import arun
from graph.runs.outcome import Outcome
from state import Answer


class TeamRun(NamedTuple):
    """What came of a run that ended with an answer."""

    outcome: Outcome
    answer: Answer
    events: list[Mapping[str, Any]]


async def run_team(
    team: str, request: str, *files: Path | str, folder: Path | None = None, **options: Any
) -> TeamRun:
    """Run a team with the embedded model, unless the options choose another.

    Args:
        folder: in which the files are; without it, their paths are complete.
        options: of `arun`.
    """
    events: list[Mapping[str, Any]] = []
    paths = [folder / file if folder else Path(file) for file in files]
    outcome = await arun(request, team=team, files=paths, on_event=events.append, **options)
    assert outcome.answer is not None, "a run that ends has an answer"
    return TeamRun(outcome, outcome.answer, events)
