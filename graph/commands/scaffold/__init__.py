"""Copies a working example team under another name.

The template `my_team` is itself a team: it is checked and examined like any other.
"""

from pathlib import Path
from typing import Final

from graph.teams.team_folder import NAME_PATTERN, NAME_RULE
from nodes.errors import UsageError, translate_os_errors

TEMPLATE_FOLDER: Final = Path(__file__).parent / "my_team"


def make_team(name: str, into: Path) -> Path:
    """Create a team's folder and return its path.

    Raises:
        UsageError: the name is invalid, or the folder exists or cannot be written.
    """
    return copy_template(TEMPLATE_FOLDER, name, into, "supervise new-team my_team")


def copy_template(template: Path, name: str, into: Path, example: str) -> Path:
    """Copy a template under a name, which replaces its own in every file; return its folder.

    Args:
        example: a command with a valid name, for the error.

    Raises:
        UsageError: the name is invalid, or the folder exists or cannot be written.
    """
    if not NAME_PATTERN.fullmatch(name):
        raise UsageError(f"{name!r} is not a valid team name", cause=NAME_RULE, next=example)
    folder = into / name
    if folder.exists() or folder.is_symlink():
        raise UsageError(
            f"{folder} exists already", kept="the folder is unchanged", next="choose another name"
        )
    advice = "choose another --into"
    with translate_os_errors(UsageError, f"cannot create {folder}", next=advice):
        for source in _list_files(template):
            target = folder / source.relative_to(template)
            target.parent.mkdir(parents=True, exist_ok=True)
            text = source.read_text(encoding="utf-8").replace(template.name, name)
            target.write_text(text, encoding="utf-8")
    return folder


def _list_files(template: Path) -> list[Path]:
    found = (path for path in sorted(template.rglob("*")) if path.is_file())
    return [path for path in found if "__pycache__" not in path.parts]
