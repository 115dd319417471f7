"""`supervise`: the command line.

Commands import what they need when they run: `supervise --help` and a wrong option should not
wait for LangGraph.
"""

import math
import sys
import traceback
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from graph.cancelling import EXIT_CODE as CANCELLED
from graph.cancelling import Cancelled, leave, terminate_as_interrupt
from graph.terminal import be_lenient, flush, one_line, printable, remark
from nodes.errors import SupervisorError, UsageError
from nodes.redaction import redacted

app = typer.Typer(
    name="supervise",
    help="One supervisor plans, specialists work in parallel, a synthesizer answers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

UNEXPECTED: Final = 1


def _finite(value: float | None) -> float | None:
    if value is not None and not math.isfinite(value):
        raise typer.BadParameter(f"{value} is no cap; leave the option out to have none")
    return value


Team = Annotated[str, typer.Option("--team", "-t", help="A team's name, or its folder.")]
Thread = Annotated[str, typer.Argument(help="The thread's id, as `supervise runs` lists it.")]
Deadline = Annotated[
    float | None,
    typer.Option(
        "--deadline", min=0.0, callback=_finite, help="Seconds; then it answers with what it has."
    ),
]
MaxCost = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        min=0.0,
        callback=_finite,
        help="US dollars; then it answers with what it has.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no figures.")]


@app.command()
def run(
    request: Annotated[str, typer.Argument(help="What to do, in words; - reads it from stdin.")],
    team: Team = "market_analysis",
    file: Annotated[
        list[Path] | None,
        typer.Option("--file", "-f", help="A document, or a folder of them. May be repeated."),
    ] = None,
    thread: Annotated[
        str | None, typer.Option("--thread", help="Keep the run under this id, or follow up on it.")
    ] = None,
    deadline: Deadline = None,
    max_cost: MaxCost = None,
    approve: Annotated[
        bool, typer.Option("--approve", help="Ask before anything of the plan is run.")
    ] = False,
    plan_only: Annotated[
        bool, typer.Option("--plan-only", help="Print the plan as JSON and run nothing of it.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
    trace: Annotated[
        Path | None, typer.Option("--trace", help="Write the run's trace to this file.")
    ] = None,
) -> int:
    """Plan a request, let the team's workers do it, and print the answer."""
    from graph.commands import run as command
    from state import Context

    common: dict[str, Any] = {
        "team": team,
        "files": file or [],
        "context": Context(deadline_s=deadline, max_cost_usd=max_cost, approve_plan=approve),
        "settings": _settings(),
        "quiet": quiet,
    }
    if plan_only:
        return command.show_plan(request, **common)
    return command.run(request, thread=thread, trace_to=trace, as_json=as_json, **common)


@app.command()
def resume(
    thread: Thread,
    answer: Annotated[
        str | None, typer.Option("--answer", help="The answer to what the run asked.")
    ] = None,
    deadline: Deadline = None,
    max_cost: MaxCost = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Go on with a run that was killed, cancelled, cut short or is waiting for an answer."""
    from graph.commands import run as command
    from state import Context

    return command.resume(
        thread,
        answer=answer,
        context=Context(deadline_s=deadline, max_cost_usd=max_cost),
        settings=_settings(),
        as_json=as_json,
        quiet=quiet,
    )


@app.command()
def runs(
    prune: Annotated[
        bool, typer.Option("--prune", help="Remove runs for good; say which, below.")
    ] = False,
    older_than: Annotated[
        str | None, typer.Option("--older-than", help="Their last event is so old: 12h, 30d, 8w.")
    ] = None,
    keep: Annotated[
        int | None, typer.Option("--keep", min=0, help="As many of the newest stay.")
    ] = None,
    status: Annotated[
        str | None, typer.Option("--status", help="Of these only; done,partial,failed without it.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what --prune would remove.")
    ] = False,
) -> int:
    """List what ran here, the newest first; or remove some of it."""
    from graph.commands import past

    if not prune:
        if older_than or keep or status or dry_run:
            raise UsageError("these options choose what --prune removes", next="add --prune")
        return past.show_runs(_settings())
    return past.prune_runs(
        _settings(), older_than=older_than, keep=keep, status=status, is_dry=dry_run
    )


@app.command()
def show(thread: Thread) -> int:
    """Show a run's plan, its reports and its answer."""
    from graph.commands.past import show_run

    return show_run(thread, _settings())


@app.command()
def trace(
    thread: Thread,
    format: Annotated[str, typer.Option("--format", help="json")] = "json",
    out: Annotated[Path | None, typer.Option("--out", help="Write it to this file.")] = None,
) -> int:
    """Give everything that happened in a run as JSON."""
    if format != "json":
        raise UsageError(f"no trace format {format!r}", next="--format json")
    from graph.commands.past import show_trace

    return show_trace(thread, out=out, settings=_settings())


@app.command()
def teams(
    name: Annotated[str | None, typer.Argument(help="A team to introduce.")] = None,
    as_json: AsJson = False,
) -> int:
    """List the teams, or introduce one."""
    from graph.commands import teams as command

    if name is None:
        return command.show_teams(_settings(), as_json=as_json)
    return command.show_team(name, _settings(), as_json=as_json)


@app.command()
def check(path: Annotated[str, typer.Argument(help="A team's folder, or its name.")]) -> int:
    """Say all that is wrong with a team's files."""
    from graph.commands import teams as command

    return command.check(path, _settings())


@app.command("eval")
def evaluate(
    team: Annotated[str, typer.Argument(help="A team's name, or its folder.")],
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, max=100, help="Percent; below it, exit code 3.")
    ] = 80.0,
    against: Annotated[
        list[str] | None,
        typer.Option("--against", help="standard=MODEL, or another team. May be repeated."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only so many rows, from the first.")
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Only the row with this id. May be repeated.")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> int:
    """Let a team sit its exam, evals.jsonl, and grade it."""
    from graph.commands import evaluate as command

    return command.evaluate(
        team,
        threshold=threshold,
        against=against or [],
        limit=limit,
        only=only or [],
        as_json=as_json,
        quiet=quiet,
        settings=_settings(),
    )


@app.command("new-team")
def new_team(
    name: Annotated[str, typer.Argument(help="The team's name: letters, digits and _.")],
    into: Annotated[Path, typer.Option("--into", help="The folder to make it in.")] = Path(),
) -> int:
    """Make the folder of a team that already works, to be changed into yours."""
    from graph.commands.new_team import make

    return make(name, into)


@app.command()
def draw(name: Annotated[str, typer.Argument(help="A team's name, or its folder.")]) -> int:
    """Draw a team's graph as Mermaid."""
    from graph.commands import teams as command

    return command.draw(name, _settings())


@app.command()
def doctor() -> int:
    """Say what is configured, what can be reached, and what is missing."""
    from graph.commands.doctor import diagnose

    return diagnose(_settings())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the contract's code."""
    be_lenient()
    terminate_as_interrupt()
    code = exit_code(lambda: app(args=arguments, prog_name="supervise", standalone_mode=False))
    flush()
    if code == CANCELLED:
        leave()
    sys.exit(code)


def exit_code(command: Callable[[], Any]) -> int:
    """Run a command; what ends it early is said in one line on stderr."""
    try:
        code = int(command() or 0)
        # Typer turns an early Ctrl-C, while libraries load, into this code without a word.
        return _end("cancelled", code) if code == CANCELLED else code
    except SupervisorError as error:
        return _end(error.line(), error.exit_code)
    except typer.TyperException as error:
        said = _message(error)
        usage = UsageError(said, next="supervise --help")
        # Without arguments the help has been shown, and there is nothing to add.
        return _end(usage.line(), usage.exit_code) if said else usage.exit_code
    except (Cancelled, KeyboardInterrupt, typer.Abort) as error:
        return _end(str(error) or "cancelled", CANCELLED)
    except SystemExit as ended:  # rich's way to say that nobody reads stdout any more
        if isinstance(ended.__context__, BrokenPipeError):
            return 0
        raise
    except Exception as error:  # the last resort: a person gets one line, a file the traceback
        return _end(f"error[UNEXPECTED] {type(error).__name__}: {_kept(error)}", UNEXPECTED)


def _end(line: str, code: int) -> int:
    remark(one_line(line, 2000), style="" if code == CANCELLED else "red")
    return code


def _message(error: typer.TyperException) -> str:
    format_message = getattr(error, "format_message", None)
    return printable(format_message() if format_message else error)


def _kept(error: Exception) -> str:
    """Shorten an unexpected error, and keep its traceback in a file."""
    try:
        settings = _settings()
    except SupervisorError:
        return "and the settings cannot be read"
    text = redacted("".join(traceback.format_exception(error)))
    path = settings.home / "errors" / f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}.txt"
    summary = one_line(error, 300)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", errors="replace")
    except OSError:
        return summary
    return f"{summary}. next: report it with {path}"


def _settings() -> Any:
    """Read the settings; they say, too, whether LangSmith may be told anything."""
    from graph.settings import Settings

    settings = Settings()
    settings.export_tracing()
    return settings


if __name__ == "__main__":
    main()
