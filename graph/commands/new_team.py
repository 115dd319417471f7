"""`supervise new-team`: creates an example team to start from."""

import shlex
from pathlib import Path

from graph.commands.output import print_text
from graph.commands.scaffold import make_team


def make_team_folder(name: str, into: Path) -> int:
    """Create the folder, and print the next steps."""
    folder = make_team(name, into)
    shown = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    files = sorted(path.name + "/" * path.is_dir() for path in folder.iterdir())
    print_text(f"created {shown}: {', '.join(files)}")
    print_text(
        f"next: supervise check {shown}; supervise eval {shown}; then read {shown}/README.md"
    )
    return 0
