"""The options of the commands on records. Light: help needs them, too."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from graph.commands.options import JsonOption, QuietOption, option, require_output, switch

Texts = list[str] | None
Files = list[Path] | None
ThreadArgument = Annotated[
    str, typer.Argument(metavar="[THREAD]", help="The run's id, its first 6 characters, or `last`.")
]
RecordOption = Annotated[
    Path | None,
    typer.Option("--record", metavar="FILE", help="This record in place of the thread's."),
]


def _many(name: str, metavar: str, text: str) -> Any:  # typer does not export the type
    return typer.Option(name, metavar=metavar, help=f"{text} May be repeated.")


@dataclass(frozen=True, kw_only=True)
class ChangeOptions:
    """What is changed of a kept run."""

    task: Annotated[
        Texts,
        _many("--task", "NAME.FIELD=VALUE", "Change a field of a task, such as t1.description."),
    ] = None
    result: Annotated[Texts, _many("--result", "NAME=FILE", "Take this report as a task's.")] = None
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="Run this plan, as JSON.")
    ] = None
    worker: Annotated[Files, _many("--worker", "FILE", "In place of the worker of its name.")] = (
        None
    )
    model: Annotated[Texts, _many("--model", "TIER=MODEL", "Another model.")] = None
    material: Annotated[Files, _many("--material", "FILE", "In place of the file of its name.")] = (
        None
    )
    at: Annotated[Texts, _many("--at", "TASK", "Do this task again as it is.")] = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is changed."""
        return not any(getattr(self, name) for name in ChangeOptions.__dataclass_fields__)


@dataclass(frozen=True, kw_only=True)
class Source:
    """Which record is read, and what is shown."""

    thread: ThreadArgument = "last"
    record: RecordOption = None
    team: str | None = option("--team", "TEAM", "The team of a record of another user's.")
    as_json: JsonOption = False
    quiet: QuietOption = False


@dataclass(frozen=True, kw_only=True)
class ReplayOptions(ChangeOptions, Source):
    """The options of `supervise replay`."""

    trace: Path | None = option(
        "--trace", "FILE", "Write the trace to this file.", callback=require_output
    )
    paced: bool = switch("--paced", "As fast as the run was, not as fast as possible.")


@dataclass(frozen=True, kw_only=True)
class ForkOptions(ChangeOptions, Source):
    """The options of `supervise fork`."""

    new: str | None = option("--thread", "ID", "The id of the new run.")
