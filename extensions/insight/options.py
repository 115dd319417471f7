"""The options of `supervise inbox`. Light: help needs them, too."""

from dataclasses import dataclass

import typer

from graph.commands.options import JsonOption, QuietOption, UrlOption


@dataclass(frozen=True, kw_only=True)
class InboxOptions:
    """The options of `supervise inbox`."""

    team: str | None = typer.Option(None, "--team", "-t", metavar="TEAM", help="Only its runs.")
    answer: list[str] | None = typer.Option(
        None,
        "--answer",
        metavar="THREAD=TEXT",
        help="Answer this thread, as `resume --answer` does. May be repeated.",
    )
    accept: list[str] | None = typer.Option(
        None,
        "--accept",
        metavar="RULE",
        help="Accept each plan that waits (plan), or each call of a tool (tool_call:NAME)."
        " May be repeated.",
    )
    reject: list[str] | None = typer.Option(
        None,
        "--reject",
        metavar="RULE",
        help="Reject each of these: plan, question, tool_call:NAME. Counts before --accept.",
    )
    accept_plans_below: float | None = typer.Option(
        None,
        "--accept-plans-below",
        metavar="USD",
        min=0.0,
        help="Accept each plan that is expected to cost less, in US dollars.",
    )
    dry_run: bool = typer.Option(False, "--dry-run", help="Show what would be answered.")
    url: UrlOption = None
    as_json: JsonOption = False
    quiet: QuietOption = False
