"""Options and arguments of commands, and their checks. Light: help needs them, too.

An option that sets a field of `Context` has that field's name. The classes are created from a
command line alone: only then do their fields have values, and defaults.
"""

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar, get_type_hints

import typer

from graph.commands.process import configure_logging
from graph.teams.default_team import DEFAULT_TEAM
from nodes.errors import FileUnreadable, OutputFailed, UsageError

if TYPE_CHECKING:
    from state import Context

Given = TypeVar("Given")
PAGE_SUFFIXES: Final = ("", ".html", ".htm")


def option(flags: str, metavar: str, text: str, *, default: Any = None, **more: Any) -> Any:
    """Return an option with a value, as the default of a parameter or a field.

    Args:
        flags: its names, such as `--team -t`.
        more: as `typer.Option` takes it, such as `min` and `callback`.
    """
    return typer.Option(default, *flags.split(), metavar=metavar, help=text, **more)


def switch(flag: str, text: str, **more: Any) -> Any:
    """Return an option without a value, which is off where it is not given; else as `option`."""
    return typer.Option(False, flag, help=text, **more)


def argument(metavar: str, text: str, *, default: Any = ...) -> Any:
    """Return an argument, as the default of a parameter or a field; without one it is required."""
    return typer.Argument(default, metavar=metavar, help=text)


def require_output(path: Path | None) -> Path | None:
    """Return the path of a file to write.

    Raises:
        OutputFailed: it is a folder, or in none that can be written to.
    """
    if path is None:
        return None
    if path.is_dir():
        cause = "it is a folder"
    elif not path.parent.is_dir():
        cause = f"there is no folder {path.parent}"
    elif not os.access(path if path.exists() else path.parent, os.W_OK):
        cause = "it may not be written"
    else:
        return path
    raise OutputFailed(f"cannot write {path}", cause=cause, next="name another file")


def require_page(path: Path | None) -> Path | None:
    """Return the path of a page to write.

    Raises:
        UsageError: its suffix is that of another format.
        OutputFailed: as `require_output`.
    """
    if path is not None and path.suffix.lower() not in PAGE_SUFFIXES:
        raise UsageError(f"--report writes HTML, and {path.name} ends with {path.suffix}")
    return require_output(path)


_NOT_COMPARED: Final = {
    "thread": "--thread",
    "sequential": "--sequential",
    "approve_plan": "--approve",
    "approve_above": "--approve-above",
    "certificate": "--within",
    "certificate_file": "--certificate",
    "plan": "--plan",
    "plan_only": "--plan-only",
}
"""Options that do not go with --compare-sequential."""


def _require_finite(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is not a cap; leave the option out for no cap")
    return value


def _require_local_files(files: list[Path] | None) -> list[Path] | None:
    """Return the files.

    Raises:
        FileUnreadable: one of them is the address of a web page.
    """
    for file in files or ():
        if file.parts[:1] in (("http:",), ("https:",)) and not file.exists():
            raise FileUnreadable(
                f"cannot read {str(file).replace(':/', '://', 1)}",
                cause="it is a web page, not a file",
                next="write its address into the request; workers with the tool fetch_page read it",
            )
    return files


def _split_names(text: str | None) -> Any:  # a tuple, where typer knows a text
    """Return the names of a list with commas."""
    if text is None:
        return None
    if names := tuple(name for each in text.split(",") if (name := each.strip())):
        return names
    raise typer.BadParameter("name one or more, with commas between them")


def _show_warnings(is_asked: bool) -> bool:
    if is_asked:
        configure_logging(is_verbose=True)
    return is_asked


def _read_certificate(path: Path | None) -> Any:  # JSON, where typer knows a path
    if path is None:
        return None
    from graph.commands.output import read_json_file

    return read_json_file(path, "certificate")


TeamArgument = Annotated[str, typer.Argument(metavar="TEAM", help="A team's name, or its folder.")]
TeamsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEAM...", help="Teams' names, or their folders [default: all]."),
]
ThreadArgument = Annotated[
    str,
    typer.Argument(
        metavar="THREAD",
        help="The thread's id, as `supervise runs` lists it, or its first 6 characters or more;"
        " last: the newest run.",
    ),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="Of a server, such as http://127.0.0.1:2024, that has the runs.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no figures.")]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose",
        "-v",
        callback=_show_warnings,
        help="Show warnings on stderr, such as retries of model calls.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class _Asked:
    """What a run is of, and how it is planned."""

    request: str = argument("REQUEST", "What to do, in your own words; - reads it from stdin.")
    team: str = option("--team -t", "TEAM", "A team's name, or its folder.", default=DEFAULT_TEAM)
    file: list[Path] | None = option(
        "--file -f",
        "PATH",
        "A document, or a folder; - reads stdin. May be repeated, or name several (*.md).",
        callback=_require_local_files,
    )
    more_files: list[Path] | None = typer.Argument(None, metavar="PATH", hidden=True)
    thread: str | None = option(
        "--thread",
        "THREAD",
        "Keep the run under this id, or follow up on it; last: the newest run.",
    )
    strategy: Literal["plan", "route", "step", "recursive", "single"] | None = typer.Option(
        None,
        "--strategy",
        help="A plan, one worker or two, one step after another, a plan whose larger tasks are"
        " planned again, or no plan but one agent with all tools.",
    )
    recruit: str | None = option(
        "--recruit",
        "TOOL,…",
        "Make specialists for tasks that fit no worker; the tools that they may be given.",
        callback=_split_names,
    )
    critic: Literal["off", "on", "below"] | None = typer.Option(
        None, "--critic", help="When a critic reviews the answer; below: if it is unsure."
    )


@dataclass(frozen=True, kw_only=True)
class Budgets:
    """What a run may take; after it, the answer is made of the results so far."""

    deadline_s: float | None = option(
        "--deadline",
        "SECONDS",
        "After it, answer with the results so far.",
        min=0.0,
        callback=_require_finite,
    )
    max_cost_usd: float | None = option(
        "--max-cost",
        "USD",
        "In US dollars, by list prices; after it, answer with the results so far.",
        min=0.0,
        callback=_require_finite,
    )
    max_tokens: int | None = option(
        "--max-tokens",
        "N",
        "Input and output together; after it, answer with the results so far.",
        min=0,
    )


APPROVE: Final = switch("--approve", "Ask for approval before the plan is run.")
ASK: Final = switch(
    "--ask", "Ask you about a task that failed or is unclear, when nothing else is left."
)


@dataclass(frozen=True, kw_only=True)
class Caps(Budgets):
    """The caps of a run."""

    max_steps: int | None = option(
        "--max-steps", "N", "Attempts at tasks, over the whole run.", min=0
    )
    max_tasks: int | None = option("--max-tasks", "N", "Tasks of a plan.", min=1, max=1000)
    max_attempts: int | None = option("--max-attempts", "N", "Attempts at one task.", min=1, max=10)
    max_concurrency: int | None = option(
        "--max-concurrency", "N", "Model calls at the same time.", min=1, max=1000
    )
    sequential: bool = switch("--sequential", "Run one task at a time, to compare or to debug.")


@dataclass(frozen=True, kw_only=True)
class _Modes:
    """What else is done than a plain run."""

    speculate: bool | None = typer.Option(
        None,
        "--speculation/--no-speculation",
        help="Begin model calls of tasks while the plan is still being written.",
    )
    compare_sequential: bool = switch(
        "--compare-sequential",
        "Run the plan twice, in parallel and one task at a time; print both times.",
    )
    compare: str | None = option(
        "--compare",
        "STRATEGY,…",
        "Run the request with each strategy, such as single,plan; print them side by side.",
        callback=_split_names,
    )
    approve_plan: bool = APPROVE
    approve_above: float | None = option(
        "--approve-above",
        "USD",
        "Ask only where the plan may cost more, its cost is unknown, or a task has an effect.",
        min=0.0,
        callback=_require_finite,
    )
    ask_human: bool = ASK
    plan: Path | None = option("--plan", "FILE", "Run this plan, as --plan-only prints it.")
    certificate: Path | None = option(
        "--within",
        "FILE",
        "Hold the run to this certificate: no other plan, no further task, no higher cap.",
        callback=_read_certificate,
    )
    certificate_file: Path | None = option(
        "--certificate",
        "FILE",
        "Write what the plan can at most cost and reach to this file, before it is run.",
        callback=require_output,
    )
    plan_only: bool = switch("--plan-only", "Print the plan (piped: as JSON); run nothing.")
    trace: Path | None = option(
        "--trace", "FILE", "Write the run's trace to this file.", callback=require_output
    )


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How a run ends and what of it is shown."""

    require: Literal["done"] | None = typer.Option(
        None, "--require", help="Exit with 3 also where documents are only quoted, unread."
    )
    as_json: JsonOption = False
    quiet: QuietOption = False
    verbose: VerboseOption = False
    report: Path | None = option(
        "--report", "FILE", "Write a page that shows the run to this file.", callback=require_page
    )
    trace_content: bool = switch(
        "--trace-content", "Add each model call's prompt and reply to the trace."
    )

    @property
    def how(self) -> dict[str, Any]:
        """What printing an outcome depends on."""
        return {name: getattr(self, name) for name in ("as_json", "quiet", "verbose", "require")}


@dataclass(frozen=True, kw_only=True)
class RunOptions(Shown, _Modes, Caps, _Asked):
    """The options of `supervise run`, in the order in which help lists them: that of the bases."""

    def require_plain_comparison(self) -> None:
        """Refuse options that leave a comparison nothing to compare.

        Raises:
            UsageError: one of them is given with --compare-sequential.
        """
        refused = [option for name, option in _NOT_COMPARED.items() if getattr(self, name)]
        if self.compare_sequential and refused:
            raise UsageError(
                f"--compare-sequential runs a new request twice, without {refused[0]}",
                next="leave one of the two options out",
            )


@dataclass(frozen=True, kw_only=True)
class _Resumed:
    """Which run is resumed."""

    thread: ThreadArgument
    answer: str | None = option("--answer", "TEXT", "The answer to the run's open question.")
    team: str | None = option(
        "--team -t", "TEAM", "Needed where the run was not begun by you here."
    )
    url: UrlOption = None


@dataclass(frozen=True, kw_only=True)
class ResumeOptions(Shown, Caps, _Resumed):
    """The options of `supervise resume`."""


def take_options(
    options: Callable[..., Given],
) -> Callable[[Callable[[Given], int]], Callable[..., int]]:
    """Return what makes a command of a function of options: each field is an option of it."""

    def build_command(work: Callable[[Given], int]) -> Callable[..., int]:
        @wraps(work)
        def command(**given: Any) -> int:
            return work(options(**given))

        vars(command)["__signature__"] = signature(options, eval_str=True)
        command.__annotations__ = get_type_hints(options, include_extras=True)
        return command

    return build_command


def build_context(given: Mapping[str, Any]) -> "Context":
    """Return the context that a command's parameters set; other parameters are ignored."""
    from state import Context

    return Context(**{name: given[name] for name in Context.__dataclass_fields__ if name in given})
