"""The commands on records. Light: help needs them, too."""

from typing import Any, Literal

from extensions.replay.options import ForkOptions, RecordOption, ReplayOptions, ThreadArgument
from graph.commands.options import JsonOption, QuietOption, option, switch, take_options
from graph.commands.settings_loading import load_settings


@take_options(ReplayOptions)
def replay(options: ReplayOptions) -> int:
    """Run a kept run again on its record: no model, no tool, no network.

    With something changed, the tasks that it concerns are done again, as a thread of its own, and
    what differs is printed.
    """
    from extensions.replay.show import show_replay, show_what_if

    settings = load_settings(may_ask=True, announces=not options.quiet)
    show = show_replay if options.is_empty else show_what_if
    return show(options, settings)


@take_options(ForkOptions)
def fork(options: ForkOptions) -> int:
    """Begin a new run at a task of a kept one (--at); all other reports are the kept ones."""
    from extensions.replay.show import show_fork

    return show_fork(options, load_settings(may_ask=True, announces=not options.quiet))


def case(
    thread: ThreadArgument = "last",
    name: str | None = option("--id", "NAME", "The row's id, if not the thread's."),
    team: str | None = option("--team", "FOLDER", "The team whose exam it is for."),
    record: RecordOption = None,
    expect_fact: list[str] | None = option(
        "--expect-fact", "TEXT", "In the answer. May be repeated."
    ),
    status: Literal["done", "passages", "partial", "needs_input", "failed"] | None = option(
        "--status", "STATUS", "How it must end, if not as it has."
    ),
) -> int:
    """Make a row of the team's exam of a kept run, for `supervise eval --replayed`."""
    from extensions.replay.case import make_case

    how: dict[str, Any] = {"path": record, "team": team, "name": name, "status": status}
    return make_case(thread, load_settings(), facts=expect_fact or (), **how)


def demo(
    fast: bool = switch("--fast", "Show it at once, not as slowly as it was."),
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Show a recorded run of a small language model: no key, no network, no set-up."""
    from extensions.replay.show import show_demo

    return show_demo(is_fast=fast, as_json=as_json, quiet=quiet)
