"""`supervise`: the command line.

Commands import what they need when they run: `supervise --help` and a wrong option should not
wait for LangGraph.
"""

import math
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from graph import __version__
from graph.commands.exit_codes import run_to_exit_code
from graph.commands.process_exit import CANCELLED_EXIT_CODE as CANCELLED
from graph.commands.process_exit import exit_process, treat_sigterm_as_interrupt
from graph.display.streams import (
    announce_start,
    flush_streams,
    print_to_stdout,
    replace_unencodable_text,
)
from nodes.errors import UsageError

if TYPE_CHECKING:
    from graph.display.progress_display import ProgressDisplay


class _FullHelpGroup(TyperGroup):
    """Lists its commands with the whole of their first lines, which typer would cut."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # types of typer's own click
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.short_help = command.help
        return command


app = typer.Typer(
    cls=_FullHelpGroup,
    name="supervise",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _require_finite(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no cap; leave the option out to have none")
    return value


TeamOption = Annotated[
    str, typer.Option("--team", "-t", metavar="TEAM", help="A team's name, or its folder.")
]
ThreadArgument = Annotated[
    str, typer.Argument(metavar="THREAD", help="The thread's id, as `supervise runs` lists it.")
]
DeadlineOption = Annotated[
    float | None,
    typer.Option(
        "--deadline",
        metavar="SECONDS",
        min=0.0,
        callback=_require_finite,
        help="Then it answers with what it has.",
    ),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="USD",
        min=0.0,
        callback=_require_finite,
        help="US dollars, by list prices; then it answers with what it has.",
    ),
]
MaxTokensOption = Annotated[
    int | None,
    typer.Option(
        "--max-tokens",
        metavar="N",
        min=0,
        help="Input and output together; then it answers with what it has.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no figures.")]


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print_to_stdout(f"supervise {__version__}")
        raise typer.Exit


@app.callback()
def declare_global_options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_show_version, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """One supervisor plans, specialists work in parallel, a synthesizer answers."""


@app.command()
def run(
    request: Annotated[
        str, typer.Argument(metavar="REQUEST", help="What to do, in words; - reads it from stdin.")
    ],
    team: TeamOption = "market_analysis",
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file", "-f", metavar="PATH", help="A document, or a folder of them. May be repeated."
        ),
    ] = None,
    thread: Annotated[
        str | None,
        typer.Option(
            "--thread", metavar="THREAD", help="Keep the run under this id, or follow up on it."
        ),
    ] = None,
    deadline: DeadlineOption = None,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    approve: Annotated[
        bool, typer.Option("--approve", help="Ask before anything of the plan is run.")
    ] = False,
    plan_only: Annotated[
        bool,
        typer.Option("--plan-only", help="Print the plan as JSON and run nothing of it."),
    ] = False,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
    trace: Annotated[
        Path | None,
        typer.Option("--trace", metavar="FILE", help="Write the run's trace to this file."),
    ] = None,
) -> int:
    """Plan a request, let the workers do it, and print the answer."""
    with _open_display(f"starting team {team}", quiet=quiet) as display:
        from graph.commands import run as command
        from state import Context

        common: dict[str, Any] = {
            "display": display,
            "team": team,
            "files": file or [],
            "context": Context(
                deadline_s=deadline,
                max_cost_usd=max_cost,
                max_tokens=max_tokens,
                approve_plan=approve,
            ),
            "settings": _load_settings(),
            "quiet": quiet,
        }
        if plan_only:
            return command.show_plan(request, **common)
        return command.run(request, thread=thread, trace_to=trace, as_json=as_json, **common)


@app.command()
def resume(
    thread: ThreadArgument,
    answer: Annotated[
        str | None,
        typer.Option("--answer", metavar="TEXT", help="The answer to what the run asked."),
    ] = None,
    deadline: DeadlineOption = None,
    max_cost: MaxCostOption = None,
    max_tokens: MaxTokensOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Go on with a run that was cut short or waits for an answer."""
    with _open_display(f"resuming thread {thread}", quiet=quiet) as display:
        from graph.commands import run as command
        from state import Context

        return command.resume(
            thread,
            display=display,
            answer=answer,
            context=Context(deadline_s=deadline, max_cost_usd=max_cost, max_tokens=max_tokens),
            settings=_load_settings(),
            as_json=as_json,
            quiet=quiet,
        )


@app.command()
def runs(
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove runs for good; say which, below.")
    ] = False,
    older_than: Annotated[
        str | None,
        typer.Option(
            "--older-than", metavar="AGE", help="Their last event is so old: 12h, 30d, 8w."
        ),
    ] = None,
    keep: Annotated[
        int | None, typer.Option("--keep", metavar="N", min=0, help="As many of the newest stay.")
    ] = None,
    status: Annotated[
        str | None,
        typer.Option(
            "--status", metavar="STATUS", help="Of these only; done,partial,failed without it."
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what --prune would remove.")
    ] = False,
) -> int:
    """List what ran here, the newest first; or remove some of it."""
    from graph.commands import runs

    if not prune:
        if older_than or keep or status or dry_run:
            raise UsageError("these options choose what --prune removes", next="add --prune")
        return runs.show_runs(_load_settings())
    return runs.prune_runs(
        _load_settings(), older_than=older_than, keep=keep, status=status, is_dry=dry_run
    )


@app.command()
def show(thread: ThreadArgument) -> int:
    """Show a run's plan, its reports and its answer."""
    from graph.commands.runs import show_run

    return show_run(thread, _load_settings())


@app.command()
def trace(
    thread: ThreadArgument,
    format: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Only json as yet.")
    ] = "json",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write it to this file.")
    ] = None,
) -> int:
    """Return everything that happened in a run as JSON."""
    if format != "json":
        raise UsageError(f"no trace format {format!r}", next="--format json")
    from graph.commands.runs import show_trace

    return show_trace(thread, out=out, settings=_load_settings())


@app.command()
def teams(
    name: Annotated[str | None, typer.Argument(metavar="TEAM", help="A team to introduce.")] = None,
    as_json: JsonOption = False,
) -> int:
    """List the teams, or introduce one."""
    from graph.commands import teams as command

    if name is None:
        return command.show_teams(_load_settings(), as_json=as_json)
    return command.show_team(name, _load_settings(), as_json=as_json)


@app.command()
def check(
    path: Annotated[str, typer.Argument(metavar="TEAM", help="A team's folder, or its name.")],
) -> int:
    """Say all that is wrong with a team's files."""
    from graph.commands import teams as command

    return command.report_team_problems(path, _load_settings())


@app.command("eval")
def evaluate(
    team: Annotated[str, typer.Argument(metavar="TEAM", help="A team's name, or its folder.")],
    threshold: Annotated[
        float,
        typer.Option(
            "--threshold", metavar="PERCENT", min=0, max=100, help="Below it, exit code 3."
        ),
    ] = 80.0,
    against: Annotated[
        list[str] | None,
        typer.Option(
            "--against", metavar="OTHER", help="standard=MODEL, or another team. May be repeated."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, help="Only so many rows, from the first."),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="ROW", help="Only the row with this id. May be repeated."),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> int:
    """Let a team sit its exam, evals.jsonl, and grade it."""
    if not quiet:
        announce_start(f"starting the exam of team {team}")
    from graph.commands import evaluate as command

    return command.evaluate(
        team,
        threshold=threshold,
        against=against or [],
        limit=limit,
        only=only or [],
        as_json=as_json,
        quiet=quiet,
        settings=_load_settings(),
    )


@app.command("new-team")
def new_team(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="The team's name: letters, digits and _.")
    ],
    into: Annotated[
        Path, typer.Option("--into", metavar="FOLDER", help="The folder to make it in.")
    ] = Path(),
) -> int:
    """Make a team that already works, to be changed into yours."""
    from graph.commands.new_team import make_team_folder

    return make_team_folder(name, into)


@app.command()
def draw(
    name: Annotated[str, typer.Argument(metavar="TEAM", help="A team's name, or its folder.")],
) -> int:
    """Draw a team's graph as Mermaid."""
    from graph.commands import teams as command

    return command.draw_graph(name, _load_settings())


@app.command()
def doctor() -> int:
    """Return what is configured, can be reached, and is missing."""
    from graph.commands.doctor import run_doctor

    return run_doctor(_load_settings())


def _open_display(starting: str, *, quiet: bool) -> "ProgressDisplay":
    """Announce a run, then load what shows it."""
    if not quiet:
        announce_start(starting)
    from graph.display.progress_display import ProgressDisplay

    return ProgressDisplay(quiet=quiet)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the contract's code."""
    replace_unencodable_text()
    treat_sigterm_as_interrupt()
    code = run_to_exit_code(lambda: _run_app(arguments))
    flush_streams()
    if code == CANCELLED:
        exit_process()
    sys.exit(code)


def _run_app(arguments: Sequence[str] | None) -> Any:
    # Help would be fitted to 50 columns where a terminal has less, and to 80 where it has more.
    columns = shutil.get_terminal_size().columns
    return app(args=arguments, prog_name="supervise", standalone_mode=False, terminal_width=columns)


def _load_settings() -> Any:
    """Read the settings; they say, too, whether LangSmith may be told anything."""
    from graph.settings import Settings

    settings = Settings()
    settings.export_tracing()
    return settings


if __name__ == "__main__":
    main()
