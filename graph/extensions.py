"""What an extension may add, and where extensions are found.

A shipped one is a folder in `extensions/`; one of another distribution is an entry point of the
group `supervisor_worker`. Both name a module with an object `EXTENSION`.
"""

import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    import typer

    from graph.settings import Settings
    from nodes.schemas.team import Team

INTERFACE: Final = 1
"""The version of the interface below; a change that breaks an extension raises it."""
GROUP: Final = "supervisor_worker"
SHIPPED: Final = "extensions"


@dataclass(frozen=True)
class DoctorCheck:
    """The result of one check of `supervise doctor`; a broken one makes the command fail."""

    level: Literal["ok", "note", "broken"]
    name: str
    text: str
    fix: str = ""


class Extension:
    """What an extension may add; every method may be left as it is.

    Its module is imported at each start: what is heavy is imported in the methods.
    """

    interface: int = INTERFACE
    """For which version of this class it is made."""

    def register(self) -> None:
        """Tell the registers of `nodes` what it adds to runs: tools, models, kinds of workers."""

    def add_commands(self, app: "typer.Typer") -> None:
        """Add commands to `supervise`."""

    def list_checks(self, settings: "Settings") -> Iterable[DoctorCheck]:
        """Return what `supervise doctor` says of it."""
        return ()

    def list_team_problems(self, folder: Path, settings: "Settings | None") -> Iterable[str]:
        """Return the problems in its part of a team's folder, whose team may be invalid."""
        return ()

    def check_team(self, team: "Team", settings: "Settings", *, is_online: bool) -> Iterable[str]:
        """Return what `supervise check` says of its part of a valid team, a line each.

        Args:
            is_online: connect what the team names.

        Raises:
            SupervisorError: the team cannot be used with it.
        """
        return ()

    def list_team_warnings(self, team: "Team") -> Iterable[str]:
        """Return what is doubtful in its part of a valid team."""
        return ()

    def describe_team(self, team: "Team") -> Iterable[str]:
        """Return what `supervise teams NAME` says of its part, a line each."""
        return ()

    def count_parts(self, folder: Path) -> Iterable[str]:
        """Return what of a valid team's folder is its part, such as `12 rows in its exam`."""
        return ()


def find_extensions() -> tuple[Extension, ...]:
    """Return the extensions that can be used: the shipped ones by name, then the others."""
    return tuple(_load()[0].values())


def list_extension_problems() -> tuple[str, ...]:
    """Return a line for each extension that cannot be used."""
    return _load()[1]


@cache
def _load() -> tuple[Mapping[str, Extension], tuple[str, ...]]:
    found, problems = dict[str, Extension](), list[str]()
    for name, module in _list_modules():
        if name in found:
            problems.append(f"extension {name} of {module} is left out: there is one of this name")
            continue
        try:
            extension: Any = import_module(module).EXTENSION
            if (made_for := getattr(extension, "interface", None)) != INTERFACE:
                raise ValueError(f"it is made for interface {made_for}, this is {INTERFACE}")
            extension.register()
        except Exception as error:  # other people's code: without it the rest works
            reason = f"{type(error).__name__}: {error}"
            problems.append(f"extension {name} of {module} is left out: {reason}")
            continue
        found[name] = extension
    return found, tuple(problems)


def _list_modules() -> Iterator[tuple[str, str]]:
    """Yield the name and the module of each extension."""
    try:
        shipped = import_module(SHIPPED)
    except ImportError:
        shipped = None
    for each in sorted(pkgutil.iter_modules(getattr(shipped, "__path__", ())), key=_get_name):
        yield each.name, f"{SHIPPED}.{each.name}"
    for point in sorted(entry_points(group=GROUP), key=_get_name):
        yield point.name, point.value


def _get_name(each: Any) -> str:
    return str(each.name)
