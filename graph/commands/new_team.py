"""`supervise new-team`: a folder to begin a team of one's own from."""

import shlex
from pathlib import Path

from graph.commands.output import print_text
from graph.commands.scaffold import make_team


def make_team_folder(name: str, into: Path) -> int:
    """Make the folder, and say what to do with it."""
    folder = make_team(name, into)
    shown = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    files = sorted(path.name + "/" * path.is_dir() for path in folder.iterdir())
    print_text(f"made {shown}: {', '.join(files)}")
    print_text(
        f"next: supervise check {shown}; supervise eval {shown}; then read {shown}/README.md"
    )
    return 0
