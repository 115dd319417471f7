"""The commands on records. Light: help needs them, too."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from graph.commands.options import JsonOption, QuietOption
from graph.commands.settings_loading import load_settings

RecordOption = Annotated[
    Path | None,
    typer.Option("--record", metavar="FILE", help="Read this record in place of the thread's."),
]
TraceOption = Annotated[
    Path | None, typer.Option("--trace", metavar="FILE", help="Write the trace to this file.")
]
ReplayArgument = Annotated[
    str, typer.Argument(metavar="[THREAD]", help="The run's id, its beginning, or `last`.")
]


TaskOption = Annotated[
    list[str] | None,
    typer.Option(
        "--task",
        metavar="NAME.FIELD=VALUE",
        help="Change a field of a task, such as t1.description. May be repeated.",
    ),
]
ResultOption = Annotated[
    list[str] | None,
    typer.Option(
        "--result", metavar="NAME=FILE", help="Take this report as a task's. May be repeated."
    ),
]
PlanOption = Annotated[
    Path | None, typer.Option("--plan", metavar="FILE", help="Run this plan, as JSON.")
]
WorkerOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--worker", metavar="FILE", help="In place of the worker of its name. May be repeated."
    ),
]
ModelOption = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="TIER=MODEL", help="Another model. May be repeated."),
]
MaterialOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--material", metavar="FILE", help="In place of the file of its name. May be repeated."
    ),
]
TeamOption = Annotated[
    str | None,
    typer.Option("--team", metavar="TEAM", help="The team of a record that is another user's."),
]


def replay(
    thread: ReplayArgument = "last",
    task: TaskOption = None,
    result: ResultOption = None,
    plan: PlanOption = None,
    worker: WorkerOption = None,
    model: ModelOption = None,
    material: MaterialOption = None,
    team: TeamOption = None,
    record: RecordOption = None,
    trace: TraceOption = None,
    paced: Annotated[
        bool, typer.Option("--paced", help="As fast as the run was, not as fast as possible.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Run a kept run again on its record: no model, no tool, no network.

    With something changed, the tasks that it concerns are done again, as a thread of its own, and
    what differs is printed.
    """
    from extensions.replay.changes import ChangeOptions
    from extensions.replay.show import show_replay, show_what_if

    settings = load_settings(may_ask=True, announces=not quiet)
    changes = ChangeOptions(
        task=task or (),
        result=result or (),
        plan=plan,
        worker=worker or (),
        model=model or (),
        material=material or (),
    )
    how: dict[str, Any] = {"path": record, "as_json": as_json, "quiet": quiet}
    if changes:
        return show_what_if(thread, settings, changes, team=team, **how)
    return show_replay(thread, settings, trace=trace, is_paced=paced, **how)


def fork(
    thread: ReplayArgument,
    at: Annotated[
        list[str],
        typer.Option("--at", metavar="TASK", help="Do this task again, and all that build on it."),
    ],
    new: Annotated[
        str | None, typer.Option("--thread", metavar="ID", help="The id of the new run.")
    ] = None,
    team: TeamOption = None,
    record: RecordOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Begin a new run at a task of a kept one; all other reports are the kept ones."""
    from extensions.replay.changes import ChangeOptions
    from extensions.replay.show import show_fork

    settings = load_settings(may_ask=True, announces=not quiet)
    how: dict[str, Any] = {"path": record, "as_json": as_json, "quiet": quiet}
    return show_fork(thread, settings, ChangeOptions(at=at), team=team, new=new, **how)


def case(
    thread: ReplayArgument,
    name: Annotated[
        str | None, typer.Option("--id", metavar="NAME", help="The row's id, if not the thread's.")
    ] = None,
    team: Annotated[
        str | None, typer.Option("--team", metavar="FOLDER", help="The team whose exam it is for.")
    ] = None,
    record: RecordOption = None,
    expect_fact: Annotated[
        list[str] | None,
        typer.Option("--expect-fact", metavar="TEXT", help="In the answer. May be repeated."),
    ] = None,
    status: Annotated[
        Literal["done", "passages", "partial", "needs_input", "failed"] | None,
        typer.Option("--status", metavar="STATUS", help="How it must end, if not as it has."),
    ] = None,
) -> int:
    """Make a row of the team's exam of a kept run, for `supervise eval --replayed`."""
    from extensions.replay.case import make_case

    how: dict[str, Any] = {"path": record, "team": team, "name": name, "status": status}
    return make_case(thread, load_settings(), facts=expect_fact or (), **how)


def demo(
    fast: Annotated[
        bool, typer.Option("--fast", help="Show it at once, not as slowly as it was.")
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show a recorded run of a small language model: no key, no network, no set-up."""
    from extensions.replay.demo import show_demo

    return show_demo(is_fast=fast, as_json=as_json, quiet=quiet)
