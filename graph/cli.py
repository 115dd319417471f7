"""`supervise`: the command line.

Commands import what they need when they run: `supervise --help` and a wrong option must not
wait for LangGraph.
"""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperGroup

from graph import __version__
from graph.commands.extras import describe_unused_key, install
from graph.commands.options import (
    JsonOption,
    ResumeOptions,
    RunOptions,
    ThreadArgument,
    UrlOption,
    VerboseOption,
    argument,
    option,
    require_output,
    switch,
    take_options,
)
from graph.commands.process import (
    configure_logging,
    end_process,
    prepare_process,
    run_to_exit_code,
    treat_sigterm_as_interrupt,
)
from graph.commands.settings_loading import (
    RECORD_NOTE,
    EnvFileOption,
    describe_settings,
    load_settings,
    trust,
)
from graph.display.streams import (
    announce_line,
    announce_start,
    announce_team,
    print_to_stdout,
    replace_unencodable_text,
)
from graph.extensions import add_extension_commands, list_extension_problems, name_command
from nodes.errors import UsageError

WITHOUT_SETTINGS: Final = ("new-team", "trust", "install")


class _FullHelpGroup(TyperGroup):
    """Lists its commands with their full first lines, which typer would cut.

    The group's last option is one of each command that reads settings, too.
    """

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # types of typer's own click
        command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.short_help = command.help
            if cmd_name not in WITHOUT_SETTINGS and self.params[-1] not in command.params:
                command.params.append(self.params[-1])
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command that is called; for an unknown word name those it begins."""
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            word = args[0].casefold()
            related = [
                repr(name)
                for name, each in self.commands.items()
                if (each.help or "").casefold().split()[:1] == [word]
            ]
            if related and "Did you mean" not in error.message:
                error.message += f" Did you mean {', '.join(related)}?"
            raise


app = typer.Typer(
    cls=_FullHelpGroup,
    name="supervise",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        is_checkout = __version__.endswith("+checkout")
        what = " (the files of a checkout, no released version)" if is_checkout else ""
        print_to_stdout(f"supervise {__version__}{what}")
        raise typer.Exit


@app.callback()
def declare_global_options(
    version: bool = switch(
        "--version", "Print the version and exit.", is_eager=True, callback=_show_version
    ),
    verbose: VerboseOption = False,
    env_file: EnvFileOption = None,
) -> None:
    """One supervisor plans, specialists work in parallel, a synthesizer answers."""


@app.command()
@take_options(RunOptions)
def run(options: RunOptions) -> int:
    """Plan a request, run its tasks in parallel, and print the answer."""
    options.require_plain_comparison()
    files = [*(options.file or ()), *(options.more_files or ())]
    is_plain = all(str(each) == "-" or os.path.exists(each) for each in files)
    if not options.quiet and is_plain and options.request != "":
        announce_team("starting team", options.team)
    settings = load_settings(trace_content=options.trace_content, may_ask=True)
    from graph.display.progress_display import ProgressDisplay

    origins = "" if options.quiet else describe_settings(settings)
    note = RECORD_NOTE if settings.record and not (options.quiet or options.plan_only) else ""
    if hint := "" if options.quiet else describe_unused_key(settings):
        announce_line(hint)
    shows_answer = not options.as_json
    with ProgressDisplay(
        quiet=options.quiet, shows_answer=shows_answer, origins=origins, note=note
    ) as display:
        from graph.commands import run as command
        from graph.commands.comparison import compare, compare_strategies

        job = command.prepare_job(options, settings, display)
        if options.compare:
            return compare_strategies(job)
        if options.plan_only:
            return command.show_plan(job)
        return compare(job) if options.compare_sequential else command.run(job)


@app.command()
@take_options(ResumeOptions)
def resume(options: ResumeOptions) -> int:
    """Resume a run that was interrupted or waits for an answer."""
    settings = load_settings(
        trace_content=options.trace_content, may_ask=True, announces=not options.quiet
    )
    from graph.commands import run as command
    from graph.commands.runs import find_thread, open_runs

    runs = open_runs(options.url, settings)
    return command.resume(find_thread(options.thread, runs), options, runs)


@app.command()
def runs(
    prune: bool = switch("--prune", "Remove the runs that the options below select, permanently."),
    older_than: str | None = option(
        "--older-than", "AGE", "Only runs whose last event is older: 12h, 30d, 8w."
    ),
    keep: int | None = option(
        "--keep", "N", "List the N newest; with --prune, keep these of all.", min=0
    ),
    status: str | None = option(
        "--status",
        "STATUS",
        "Only with this status; several with commas [default of --prune: the ended ones].",
    ),
    records: bool = switch("--records", "With --prune: their records alone; the runs stay."),
    dry_run: bool = switch("--dry-run", "With --prune: list what it would remove."),
    url: UrlOption = None,
) -> int:
    """List the runs, the newest first; or remove some of them."""
    from graph.commands.runs import open_runs, prune_runs, show_runs
    from graph.runs.pruning import PruneSelection, RunFilter

    if prune and url is not None:
        raise UsageError("--prune removes runs of this machine", next="leave out --url")
    if not prune and (records or dry_run):
        raise UsageError("--records and --dry-run need --prune", next="add --prune")
    settings = load_settings()
    chosen: dict[str, Any] = {"older_than": older_than, "keep": keep, "status": status}
    if not prune:
        return show_runs(open_runs(url, settings), RunFilter.from_options(**chosen))
    which = PruneSelection.from_options(**chosen, only_records=records)
    return prune_runs(settings, which, is_dry=dry_run)


@app.command()
def show(
    thread: ThreadArgument,
    url: UrlOption = None,
    profile: bool = switch("--profile", "Also how it was made: plan, reports, all figures."),
    out: Path | None = option("--out", "FILE", "Write the answer there: .md, or .docx (Word)."),
) -> int:
    """Show a run's answer, with its sources and gaps, or write it to a file."""
    from graph.commands.runs import find_thread, open_runs, show_run

    runs, path = open_runs(url, load_settings()), require_output(out)
    return show_run(find_thread(thread, runs), runs, profile=profile, out=path)


@app.command()
def trace(
    thread: ThreadArgument,
    format: str = option("--format", "FORMAT", "json, chrome, or html.", default="json"),
    out: Path | None = option("--out", "FILE", "Write it to this file."),
    url: UrlOption = None,
) -> int:
    """Print everything that happened in a run: as JSON, as spans for Perfetto, or as a page."""
    if format not in ("json", "chrome", "html"):
        raise UsageError(f"no trace format {format!r}", next="--format json, chrome, or html")
    from graph.commands.runs import find_thread, open_runs, show_trace

    runs = open_runs(url, load_settings())
    return show_trace(find_thread(thread, runs), runs, out=out, format=format)


@app.command()
def stop(
    thread: ThreadArgument,
    task: str = argument("[TASK]", "The task's id. Without it: all tasks.", default=""),
    url: UrlOption = None,
) -> int:
    """Stop a task of a run at work, or all; the answer is written from the others."""
    from graph.commands.runs import find_thread, open_runs, stop_tasks

    runs = open_runs(url, load_settings())
    return stop_tasks(find_thread(thread, runs), task, runs)


@app.command()
def teams(
    name: str | None = argument("TEAM", "The team to describe.", default=None),
    as_json: JsonOption = False,
) -> int:
    """List the teams, or describe one."""
    from graph.commands import teams as command

    if name is None:
        return command.show_teams(load_settings(), as_json=as_json)
    return command.show_team(name, load_settings(), as_json=as_json)


@app.command()
def check(
    path: str = argument("TEAM", "A team's folder or name, or a folder of teams."),
    online: bool = switch(
        "--online", "Connect the team's MCP servers, list their tools, write mcp.lock.json."
    ),
) -> int:
    """List all problems in a team's files."""
    from graph.commands import teams as command

    return command.report_problems(path, load_settings(announces=True), is_online=online)


@app.command("new-team")
def new_team(
    name: str = argument("NAME", "The team's name: letters, digits and _."),
    into: Path = option("--into", "FOLDER", "The parent folder.", default=Path()),
) -> int:
    """Create a working example team that you can change."""
    from graph.commands.teams import make_team_folder

    return make_team_folder(name, into)


@app.command()
def draw(
    name: str = argument(
        "NAME", "A team's name or folder, or the thread of a run; last: the newest run."
    ),
    flat: bool = switch("--flat", "Of a team: only the top level."),
    out: Path | None = option(
        "--out", "FILE", "Write it to this file, not to stdout; .md puts it between fences."
    ),
    url: UrlOption = None,
) -> int:
    """Draw a team's graph or the plan of a run, as Mermaid."""
    from graph.commands import teams as command
    from graph.commands.runs import find_thread, open_runs

    settings = load_settings()
    if url is None and command.is_team(name, settings):
        return command.draw_team(name, settings, is_flat=flat, out=out)
    runs = open_runs(url, settings)
    return command.draw_run(find_thread(name, runs), runs, out=out)


app.command()(trust)
app.command()(install)


@app.command()
def doctor(
    probe: bool = switch("--probe", "Make small real calls: how each model answers, and how fast."),
    as_json: JsonOption = False,
) -> int:
    """Show what is configured, what can be reached, and what is missing."""
    if probe:
        announce_start("calling the language models; a slow one may take minutes")
    from graph.commands.doctor import run_doctor

    return run_doctor(load_settings(), is_probing=probe, as_json=as_json)


def start() -> None:
    """Run the command line as a process of its own."""
    prepare_process()
    main()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with the documented exit code."""
    replace_unencodable_text()
    treat_sigterm_as_interrupt()
    configure_logging(is_verbose=False)
    given = list(sys.argv[1:] if arguments is None else arguments)
    for problem in list_extension_problems() if "doctor" not in given[:2] else ():
        announce_line(f"warning: {problem}")
    end_process(run_to_exit_code(lambda: _run_app(given), path=_find_command_path(given)))


def _find_command_path(given: Sequence[str]) -> str:
    """Return the command that is called, as help names it; without its options."""
    first = next((word for word in given if not word.startswith("-")), "")
    known = set(map(name_command, app.registered_commands))
    return f"supervise {first}" if first in known else "supervise"


def _run_app(given: Sequence[str]) -> Any:
    # By default help is at least 50 columns wide, and at most 80.
    columns = shutil.get_terminal_size().columns
    return app(
        args=given or ["--help"],
        prog_name="supervise",
        standalone_mode=False,
        terminal_width=columns,
    )


add_extension_commands(app)

if __name__ == "__main__":
    start()
