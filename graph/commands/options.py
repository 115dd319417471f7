"""Options and arguments of commands, and their checks. Light: help needs them, too.

A parameter that sets a field of `Context` has that field's name.
"""

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from graph.commands.process import configure_logging
from nodes.errors import FileUnreadable, OutputFailed, UsageError

if TYPE_CHECKING:
    from state import Context

PAGE_SUFFIXES: Final = ("", ".html", ".htm")


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
    raise typer.BadParameter("name one tool or more, with commas between them")


def _show_warnings(is_asked: bool) -> bool:
    if is_asked:
        configure_logging(is_verbose=True)
    return is_asked


TeamOption = Annotated[
    str, typer.Option("--team", "-t", metavar="TEAM", help="A team's name, or its folder.")
]
ResumedTeamOption = Annotated[
    str | None,
    typer.Option(
        "--team", "-t", metavar="TEAM", help="Needed where the run was not begun by you here."
    ),
]
TeamArgument = Annotated[str, typer.Argument(metavar="TEAM", help="A team's name, or its folder.")]
ThreadArgument = Annotated[
    str,
    typer.Argument(
        metavar="THREAD",
        help="The thread's id, as `supervise runs` lists it, or its first 6 characters or more;"
        " last: the newest run.",
    ),
]
DeadlineOption = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        min=0.0,
        callback=_require_finite,
        help="After it, answer with the results so far.",
    ),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="USD",
        min=0.0,
        callback=_require_finite,
        help="In US dollars, by list prices; after it, answer with the results so far.",
    ),
]
AskOption = Annotated[
    bool,
    typer.Option(
        "--ask",
        help="Ask you about a task that failed or is unclear, when nothing else is left.",
    ),
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="N",
        min=0,
        help="Input and output together; after it, answer with the results so far.",
    ),
]
MaxStepsOption = Annotated[
    int | None,
    typer.Option("--max-steps", metavar="N", min=0, help="Attempts at tasks, over the whole run."),
]
MaxTasksOption = Annotated[
    int | None, typer.Option("--max-tasks", metavar="N", min=1, max=1000, help="Tasks of a plan.")
]
MaxAttemptsOption = Annotated[
    int | None,
    typer.Option("--max-attempts", metavar="N", min=1, max=10, help="Attempts at one task."),
]
MaxConcurrencyOption = Annotated[
    int | None,
    typer.Option(
        "--max-concurrency", metavar="N", min=1, max=1000, help="Model calls at the same time."
    ),
]
CriticOption = Annotated[
    Literal["off", "on", "below"] | None,
    typer.Option("--critic", help="When a critic reviews the answer; below: if it is unsure."),
]
StrategyOption = Annotated[
    Literal["plan", "route", "step", "recursive"] | None,
    typer.Option(
        "--strategy",
        help="A plan, one worker or two, one step after another, or a plan whose larger tasks are"
        " planned again.",
    ),
]
RecruitOption = Annotated[
    str | None,
    typer.Option(
        "--recruit",
        metavar="TOOL,…",
        callback=_split_names,
        help="Make specialists for tasks that fit no worker; the tools that they may be given.",
    ),
]
SequentialOption = Annotated[
    bool, typer.Option("--sequential", help="Run one task at a time, to compare or to debug.")
]
SpeculateOption = Annotated[
    bool | None,
    typer.Option(
        "--speculation/--no-speculation",
        help="Begin model calls of tasks while the plan is still being written.",
    ),
]
RequestArgument = Annotated[
    str,
    typer.Argument(metavar="REQUEST", help="What to do, in your own words; - reads it from stdin."),
]
FileOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--file",
        "-f",
        metavar="PATH",
        callback=_require_local_files,
        help="A document, or a folder of them; - reads text from stdin. May be repeated.",
    ),
]
ThreadOption = Annotated[
    str | None,
    typer.Option(
        "--thread", metavar="THREAD", help="Keep the run under this id, or follow up on it."
    ),
]
ApproveOption = Annotated[
    bool, typer.Option("--approve", help="Ask for approval before the plan is run.")
]
PlanOnlyOption = Annotated[
    bool, typer.Option("--plan-only", help="Print the plan as JSON; run nothing.")
]
CompareOption = Annotated[
    bool,
    typer.Option(
        "--compare-sequential",
        help="Run the plan twice, in parallel and one task at a time; print both times.",
    ),
]
TraceOption = Annotated[
    Path | None,
    typer.Option(
        "--trace",
        metavar="FILE",
        callback=require_output,
        help="Write the run's trace to this file.",
    ),
]
ReportOption = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        callback=require_page,
        help="Write a page that shows the run to this file.",
    ),
]
TraceContentOption = Annotated[
    bool,
    typer.Option("--trace-content", help="Add each model call's prompt and reply to the trace."),
]
UrlOption = Annotated[
    str | None,
    typer.Option(
        "--url",
        metavar="URL",
        help="Of a server, such as http://127.0.0.1:2024, that has the runs.",
    ),
]
AnswerOption = Annotated[
    str | None,
    typer.Option("--answer", metavar="TEXT", help="The answer to the run's open question."),
]
OlderThanOption = Annotated[
    str | None,
    typer.Option(
        "--older-than", metavar="AGE", help="Only runs whose last event is older: 12h, 30d, 8w."
    ),
]
OnlineOption = Annotated[
    bool,
    typer.Option(
        "--online", help="Connect the team's MCP servers, list their tools, write mcp.lock.json."
    ),
]
KeepOption = Annotated[
    int | None, typer.Option("--keep", metavar="N", min=0, help="Keep the N newest runs.")
]
StatusOption = Annotated[
    str | None,
    typer.Option(
        "--status",
        metavar="STATUS",
        help="Only with this status; several with commas [default: done,passages,partial,failed].",
    ),
]
ProbeOption = Annotated[
    bool,
    typer.Option("--probe", help="Make small real calls: how each model answers, and how fast."),
]
RequireOption = Annotated[
    Literal["done"] | None,
    typer.Option("--require", help="Exit with 3 also where documents are only quoted, unread."),
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


def require_plain_comparison(given: Mapping[str, Any]) -> None:
    """Refuse options that leave a comparison nothing to compare.

    Raises:
        UsageError: one of them is given with --compare-sequential.
    """
    refused = [name for name in _NOT_COMPARED if given[name]]
    if given["compare_sequential"] and refused:
        raise UsageError(
            f"--compare-sequential runs a new request twice, without {_NOT_COMPARED[refused[0]]}",
            next="leave one of the two options out",
        )


def build_context(given: Mapping[str, Any]) -> "Context":
    """Return the context that a command's parameters set; other parameters are ignored."""
    from state import Context

    return Context(**{name: given[name] for name in Context.__dataclass_fields__ if name in given})
