"""The other side of a comparison: other models, another team, or the team with other workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter, ValidationError

from graph.settings import ModelName, Settings
from graph.teams.front_matter_keys import suggest_name
from graph.teams.team_folder import TEAM_FILE
from nodes.errors import UsageError

MODEL_SETTINGS: Final = {
    **{f"model_{tier}": f"model_{tier}" for tier in ("fast", "standard", "strong")},
    **{tier: f"model_{tier}" for tier in ("fast", "standard", "strong")},
}
"""The settings, by the names that are allowed before `=`."""


@dataclass(frozen=True)
class Baseline:
    """The team and settings with which an evaluation is compared."""

    label: str
    team: str
    settings: Settings
    workers: tuple[Path, ...] = ()
    """Files of workers that replace the team's, or are added: then this is what is examined."""


def build_changed_team(workers: Sequence[Path], team: str, settings: Settings) -> Baseline:
    """Return a team with workers replaced or added, as the other side of its comparison.

    Raises:
        UsageError: a file is not that of a worker, or two are for one.
    """
    files = {path.stem: path for path in workers}
    for path in workers:
        if path.suffix != ".md" or path.name == TEAM_FILE:
            raise UsageError(
                f"--worker {path} is no worker's file", next="name one such as analyst.md"
            )
        if files[path.stem] is not path:
            raise UsageError(f"two files are for the worker {path.stem!r}", next="name one of them")
    return Baseline(", ".join(path.name for path in workers), team, settings, tuple(workers))


def parse_baseline(against: Sequence[str], team: str, settings: Settings) -> Baseline:
    """Build the baseline from models as TIER=MODEL, and at most one team by its name or folder.

    Raises:
        UsageError: a value is neither, or names a second team.
    """
    pairs = [text.partition("=") for text in against if "=" in text]
    others = [text for text in against if "=" not in text]
    if len(others) > 1:
        raise UsageError(
            f"--against names two teams, {others[0]!r} and {others[1]!r}", next="compare with one"
        )
    models = {_find_setting(name): _check_model_name(name, value) for name, _, value in pairs}
    return Baseline(
        label=", ".join(against),
        team=others[0] if others else team,
        settings=settings.model_copy(update=models),
    )


def _find_setting(name: str) -> str:
    if name not in MODEL_SETTINGS:
        raise UsageError(
            f"--against cannot change {name!r}{suggest_name(name, MODEL_SETTINGS)}",
            next=f"write one of {', '.join(MODEL_SETTINGS)} before '=', or the folder of a team",
        )
    return MODEL_SETTINGS[name]


def _check_model_name(name: str, value: str) -> str:
    try:
        TypeAdapter(ModelName).validate_python(value)
    except ValidationError:
        raise UsageError(
            f"invalid model in --against {name}={value}",
            next="write provider:model, as in openai:gpt-5-mini, or embedded",
        ) from None
    return value
