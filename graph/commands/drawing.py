"""`supervise draw`: a team's graph or the plan of a run, as Mermaid."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from graph.commands.output import write_file
from graph.commands.thread_names import ThreadAmbiguous, find_thread
from graph.display.plan_mermaid import read_planned_tasks, write_mermaid
from graph.display.streams import print_to_stdout
from graph.extensions import open_runs_elsewhere
from graph.runs.trace import get_log_path, load_trace
from graph.settings import Settings
from graph.stores.thread_locks import check_thread_id
from graph.teams.team_loader import find_team
from nodes.errors import SupervisorError, TeamInvalid, UsageError


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


def draw_run(thread: str, settings: Settings, *, out: Path | None, url: str | None) -> int:
    """Draw the plan of a run with its states.

    Raises:
        UsageError: there is no such run, or its plan is too large.
    """
    trace = _load_trace(thread, settings, url)
    return _print_picture(write_mermaid(read_planned_tasks(trace)), out)


def _is_thread(name: str, settings: Settings) -> bool:
    try:
        return get_log_path(find_thread(check_thread_id(name), settings), settings).exists()
    except ThreadAmbiguous:
        raise
    except SupervisorError:
        return False


def _load_trace(thread: str, settings: Settings, url: str | None) -> Mapping[str, Any]:
    if url is None:
        return load_trace(check_thread_id(thread), settings)
    return open_runs_elsewhere(url, settings).load_trace(thread)


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
    return 0
