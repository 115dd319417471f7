"""Runs a kept run again without a model; what-if; cases for exams; the shipped record."""

from typing import TYPE_CHECKING

import typer

from graph.extensions import Extension

if TYPE_CHECKING:
    from extensions.replay.run_recorder import RunRecorder
    from extensions.replay.runs import KeptRuns
    from graph.settings import Settings


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
