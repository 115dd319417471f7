"""What a server adds: users, the live page, limits that several servers share, runs by `--url`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from graph.extensions import DoctorCheck, Extension, RunSource

if TYPE_CHECKING:
    from graph.around_run import AroundRun
    from graph.settings import Settings


class _Server(Extension):
    def register(self) -> None:
        """Share rates and circuit breakers over Redis, where one is set."""
        from extensions.server.shared.signals import RedisProvider
        from nodes.models.rates import register_state_provider

        register_state_provider(RedisProvider())

    def add_commands(self, app: typer.Typer) -> None:
        """Add `supervise ui` and `supervise add-user`."""
        from extensions.server.commands import add_user, open_ui

        app.command("ui")(open_ui)
        app.command("add-user")(add_user)

    def list_around_runs(self, settings: "Settings") -> Iterable["AroundRun"]:
        """Keep the trace of a server's run beside its checkpoints, and show it to `--url`."""
        from extensions.server.trace_view import KeptTraces

        return (KeptTraces(settings.keeps_trace, settings.home / "documents"),)

    def open_runs(self, url: str, settings: "Settings") -> RunSource:
        """Return the runs of a LangGraph server or an Aegra."""
        from extensions.server.runs_command import RunsOfServer

        return RunsOfServer(settings, url)

    def list_checks(self, settings: "Settings") -> Iterable[DoctorCheck]:
        """Check the Redis through which instances share rates, and the file of users."""
        from extensions.server.doctor import check_shared_rates, check_users

        yield from check_shared_rates(settings)
        yield from check_users(settings)


EXTENSION = _Server()
