"""What an extension may add, and where extensions are found.

A shipped one is a folder in `extensions/`; one of another distribution is an entry point of the
group `supervisor_worker`. Both name a module with an object `EXTENSION`.
"""

import logging
import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata
from operator import attrgetter
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from nodes.errors import SupervisorError, TeamInvalid, UsageError

if TYPE_CHECKING:
    import typer
    from langgraph.store.base import BaseStore

    from graph.around_run import AroundRun, RunRecord
    from graph.settings import Settings
    from graph.stores.run_database import RunDatabase
    from nodes.execution.outside_worker import OutsideWorker
    from nodes.schemas.team import Team, Worker
    from nodes.tools.framework.catalog import ConfirmedTool
    from nodes.tools.framework.settings import ToolSettings
    from state import Plan, Strategy

INTERFACE: Final = 1
"""The version of the interface below; a change that breaks an extension raises it."""
GROUP: Final = "supervisor_worker"
SHIPPED: Final = f"{__name__.rpartition('graph.')[0]}extensions"

_logger = logging.getLogger(__name__)
_failures: Final = list[str]()
Found = TypeVar("Found")


@dataclass(frozen=True)
class DoctorCheck:
    """The result of one check of `supervise doctor`; a broken one makes the command fail."""

    level: Literal["ok", "note", "broken"]
    name: str
    text: str
    fix: str = ""


@dataclass(frozen=True)
class RunSource(ABC):
    """The runs of this machine, or of a server."""

    settings: "Settings"
    url: str = ""
    """Of the server; empty here."""

    @property
    def place(self) -> str:
        """What follows in a message: ` on HOST`, or nothing."""
        return f" on {urlsplit(self.url).netloc}" if self.url else ""

    def name_thread(self, thread: str) -> str:
        """Return a thread as commands name it."""
        return f"{thread} --url {quote(self.url)}" if self.url else thread

    def list_threads(self) -> list[str]:
        """Return the threads, the newest first."""
        return [str(run["thread"]) for run in self.list_runs()[0]]

    @abstractmethod
    def list_runs(self) -> tuple[Sequence[Mapping[str, Any]], list[str]]:
        """Return the runs, the newest first, and what else is said of them, a line each."""

    @abstractmethod
    def load_trace(self, thread: str) -> dict[str, Any]:
        """Return the trace of a run."""

    @abstractmethod
    def refuse_other_forms(self, thread: str) -> AbstractContextManager[None]:
        """Return what turns errors about values of another form into one line."""

    @abstractmethod
    async def resume(self, thread: str, **given: Any) -> Any:  # an Outcome, which is above
        """Resume a run to its outcome; what is given is that of `aresume`."""

    @abstractmethod
    async def stop(self, thread: str, task: str) -> dict[str, str]:
        """Stop a task, or all; return how each ended, by its path."""


class RunStores(Protocol):
    """Databases of runs on a server, by address."""

    def open(self, url: str, thread: str) -> AbstractAsyncContextManager["RunDatabase"]:
        """Open a database for one thread, and lock the thread in it."""

    def open_store(self, url: str) -> AbstractAsyncContextManager["BaseStore"]:
        """Open the store for all threads; no thread is locked."""

    async def read_value(self, url: str, namespace: tuple[str, ...], key: str) -> dict[str, Any]:
        """Return one value of the store; empty if there is none."""

    def open_for_deletion(self, url: str) -> AbstractContextManager[Callable[[str], int]]:
        """Open a database for removing threads; yield what removes one and returns its bytes."""

    def describe(self, url: str) -> str:
        """Return the server's version and the size of the database."""


class Exams(Protocol):
    """The exams of teams, as a page shows them; as JSON."""

    def list_kept(self, home: Path, team: str) -> list[dict[str, Any]]:
        """Return the results of a team's exams that were kept, the newest first."""

    def load_kept(self, home: Path, team: str, exam: str) -> dict[str, Any]:
        """Return one of them."""

    def describe(self, folder: Path, workers: Collection[str]) -> dict[str, Any] | None:
        """Return `count`, `rows` and `problems` of a team's exam; None without an exam."""

    def find_row(self, folder: Path, name: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the request and the files of a row; None without such a row."""


class Replays(Protocol):
    """Kept runs, from the files of their records; of what cannot be used a SupervisorError."""

    def load_materials(self, path: Path) -> Mapping[str, str]:
        """Return the materials of a run."""

    async def replay(
        self, path: Path, team: "Team", on_event: Callable[[Mapping[str, Any]], None]
    ) -> Any:
        """Return the `Outcome` of a run with a team as it is now: no model, tool or network.

        Raises:
            SupervisorError: the run asks for something that the record does not have.
        """


class Extension:
    """What an extension may add; every method may be left as it is.

    Its module is imported at each start: what is heavy is imported in the methods.
    """

    interface: int = INTERFACE
    """For which version of this class it is made."""

    def register(self) -> None:
        """Register what it adds to runs in `nodes`: tools, models, shared state."""

    def add_commands(self, app: "typer.Typer") -> None:
        """Add commands to `supervise`."""

    def build_worker(
        self, worker: "Worker", variables: Mapping[str, str]
    ) -> "OutsideWorker | None":
        """Return a worker that is elsewhere; None for one that is not this extension's.

        Args:
            variables: of the environment and the trusted files, which the worker's file may name.

        Raises:
            SettingsInvalid: a variable that it names is not set.
            ImportError: a package that it needs is not installed.
        """
        return None

    async def load_tools(
        self, team: "Team", worker: "Worker", settings: "ToolSettings"
    ) -> Sequence["ConfirmedTool"]:
        """Return the tools of a worker that only this extension can load, such as of servers."""
        return ()

    def describe_tables(self, team: "Team", settings: "ToolSettings") -> str:
        """Return the tables of the user's database that the team's tools read, a line each."""
        return ""

    def list_around_runs(self, settings: "Settings") -> Iterable["AroundRun"]:
        """Return what wraps each run of a graph, such as a server's record of it."""
        return ()

    def open_runs(self, url: str, settings: "Settings") -> RunSource | None:
        """Return the runs of the server at an address; nothing is connected yet."""
        return None

    def get_run_stores(self) -> RunStores | None:
        """Return what opens databases of runs on a server."""
        return None

    def compare_strategies(self, job: Any, names: Sequence["Strategy"]) -> int | None:
        """Run a job of `graph.commands` with each strategy, print them, return the exit code."""
        return None

    def review_plans(self, team: "Team", plans: Sequence[tuple[str, "Plan"]]) -> Iterable[str]:
        """Return what is doubtful in the plans of a team's exam, each with its request."""
        return ()

    def open_exams(self) -> Exams | None:
        """Return the exams of teams, for the page of a team."""
        return None

    def open_record(self, thread: str, settings: "Settings") -> "RunRecord | None":
        """Return what keeps the record of a run, for a replay; None where none is to be kept."""
        return None

    def open_replays(self) -> Replays | None:
        """Return what replays kept runs, for exams."""
        return None

    def explain_run(self, trace: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
        """Return why a run is not whole: each cause with `sentence`, `tasks` and `remedies`."""
        return ()

    def write_word(self, markdown: str, title: str) -> bytes | None:
        """Return Markdown as a Word document; None where a package for it is missing."""
        return None

    def list_checks(self, settings: "Settings") -> Iterable[DoctorCheck]:
        """Return what `supervise doctor` says of it."""
        return ()

    def list_team_folders(self) -> Iterable[Path]:
        """Return folders of teams that have a name, beside those of the settings."""
        return ()

    def require_consent(self, folder: Path) -> None:
        """Raise TeamInvalid if the user has not agreed to what is in a team's folder."""

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


def find_first(ask: Callable[[Extension], Found | None]) -> Found | None:
    """Return the first answer of an extension; those of other distributions are asked first."""
    answers = map(ask, reversed(find_extensions()))
    return next((each for each in answers if each is not None), None)


def get_run_stores() -> RunStores:
    """Return what opens databases of runs on a server, or raise UsageError."""
    if stores := find_first(lambda each: each.get_run_stores()):
        return stores
    raise UsageError("no extension opens this database", next="unset SUPERVISE_DATABASE_URL")


def collect(ask: Callable[[Extension], Iterable[Found]]) -> list[Found]:
    """Return what all extensions answer; one whose answer fails is named in a line and left out.

    Raises:
        SupervisorError: an extension refuses what it is asked for.
    """
    found = list[Found]()
    for name, extension in _load()[0].items():
        try:
            found += ask(extension)
        except SupervisorError:
            raise
        except Exception as error:  # other people's code: without it the rest works
            note_failure(name, error)
    return found


def check_parts(team: "Team", settings: "Settings", *, is_online: bool) -> Iterator[str]:
    """Yield what each extension says of its part of a valid team, as it is found out.

    Raises:
        SupervisorError: the team cannot be used with one, or one could not check it.
    """
    for name, extension in _load()[0].items():
        try:
            yield from extension.check_team(team, settings, is_online=is_online)
        except SupervisorError:
            raise
        except Exception as error:  # what was not checked is not valid
            said = f"{type(error).__name__}: {error}"
            raise TeamInvalid(f"extension {name} could not check the team", cause=said) from error


def add_extension_commands(app: "typer.Typer") -> None:
    """Add the commands of extensions; one of a name that is taken is left out."""
    import typer

    taken = set(map(name_command, app.registered_commands))
    for name, extension in _load()[0].items():
        own = typer.Typer()
        try:
            extension.add_commands(own)
        except (Exception, SystemExit) as error:
            note_failure(name, error, is_said=False)
            continue
        for command in own.registered_commands:
            word = name_command(command)
            if word in taken:
                clash = ValueError(f"there is a command {word} already")
                note_failure(name, clash, is_said=False)
            else:
                taken.add(word)
                app.registered_commands.append(command)


def name_command(command: Any) -> str:  # types of typer's own click
    """Return the name by which a command is called."""
    return str(command.name or getattr(command.callback, "__name__", ""))


@cache
def register_extensions() -> None:
    """Let each extension register what it adds to runs, once; one that cannot is left out."""
    for name, extension in _load()[0].items():
        try:
            extension.register()
        except Exception as error:
            note_failure(name, error)


def note_failure(name: str, error: BaseException, *, is_said: bool = True) -> None:
    """Keep why an extension, or a part of it, is left out.

    Args:
        is_said: warn of it now.
    """
    line = f"extension {name} is left out: {type(error).__name__}: {error}"
    if line not in _failures:
        _failures.append(line)
        if is_said:
            _logger.error("%s", line)


def list_extension_problems() -> tuple[str, ...]:
    """Return a line for each extension that cannot be used, or a part of which cannot."""
    return (*_load()[1], *_failures)


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
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}"
            problems.append(f"extension {name} of {module} is left out: {reason}")
            continue
        found[name] = extension
    return found, tuple(problems)


def _list_modules() -> Iterator[tuple[str, str]]:
    """Yield the name and the module of each extension."""
    folders: Iterable[str] = ()
    with suppress(ImportError):
        folders = import_module(SHIPPED).__path__
    for each in sorted(pkgutil.iter_modules(folders), key=attrgetter("name")):
        yield each.name, f"{SHIPPED}.{each.name}"
    for point in sorted(metadata.entry_points(group=GROUP), key=attrgetter("name")):
        yield point.name, point.value
