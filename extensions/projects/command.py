"""Copies a working project; its team is that of `supervise new-team`."""

from pathlib import Path
from typing import Annotated

import typer

from graph.commands.options import option
from graph.display.streams import print_to_stdout

TEMPLATE = Path(__file__).parent / "my_app"


def new_app(
    name: Annotated[str, typer.Argument(help="Of the project and its team, such as my_app.")],
    into: Path = option(
        "--into", "FOLDER", "Create the project below this folder.", default=Path()
    ),
) -> int:
    """Create a project: a team, a graph of your own around it, tests, and Studio's file."""
    from graph.commands.scaffold import copy_template, make_team  # slow to load

    folder = copy_template(TEMPLATE, name, into, "supervise new-app my_app")
    make_team(name, folder / "teams")
    shown = sorted(f"{each.name}/" if each.is_dir() else each.name for each in folder.iterdir())
    print_to_stdout(f"created {folder}: {', '.join(shown)}")
    print_to_stdout(f"next: cd {folder}; pip install pytest; python -m pytest; then read README.md")
    return 0
