"""`supervise new-app`: a project around a team, with a graph of its own, tests and Studio."""

from typing import TYPE_CHECKING

from graph.extensions import Extension

if TYPE_CHECKING:
    import typer


class _Projects(Extension):
    def add_commands(self, app: "typer.Typer") -> None:
        """Add the command."""
        from extensions.projects.command import new_app

        app.command("new-app")(new_app)


EXTENSION = _Projects()
