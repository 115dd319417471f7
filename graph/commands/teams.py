"""The commands on teams: `teams`, `check`, `new-team` and `draw`."""

import shlex
from pathlib import Path

from graph.commands.output import (
    announce_file,
    print_json,
    print_listing,
    print_text,
    write_file,
)
from graph.commands.runs import RunsHere, ThreadAmbiguous, find_thread
from graph.commands.scaffold import make_team
from graph.display.plan_mermaid import read_planned_tasks, write_mermaid
from graph.display.stderr_console import print_to_stderr
from graph.display.streams import print_to_stdout
from graph.display.text import to_one_line
from graph.extensions import RunSource, check_parts, collect
from graph.runs.trace import get_log_path
from graph.settings import Settings
from graph.stores.thread_locks import check_thread_id
from graph.teams.team_folder import TEAM_FILE, list_teams_in_folder
from graph.teams.team_loader import check_team, check_tools, find_team, list_teams, load_team
from graph.teams.team_warnings import list_trifecta_notes, list_warnings
from nodes.errors import McpServerFailed, SupervisorError, TeamInvalid, UsageError
from nodes.schemas.team import Team, Worker
from nodes.text.counts import format_count
from nodes.tools.framework.catalog import list_shipped_tools
from nodes.tools.framework.extras import list_missing_packages, write_install_command


def show_teams(settings: Settings, *, as_json: bool) -> int:
    """List the available teams; a team that cannot be used is named with its problem."""
    teams = []
    for folder in list_teams(settings):
        try:
            teams.append(load_team(folder, settings))
        except TeamInvalid as error:
            print_to_stderr(error.format_line(), style="red")
    if as_json:
        print_json([team.model_dump(mode="json") for team in teams])
    else:
        names = (", ".join(worker.name for worker in team.workers) for team in teams)
        rows = zip(teams, names, strict=True)
        print_listing(
            [(team.name, workers, to_one_line(team.description, 300)) for team, workers in rows],
            ("", "workers", ""),
        )
    return 0


def show_team(name: str, settings: Settings, *, as_json: bool) -> int:
    """Describe a team: its workers, their tools, and its example requests."""
    team = load_team(name, settings)
    if as_json:
        print_json(team.model_dump(mode="json"))
        return 0
    print_text(f"{team.name}: {to_one_line(team.description, 500)}")
    print_text(f"folder: {find_team(name, settings)}")
    if missing := list_missing_packages(team.name):
        install = write_install_command(team.name)
        print_text(f"packages missing: {', '.join(missing)}; {install}")
    tasks = format_count(team.max_tasks, "task")
    attempts = format_count(team.max_attempts, "attempt")
    print_text(f"at most {tasks}, {attempts} each")
    for worker in team.workers:
        print_text(_describe_worker(worker))
    for line in collect(lambda each: each.describe_team(team)):
        print_text(line)
    for example in team.examples:
        print_text(f"example: {to_one_line(example.request, 200)}")
    return 0


def report_problems(path: str, settings: Settings, *, is_online: bool = False) -> int:
    """Print all problems in a team's files, or in those of each team in a folder.

    Args:
        is_online: connect the teams' MCP servers too, and write their locks.

    Raises:
        TeamInvalid: there are problems.
        McpServerFailed: a server cannot be used.
    """
    teams = list_teams_in_folder(find_team(path, settings))
    if not teams:
        return _report_team_problems(path, settings, is_online=is_online)
    print_text(f"{path} is a folder of {format_count(len(teams), 'team')}")
    failed = []
    for team in teams:
        try:
            _report_team_problems(str(team), settings, is_online=is_online)
        except (TeamInvalid, McpServerFailed) as error:
            failed.append(team.name)
            print_to_stderr(error.format_line(), style="red")
    if failed:
        raise TeamInvalid(
            f"{path}: {len(failed)} of {format_count(len(teams), 'team')} cannot be used",
            next=f"fix {', '.join(failed)}",
        )
    return 0


def _report_team_problems(path: str, settings: Settings, *, is_online: bool) -> int:
    problems = [*check_team(path, settings), *check_tools(path, settings)]
    for problem in problems:
        print_text(problem)
    if problems:
        raise TeamInvalid(
            f"{path}: {format_count(len(problems), 'problem')}",
            next=_name_next_step(path, settings, len(problems)),
        )
    team = load_team(path, settings)
    _describe_own_tools(team)
    for line in check_parts(team, settings, is_online=is_online):
        print_text(line)
    for warning in list_warnings(team):
        print_to_stderr(f"warning: {warning}", style="yellow")
    for note in list_trifecta_notes(team):
        print_to_stderr(f"note: {note}", style="dim")
    print_text(f"{path}: valid. {_summarize_team(team, find_team(path, settings))}")
    return 0


def _name_next_step(path: str, settings: Settings, problems: int) -> str:
    """Return what to do about a team's problems; a folder without a team's file is none yet."""
    if not (find_team(path, settings) / TEAM_FILE).exists():
        return "name the folder of a team, or make one: supervise new-team NAME"
    return "fix it" if problems == 1 else "fix them"


def _describe_own_tools(team: Team) -> None:
    """Print which code the folder brings, and what is unusual in it."""
    if not team.own_tools:
        return
    used = {*team.grant, *(name for worker in team.workers for name in worker.tools)}
    print_text(f"brings code: tools/{', tools/'.join(f'{name}.py' for name in team.own_tools)}")
    shared = set(list_shipped_tools())
    for name in sorted(team.own_tools):
        if name in shared:
            print_to_stderr(
                f"warning: tools/{name}.py replaces the shared tool {name}", style="yellow"
            )
        if name not in used:
            print_to_stderr(f"warning: no worker has the tool tools/{name}.py", style="yellow")


def _describe_worker(worker: Worker) -> str:
    if worker.remote:
        trust = "may be" if worker.remote.access.sends == "nothing" else "is not"
        return (
            f"- {worker.name}: {to_one_line(worker.description, 300)}\n"
            f"  {worker.remote.describe()}; private data {trust} sent to it; "
            f"limit: {worker.limits.timeout_s:g} s"
        )
    tools = ", ".join(worker.tools) or "none"
    limits = f"{format_count(worker.limits.max_turns, 'turn')}, {worker.limits.timeout_s:g} s"
    return (
        f"- {worker.name} ({worker.tier}): {to_one_line(worker.description, 300)}\n"
        f"  tools: {tools}; limits: {limits}"
    )


def _summarize_team(team: Team, folder: Path) -> str:
    tools = sum(len(worker.tools) for worker in team.workers)
    counts = {"worker": len(team.workers), "tool": tools, "example": len(team.examples)}
    counted = [format_count(count, noun) for noun, count in counts.items()]
    counted += collect(lambda each: each.count_parts(folder))
    return ", ".join(counted)


def make_team_folder(name: str, into: Path) -> int:
    """Create the folder, and print the next steps."""
    folder = make_team(name, into)
    shown = shlex.quote(str(folder) if folder.is_absolute() else f"./{folder}")
    files = sorted(path.name + "/" * path.is_dir() for path in folder.iterdir())
    print_text(f"created {shown}: {', '.join(files)}")
    next_step = (
        f"next: supervise check {shown}; supervise eval {shown}; then read {shown}/README.md"
    )
    print_text(next_step)
    return 0


def is_team(name: str, settings: Settings) -> bool:
    """Return whether a name is that of a team, and not the thread of a run.

    Raises:
        TeamInvalid: it is neither.
        ThreadAmbiguous: several threads begin like this.
    """
    try:
        find_team(name, settings)
    except TeamInvalid as error:
        if _is_thread(name, settings):
            return False
        raise TeamInvalid(
            f"{error.what}, and no run has this thread",
            next="`supervise teams` and `supervise runs` list what there is",
        ) from None
    return True


def draw_team(name: str, settings: Settings, *, is_flat: bool, out: Path | None) -> int:
    """Draw a team's graph as Mermaid, with the steps inside each worker unless it is flat."""
    # Compiling a graph loads the model libraries, which pictures of a run do without.
    from graph.supervisor import build_supervisor

    graph = build_supervisor(name, settings=settings)
    return _print_picture(graph.get_graph(xray=0 if is_flat else 1).draw_mermaid(), out)


def draw_run(thread: str, runs: RunSource, *, out: Path | None) -> int:
    """Draw the plan of a run with its states.

    Raises:
        UsageError: there is no such run, or its plan is too large.
    """
    return _print_picture(write_mermaid(read_planned_tasks(runs.load_trace(thread))), out)


def _is_thread(name: str, settings: Settings) -> bool:
    try:
        return get_log_path(
            find_thread(check_thread_id(name), RunsHere(settings)), settings
        ).exists()
    except ThreadAmbiguous:
        raise
    except SupervisorError:
        return False


def _print_picture(text: str, out: Path | None) -> int:
    """Print a drawing, or write it into a file.

    Raises:
        UsageError: the file's suffix is that of another format.
    """
    if out is None:
        print_to_stdout(text)
        return 0
    suffix = out.suffix.lower()
    if suffix not in ("", ".mmd", ".md", ".mermaid", ".txt"):
        raise UsageError(
            f"a drawing is Mermaid, which {suffix} does not hold", next="--out FILE.mmd, or FILE.md"
        )
    write_file(f"```mermaid\n{text.strip()}\n```\n" if suffix == ".md" else text, out)
    announce_file("drawing", out)
    return 0
