"""Replays a run at the command line, and prints what it has come to."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from extensions.replay.changes import find_changes
from extensions.replay.fork import Comparison, afork
from extensions.replay.options import ChangeOptions, ForkOptions, ReplayOptions, Source
from extensions.replay.record_file import Record, read_record
from extensions.replay.replayer import Replayed, list_unrecorded, replay_record
from graph.commands.output import print_json, print_markdown, print_text, save_json
from graph.commands.run import print_outcome, run_with_progress
from graph.commands.runs import RunsHere, find_thread
from graph.display.labels import format_seconds, format_status
from graph.display.progress_display import ProgressDisplay
from graph.display.stderr_console import print_to_stderr
from graph.display.text import to_one_line
from graph.runs.event_log import Event
from graph.runs.trace import get_record_path, load_trace
from graph.settings import Settings
from graph.stores.thread_locks import check_thread_id, make_thread_id
from nodes.errors import UsageError
from nodes.text.counts import format_count
from nodes.text.markdown import format_answer
from nodes.tools.framework.extras import require_packages
from state import COMPLETE_STATUSES

DIFFERENT_EXIT_CODE = 3
DEMO: Final = Path(__file__).parent / "demo.record"
"""Shipped: a run by a real language model."""
DEMO_MODEL: Final = "Qwen2.5-Coder 1.5B Instruct (4 bits, llama.cpp on two processor cores)"
"""Who made it; it has the name under which the server offers the model."""
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
        if not path.exists():
            load_trace(named, settings)  # says that there is no such thread
    return read_record(path)


def show_replay(options: ReplayOptions, settings: Settings) -> int:
    """Replay a run and print its answer; return 0 if all is equal."""
    record = open_record(options.thread, settings, options.record)
    done = run_replay(record, is_paced=options.paced, quiet=options.quiet)
    if options.trace:
        save_json(done.build_trace(), options.trace, "trace", quiet=options.quiet)
    return print_replay(done, as_json=options.as_json, quiet=options.quiet)


def show_demo(*, is_fast: bool, as_json: bool, quiet: bool) -> int:
    """Replay the shipped record; print what it is, and the answer."""
    record = read_record(DEMO)
    begun = record.segments[0].begun
    # Without them the team's tools are not there, nor the examples in the prompts of the record.
    require_packages("demo", "the record's team and its prompts")
    took = max(
        (float(each["event"]["t"]) for each in record.segments[-1].entries if "event" in each),
        default=0.0,
    )
    if not quiet:
        day = str(begun["began"])[:10]
        pace = "shown at once" if is_fast else f"shown as it was, {format_seconds(took)}"
        hint = "" if is_fast else "; --fast shows it at once"
        print_to_stderr(
            f"a record of a run by {DEMO_MODEL}, made on {day}, {pace}: nothing is asked now{hint}",
            style="bold",
        )
    done = run_replay(record, is_paced=not is_fast, quiet=quiet)
    return print_replay(done, as_json=as_json, quiet=quiet)


def run_replay(record: Record, *, quiet: bool, **how: Any) -> Replayed:
    """Replay a record with progress."""
    display = ProgressDisplay(quiet=quiet)
    display.progress.thread = record.thread
    with display:
        return replay_record(record, on_event=display.show_event, **how)


def print_replay(done: Replayed, *, as_json: bool, quiet: bool) -> int:
    """Print the answer, and on stderr how equal the replay is; return the exit code."""
    if as_json:
        print_json(done.to_json())
    elif done.outcome.answer:
        print_markdown(format_answer(done.outcome.answer.model_dump(mode="json")))
    if done.outcome.error:
        print_to_stderr(f"the run ended so: {done.outcome.error.format_line()}")
    code = 0 if done.is_equal else DIFFERENT_EXIT_CODE
    if quiet:
        return code
    said, style = _describe_equality(done)
    took = f"{format_seconds(done.seconds)} (the run took {format_seconds(done.recorded_s)})"
    print_to_stderr(f"replayed in {took}: {said}", style=style)
    lost = list_unrecorded(done.record)
    for line in lost[:MAX_LISTED]:
        print_to_stderr(f"not in the record: {line}", style="yellow")
    if (more := len(lost) - MAX_LISTED) > 0:
        print_to_stderr(f"and {format_count(more, 'more part')}: --json lists all", style="yellow")
    return code


def _describe_equality(done: Replayed) -> tuple[str, str]:
    """Return what is equal, and the style in which it is shown."""
    if done.is_equal:
        said = "plan, reports, answer, bill and trace are equal"
        return f"{said}, digest {done.digest}", "green"
    if done.differing:
        return f"not equal: {', '.join(done.differing)}", "red"
    return "what its record has is equal, but the run was ended and not resumed", "yellow"


def show_what_if(options: ReplayOptions, settings: Settings) -> int:
    """Run a kept run with something changed; print what differs, and return the exit code."""
    if options.paced:
        raise UsageError("with a change nothing is paced", next="leave --paced out")
    found = _run_fork(options, options, settings)
    if options.trace:
        trace = load_trace(found.outcome.thread, settings)
        save_json(trace, options.trace, "trace", quiet=options.quiet)
    if options.as_json:
        print_json(found.to_json())
    else:
        _print_comparison(found)
    return found.outcome.exit_code


def show_fork(options: ForkOptions, settings: Settings) -> int:
    """Begin a new run at a task of a kept one; print its outcome, and return the exit code."""
    if options.is_empty:
        raise UsageError("name the task at which the new run begins", next="add --at TASK")
    outcome = _run_fork(options, options, settings, options.new).outcome
    shown = outcome.to_json()
    return print_outcome(outcome, shown, as_json=options.as_json, quiet=options.quiet)


def _run_fork(
    source: Source, options: ChangeOptions, settings: Settings, new: str | None = None
) -> Comparison:
    base = replay_record(open_record(source.thread, settings, source.record))
    changes, display = find_changes(options, base), ProgressDisplay(quiet=source.quiet)
    display.progress.thread = new = new or make_thread_id()
    again, kept = ", ".join(changes.redone), format_count(len(changes.results), "report")
    said = [f"done again: {again or 'only the answer'}; {kept} from the record"]
    if unused := [tier for tier in changes.models if not changes.redone]:
        said.append(f"no task of the run used the model of {', '.join(unused)}")

    def show(event: Event) -> None:
        while said and not source.quiet:  # the change is accepted
            print_to_stderr(said.pop(0))
        display.show_event(event)

    how: dict[str, Any] = {"team": source.team, "thread": new, "settings": settings}
    work = afork(base, changes, **how, on_event=show)
    return Comparison(base, changes, run_with_progress(work, display))


def _print_comparison(found: Comparison) -> None:
    said, error = found.to_json(), found.outcome.error
    lines = [*_list_differences(said), *found.list_answer_lines()]
    for line in () if error else lines or ["nothing differs"]:
        print_text(line)
    spent = [
        f"{used['input_tokens'] + used['output_tokens']:,} tokens, "
        + ("price unknown" if (cost := used["cost_usd"]) is None else f"{cost:.4f} USD")
        for used in said["usage"].values()
    ]
    calls = format_count(said["usage"]["after"]["model_calls"], "call")
    print_to_stderr(f"cost of the change: {calls}, {spent[1]}; of the run: {spent[0]}", style="dim")
    lacks, thread = list(_list_lacks(found)), found.outcome.thread
    for line in lacks:
        print_to_stderr(line, style="yellow")
    why = f"; why it is not whole: supervise why {thread}" if lacks else ""
    print_to_stderr(f"more: supervise show {thread}{why}", style="dim")
    if error:
        print_to_stderr(error.format_line(), style="red")


def _list_lacks(found: Comparison) -> Iterator[str]:
    """Yield why a run with a change is not whole: its status, and the gaps of its answer."""
    outcome = found.outcome
    if outcome.error or outcome.status in COMPLETE_STATUSES:
        return
    yield f"the run with the change is {format_status(outcome.status)}"
    gaps = outcome.answer.gaps if outcome.answer else ()
    yield from (f"- {to_one_line(gap, 300)}" for gap in gaps[:MAX_LISTED])
    if (more := len(gaps) - MAX_LISTED) > 0:
        yield f"and {format_count(more, 'more gap')}"


def _list_differences(said: Mapping[str, Any]) -> Iterator[str]:
    """Yield what differs in status, plan and reports, a line each."""
    if (status := said["status"])["before"] != status["after"]:
        yield f"status: {status['before']} -> {status['after']}"
    for how, named in said["plan"].items():
        if named:
            yield f"plan {how}: {', '.join(named)}"
    for name, difference in said["reports"].items():
        sides = [difference.get("status", {}).get(side, "") for side in ("before", "after")]
        if None in sides:
            yield f"{name}: {'no report before' if sides[0] is None else 'no report any more'}"
            continue
        for key, pair in difference.items():
            before, after = (_format_value(pair[side]) for side in ("before", "after"))
            yield f"{name} {key}: {before} -> {after}"


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        value = "; ".join(map(str, value))
    return to_one_line(str(value), 200) if value not in (None, "") else "nothing"
