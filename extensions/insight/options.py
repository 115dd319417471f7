"""The options of `supervise inbox`. Light: help needs them, too."""

from dataclasses import dataclass

from graph.commands.options import JsonOption, QuietOption, UrlOption, option, switch


@dataclass(frozen=True, kw_only=True)
class InboxOptions:
    """The options of `supervise inbox`."""

    team: str | None = option("--team -t", "TEAM", "Only its runs.")
    answer: list[str] | None = option(
        "--answer", "THREAD=TEXT", "Answer this thread, as `resume --answer` does. May be repeated."
    )
    accept: list[str] | None = option(
        "--accept",
        "RULE",
        "Accept each plan that waits (plan), or each call of a tool (tool_call:NAME)."
        " May be repeated.",
    )
    reject: list[str] | None = option(
        "--reject",
        "RULE",
        "Reject each of these: plan, question, tool_call:NAME. Counts before --accept.",
    )
    accept_plans_below: float | None = option(
        "--accept-plans-below",
        "USD",
        "Accept each plan that is expected to cost less, in US dollars.",
        min=0.0,
    )
    dry_run: bool = switch("--dry-run", "Show what would be answered.")
    url: UrlOption = None
    as_json: JsonOption = False
    quiet: QuietOption = False
