"""Import the tools of a team's folder in a child process, to report those that do not load."""

from pathlib import Path
from typing import Final

from nodes.errors import TeamInvalid
from nodes.schemas.team import Team
from nodes.tools.framework.catalog import find_own_tools, load_tools
from nodes.tools.framework.isolation import run_isolated_blocking
from nodes.tools.framework.settings import ToolSettings

CHECK_FUNCTION: Final = "nodes.tools.framework.own_tools_check:list_import_problems"
TIMEOUT_S: Final = 60.0


def check_own_tools(team: Team, names: list[str]) -> list[str]:
    """Return a line for each of a team's own tools that cannot be loaded.

    Raises:
        ToolFailed: an import does not end, or ends the process.
    """
    folders = {team.own_tools[name].folder for name in names}
    problems = []
    for folder in folders:
        in_folder = [name for name in names if team.own_tools[name].folder == folder]
        found: list[str] = run_isolated_blocking(
            CHECK_FUNCTION, timeout_s=TIMEOUT_S, folder=str(folder), names=in_folder
        )
        problems += found
    return problems


def list_import_problems(folder: str, names: list[str]) -> list[str]:
    """Return why tools of a folder cannot be loaded; runs in the child process."""
    own, problems = find_own_tools(Path(folder)), []
    for name in names:
        try:
            (loaded,) = load_tools([name], ToolSettings(), own)
        except TeamInvalid as error:
            problems.append(f"{error}; {error.next}")
            continue
        if loaded.name != name:
            problems.append(f"tools/{name}.py defines a tool named {loaded.name!r}; use one name")
    return problems
