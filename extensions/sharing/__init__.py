"""Teams that travel: they are packed, shown before anything of them runs, and locked by hash."""

from collections.abc import Iterable
from pathlib import Path

import typer

from graph.extensions import Extension


class _Sharing(Extension):
    def add_commands(self, app: typer.Typer) -> None:
        """Add the commands."""
        from extensions.sharing.options import add_team, pack_team

        app.command("add-team")(add_team)
        app.command("pack-team")(pack_team)

    def list_team_folders(self) -> Iterable[Path]:
        """Return the folder of the teams that the user has added."""
        from graph.user_state import get_teams_folder

        return [get_teams_folder()]

    def require_consent(self, folder: Path) -> None:
        """Raise TeamChanged if an added team is not as the user has agreed to it."""
        for teams in self.list_team_folders():
            if folder.resolve().is_relative_to(teams.resolve()):
                from extensions.sharing.lock import require_consent

                require_consent(folder)


EXTENSION = _Sharing()
