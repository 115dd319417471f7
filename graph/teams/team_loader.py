"""Finds, loads and checks teams by name or by path: a shipped one, or a user's folder."""

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from langchain_core.tools import BaseTool

from graph.extensions import collect, find_extensions, register_extensions
from graph.settings import Settings, read_settings
from graph.teams.front_matter import FileProblem, suggest_name
from graph.teams.team_folder import TEAM_FILE, TOOLS_FOLDER, FindTeam, read_team
from nodes.errors import TeamInvalid
from nodes.schemas.team import Team
from nodes.tools.framework.catalog import add_given_tools, declare_given_tools
from nodes.tools.framework.own_tools_check import check_own_tools

ENTRY_POINT_GROUP: Final = "supervisor_worker.teams"
"""Of packages that bring teams: `acme = "acme_teams.acme"`, the package that is the folder."""
SHIPPED_TEAMS_FOLDER: Final = Path(__file__).resolve().parents[2] / "teams"


def load_team(
    name_or_path: str | Path | Team,
    settings: Settings | None = None,
    *,
    tools: Mapping[str, BaseTool] | None = None,
    workers: Sequence[Path] = (),
) -> Team:
    """Return a team: by its name, by the path of its folder, or an instance unchanged.

    A folder under `SUPERVISE_TEAMS` takes precedence over a shipped team of the same name.

    Args:
        tools: objects for names in workers' `tools`.
        workers: files of workers, each in place of the team's worker of its name, or added to them.

    Raises:
        TeamInvalid: there is no such team, or its files cannot be used.
        SettingsInvalid: one of `tools` is no tool, or no worker has it.
    """
    register_extensions()  # their tools may be named
    given = declare_given_tools(tools)
    if isinstance(name_or_path, Team):
        return add_given_tools(name_or_path, given)
    folder = open_team(name_or_path, settings)
    team, problems = read_team(folder, _build_finder(settings), given=given, workers=workers)
    if team is None:
        others = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
        next_step = "supervise teams lists those that have a name"
        if (folder / TEAM_FILE).exists():
            next_step = f"fix the file; supervise check {folder} lists every problem"
        next_step = "fix the file" if workers else next_step
        raise TeamInvalid(f"{problems[0]}{others}", next=next_step)
    return add_given_tools(team, given)


def list_team_problems(name_or_path: str | Path, settings: Settings | None = None) -> list[str]:
    """Return the problems in a team's files; an empty list means that it loads.

    Raises:
        TeamInvalid: there is no such team.
    """
    register_extensions()
    _, problems = read_team(open_team(name_or_path, settings), _build_finder(settings))
    return [str(problem) for problem in problems]


def list_teams(settings: Settings | None = None) -> list[Path]:
    """List the folders of all teams that have a name: the user's, the shipped, the installed."""
    found: dict[str, Path] = {}
    for path in _walk_teams(settings):
        found.setdefault(path.name, path)
    return list(found.values())


def _walk_teams(settings: Settings | None) -> Iterator[Path]:
    """Yield the teams' folders; of two with one name, the first counts."""
    for folder in _list_parent_folders(settings):
        yield from sorted(path.parent for path in folder.glob(f"*/{TEAM_FILE}"))
    yield from _list_installed_teams()


def list_replaced_teams(settings: Settings) -> list[Path]:
    """List the folders of `SUPERVISE_TEAMS` that take the name of a shipped team."""
    shipped = {path.name for path in list_shipped_teams()} if settings.team_folders else ()
    return [
        path
        for path in list_teams(settings)
        if path.name in shipped and path.parent != SHIPPED_TEAMS_FOLDER
    ]


def list_shipped_teams() -> list[Path]:
    """List the folders of the teams that come with the package."""
    return sorted(path.parent for path in SHIPPED_TEAMS_FOLDER.glob(f"*/{TEAM_FILE}"))


def find_team(name_or_path: str | Path, settings: Settings | None = None) -> Path:
    """Find a team's folder.

    Raises:
        TeamInvalid: no team has the name.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or "\\" in text or text.startswith("."):
        return Path(name_or_path).expanduser()
    # Those of installed packages come last: to look for them reads the metadata of all packages.
    if found := next((path for path in _walk_teams(settings) if path.name == text), None):
        return found
    if Path(text).exists():
        return Path(text)
    if folder := _find_in_subfolder(text):
        raise TeamInvalid(f"unknown team {text!r}", next=f"name its folder: {folder}")
    teams = [path.name for path in list_teams(settings)]
    hint = suggest_name(text, teams)
    raise TeamInvalid(
        f"unknown team {text!r}{hint}",
        next=f"choose one of {', '.join(teams)}, or use the path of a team's folder",
    )


def open_team(name_or_path: str | Path, settings: Settings | None = None) -> Path:
    """Find a team's folder whose files may be read and run.

    Raises:
        TeamInvalid: no team has the name, or an extension refuses its folder.
    """
    folder = find_team(name_or_path, settings)
    for extension in find_extensions():
        extension.require_consent(folder)
    return folder


def _find_in_subfolder(name: str) -> Path | None:
    """Return the folder of this name with a team, one level below a folder of this one."""
    try:
        found = (each / name for each in sorted(Path().iterdir()) if not each.name.startswith("."))
        return next((folder for folder in found if (folder / TEAM_FILE).is_file()), None)
    except (OSError, ValueError):  # not readable, or no name of a folder
        return None


def _build_finder(settings: Settings | None) -> FindTeam:
    """Return a function that finds a nested team, first inside the folder that nests it."""

    def find(name: str, folder: Path) -> Path:
        inside = folder / name
        return inside if inside.is_dir() else open_team(name, settings)

    return find


def _list_installed_teams() -> Iterator[Path]:
    """Yield the folders of teams in installed packages: each entry point names such a package."""
    for entry in entry_points(group=ENTRY_POINT_GROUP):
        try:
            found = list_package_folders(entry.value)
        except (ImportError, ValueError):
            continue  # one broken package does not hide the other teams
        yield from (folder for folder in found if (folder / TEAM_FILE).exists())


def list_package_folders(package: str) -> list[Path]:
    """Return where a package of packages is, without importing any of them.

    Raises:
        ImportError, ValueError: it cannot be found.
    """
    first, *inner = package.split(".")
    spec = find_spec(first)
    return [Path(each, *inner) for each in (spec and spec.submodule_search_locations) or ()]


def _list_parent_folders(settings: Settings | None) -> Iterator[Path]:
    yield from read_settings(settings).team_folders
    yield SHIPPED_TEAMS_FOLDER
    yield from collect(lambda each: each.list_team_folders())


def check_team(name_or_path: str | Path, settings: Settings | None = None) -> list[str]:
    """Return the problems in a team's files; empty if there are none.

    Raises:
        TeamInvalid: there is no such team.
    """
    folder = open_team(name_or_path, settings)
    problems = list_team_problems(folder, settings)
    return problems + collect(lambda each: each.list_team_problems(folder, settings))


def check_tools(name_or_path: str | Path, settings: Settings | None = None) -> list[str]:
    """Return the problems in the tools of a team, and of the teams inside its folder.

    Raises:
        TeamInvalid: there is no such team.
    """
    folder = open_team(name_or_path, settings)
    if not (folder / TEAM_FILE).is_file():
        return []  # whatever is somewhere below it is not asked for
    teams = sorted(folder.rglob(TEAM_FILE))
    folders = [path.parent / TOOLS_FOLDER for path in teams]
    problems = [
        problem
        for folder in folders
        if any(folder.glob("*.py"))
        for problem in check_own_tools(folder)
    ]
    return [str(FileProblem(Path(file), text, line)) for file, line, text in problems]
