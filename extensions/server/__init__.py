"""What a server adds: users, the live page, limits that several servers share, runs by `--url`."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import typer

from graph.extensions import DoctorCheck, Extension

if TYPE_CHECKING:
    from graph.settings import Settings


class _Server(Extension):
    def add_commands(self, app: typer.Typer) -> None:
        """Add `supervise ui` and `supervise add-user`."""
        from extensions.server.ui_command import open_ui
        from extensions.server.user_commands import add_user

        app.command("ui")(open_ui)
        app.command("add-user")(add_user)

    def list_checks(self, settings: "Settings") -> Iterable[DoctorCheck]:
        """Check the Redis through which instances share rates, and the file of users."""
        from extensions.server.doctor_redis import check_shared_rates
        from extensions.server.doctor_users import check_users

        yield from check_shared_rates(settings)
        yield from check_users(settings)


EXTENSION = _Server()
