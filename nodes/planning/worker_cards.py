"""The workers of a team, as the trace holds them."""

from typing import Any, Final

from nodes.prompts.tags import shorten_text
from nodes.schemas.team import Team, Worker

MAX_INSTRUCTIONS_CHARS: Final = 1_000
MAX_DESCRIPTION_CHARS: Final = 300


def describe_workers(team: Team) -> dict[str, dict[str, Any]]:
    """Return what each worker is told and may use, by its name; long texts are cut."""
    return {worker.name: _describe_worker(worker) for worker in team.roster}


def _describe_worker(worker: Worker) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": shorten_text(worker.description, MAX_DESCRIPTION_CHARS),
        "instructions": shorten_text(worker.instructions.strip(), MAX_INSTRUCTIONS_CHARS),
        "tools": list(worker.tools),
        "tier": worker.tier,
    }
    if worker.team:
        described["team"] = worker.team.name
    if worker.remote:
        described["host"] = worker.remote.host
    return described
