"""Runs a kept run again without a model; what-if; cases for exams; the shipped record.

The functions and types below are imported at their first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

import typer

from graph.extensions import Extension

if TYPE_CHECKING:
    from extensions.replay.changes import find_changes
    from extensions.replay.fork import Comparison, afork
    from extensions.replay.options import ChangeOptions
    from extensions.replay.run_recorder import RunRecorder
    from extensions.replay.runs import KeptRuns, areplay, replay
    from graph.settings import Settings

__all__ = [
    "EXTENSION",
    "ChangeOptions",
    "Comparison",
    "afork",
    "areplay",
    "find_changes",
    "replay",
]

_HOMES = {
    "ChangeOptions": "extensions.replay.options",
    "Comparison": "extensions.replay.fork",
    "afork": "extensions.replay.fork",
    "find_changes": "extensions.replay.changes",
    "areplay": "extensions.replay.runs",
    "replay": "extensions.replay.runs",
}


class _Replays(Extension):
    def add_commands(self, app: typer.Typer) -> None:
        """Add the commands on records."""
        from extensions.replay import commands

        for command in (commands.replay, commands.fork, commands.demo, commands.case):
            app.command()(command)

    def open_record(self, thread: str, settings: "Settings") -> "RunRecorder | None":
        """Return what keeps the record of a run, unless the settings turn it off."""
        from extensions.replay.run_recorder import RunRecorder
        from graph.runs.trace import get_record_path

        path = get_record_path(thread, settings)
        return RunRecorder(path, settings) if settings.record else None

    def open_replays(self) -> "KeptRuns":
        """Return what replays the records of an exam's rows."""
        from extensions.replay.runs import KeptRuns

        return KeptRuns()


EXTENSION = _Replays()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'extensions.replay' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
