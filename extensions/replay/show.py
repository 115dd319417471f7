"""Replays a run at the command line, and prints what it has come to."""

from pathlib import Path
from typing import Any

from extensions.replay.changes import ChangeOptions, find_changes
from extensions.replay.fork import Comparison, afork
from extensions.replay.record_file import Record, read_record
from extensions.replay.replayer import Replayed, list_unrecorded, replay_record
from graph.commands.output import print_json, print_markdown, print_text, save_json
from graph.commands.run import print_outcome, run_with_progress
from graph.commands.runs import RunsHere, find_thread
from graph.display.labels import format_seconds
from graph.display.progress_display import ProgressDisplay
from graph.display.stderr_console import print_to_stderr
from graph.display.text import to_one_line
from graph.runs.run_recorder import get_record_path
from graph.settings import Settings
from graph.stores.thread_locks import check_thread_id, make_thread_id
from nodes.text.counts import format_count
from nodes.text.markdown import format_answer

DIFFERENT_EXIT_CODE = 3
MAX_LISTED = 5


def open_record(thread: str, settings: Settings, path: Path | None = None) -> Record:
    """Return the record of a thread, or the one in a file.

    Raises:
        ThreadUnknown, ThreadAmbiguous: as `find_thread`.
        RecordMissing, RecordUnreadable: as `read_record`.
    """
    if path is None:
        named = check_thread_id(find_thread(thread, RunsHere(settings)))
        path = get_record_path(named, settings)
    return read_record(path)


def show_replay(
    thread: str,
    settings: Settings,
    *,
    path: Path | None = None,
    trace: Path | None = None,
    is_paced: bool = False,
    as_json: bool = False,
    quiet: bool = False,
) -> int:
    """Replay a run and print its answer; return 0 if all is equal."""
    record = open_record(thread, settings, path)
    done = run_replay(record, is_paced=is_paced, quiet=quiet)
    if trace:
        save_json(done.build_trace(), trace)
    print_replay(done, as_json=as_json, quiet=quiet)
    return 0 if done.is_equal else DIFFERENT_EXIT_CODE


def run_replay(record: Record, *, quiet: bool, **how: Any) -> Replayed:
    """Replay a record with progress."""
    display = ProgressDisplay(quiet=quiet)
    display.progress.thread = record.thread
    with display:
        return replay_record(record, on_event=display.show_event, **how)


def print_replay(done: Replayed, *, as_json: bool, quiet: bool) -> None:
    """Print the answer, and on stderr how equal the replay is."""
    if as_json:
        print_json(done.to_json())
    elif done.outcome.answer:
        print_markdown(format_answer(done.outcome.answer.model_dump(mode="json")))
    if done.outcome.error:
        print_to_stderr(f"the run ended so: {done.outcome.error.format_line()}")
    if quiet:
        return
    took = f"{format_seconds(done.seconds)} for {format_seconds(done.recorded_s)}"
    if done.is_equal:
        said = "plan, reports, answer, bill and trace are equal"
        print_to_stderr(f"replayed in {took}: {said}, digest {done.digest}", style="green")
    else:
        said = f"not equal: {', '.join(done.differing)}"
        print_to_stderr(f"replayed in {took}: {said}", style="red")
    lost = list_unrecorded(done.record)
    for line in lost[:MAX_LISTED]:
        print_to_stderr(f"not in the record: {line}", style="yellow")
    if (more := len(lost) - MAX_LISTED) > 0:
        print_to_stderr(f"and {format_count(more, 'more part')}: --json lists all", style="yellow")


def show_what_if(
    thread: str,
    settings: Settings,
    options: ChangeOptions,
    *,
    path: Path | None,
    team: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Run a kept run with something changed; print what differs, and return the exit code."""
    found = _run_fork(thread, settings, options, path=path, team=team, quiet=quiet)
    if as_json:
        print_json(found.to_json())
    else:
        _print_comparison(found)
    return found.outcome.exit_code


def show_fork(
    thread: str,
    settings: Settings,
    options: ChangeOptions,
    *,
    path: Path | None,
    team: str | None,
    new: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Begin a new run at a task of a kept one; print its outcome, and return the exit code."""
    found = _run_fork(thread, settings, options, path=path, team=team, new=new, quiet=quiet)
    outcome = found.outcome
    return print_outcome(outcome, outcome.to_json(), as_json=as_json, quiet=quiet)


def _run_fork(
    thread: str,
    settings: Settings,
    options: ChangeOptions,
    *,
    path: Path | None,
    team: str | None,
    quiet: bool,
    new: str | None = None,
) -> Comparison:
    base = replay_record(open_record(thread, settings, path))
    changes = find_changes(options, base)
    display = ProgressDisplay(quiet=quiet)
    display.progress.thread = new = new or make_thread_id()
    if not quiet:
        again, kept = ", ".join(changes.redone), format_count(len(changes.results), "report")
        print_to_stderr(f"done again: {again or 'only the answer'}; {kept} from the record")
    work = afork(
        base, changes, team=team, thread=new, settings=settings, on_event=display.show_event
    )
    return Comparison(base, changes, run_with_progress(work, display))


def _print_comparison(found: Comparison) -> None:
    said = found.to_json()
    for name, difference in said["reports"].items():
        for key, pair in difference.items():
            before, after = (to_one_line(str(pair[side]), 200) for side in ("before", "after"))
            print_text(f"{name} {key}: {before} -> {after}")
    for line in found.list_answer_lines():
        print_text(line)
    if not (said["reports"] or found.list_answer_lines()):
        print_text("nothing differs")
    usage = said["usage"]
    tokens = [usage[side]["input_tokens"] + usage[side]["output_tokens"] for side in usage]
    costs = [usage[side]["cost_usd"] for side in usage]
    calls = format_count(usage["after"]["model_calls"], "call")
    spent = f"{calls}, {tokens[1]:,} tokens, {_format_cost(costs[1])}"
    print_to_stderr(
        f"cost of the change: {spent}; of the run: {tokens[0]:,} tokens, {_format_cost(costs[0])}",
        style="dim",
    )
    print_to_stderr(f"more: supervise show {found.outcome.thread}", style="dim")
    if found.outcome.error:
        print_to_stderr(found.outcome.error.format_line(), style="red")


def _format_cost(cost_usd: float | None) -> str:
    return "price unknown" if cost_usd is None else f"{cost_usd:.4f} USD"
