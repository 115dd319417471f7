"""`supervise run` and `supervise resume`."""

import json
import sys
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from graph.cancelling import run_cancellable
from graph.closing import answer_markdown, estimate_line, figures, question_lines, reply_line
from graph.commands.screen import put_json, put_markdown, save_json
from graph.display import Display
from graph.leaving import Cancelled
from graph.outcome import Outcome
from graph.progress import Board
from graph.runner import adraft, aresume, arun
from graph.settings import Settings
from graph.terminal import remark
from graph.threads import checked, new_thread
from graph.trace import load_trace
from nodes.errors import RequestInvalid, SupervisorError
from state import Context

MAX_STDIN_BYTES: Final = 10_000_000

Result = TypeVar("Result")


def run(
    request: str,
    *,
    display: Display,
    team: str,
    files: Sequence[Path],
    thread: str | None,
    context: Context,
    settings: Settings,
    as_json: bool,
    quiet: bool,
    trace_to: Path | None,
) -> int:
    """Run a request, show its outcome, and give the exit code."""
    thread = display.board.thread = thread or new_thread()
    words = read_words(request)
    work = partial(arun, words, team=team, files=files, thread=thread, context=context)
    with _told_in_json(display, as_json=as_json):
        outcome = _watched(partial(work, settings=settings), display)
        outcome = _answered(outcome, display, settings)
    if trace_to:
        save_json(load_trace(outcome.thread, settings), trace_to)
    return _show(outcome, as_json=as_json, quiet=quiet)


def resume(
    thread: str,
    *,
    display: Display,
    answer: str | None,
    context: Context,
    settings: Settings,
    as_json: bool,
    quiet: bool,
) -> int:
    """Go on with a thread, show its outcome, and give the exit code."""
    display.board.thread = thread
    work = partial(aresume, thread, answer=answer, context=context, settings=settings)
    with _told_in_json(display, as_json=as_json):
        for event in load_trace(checked(thread), settings)["events"]:
            display.board.hear(event)
        outcome = _watched(work, display)
        outcome = _answered(outcome, display, settings)
    return _show(outcome, as_json=as_json, quiet=quiet)


def show_plan(
    request: str,
    *,
    display: Display,
    team: str,
    files: Sequence[Path],
    context: Context,
    settings: Settings,
    quiet: bool,
) -> int:
    """Print the plan of a request as JSON, with what it will cost; nothing of it is run."""
    work = partial(
        adraft, read_words(request), team=team, files=files, context=context, settings=settings
    )
    plan, estimate = _watched(work, display)
    put_json({**plan.model_dump(mode="json"), "estimate": estimate.model_dump(mode="json")})
    if not quiet:
        remark(estimate_line(estimate.model_dump()), style="dim")
    return 0


def read_words(request: str) -> str:
    """Give the request's words; `-` stands for stdin. What is no text is replaced.

    Raises:
        RequestInvalid: stdin holds far too much.
    """
    if request != "-":
        raw = request.encode("utf-8", errors="surrogateescape")
    elif sys.stdin is None:
        raw = b""
    else:
        raw = sys.stdin.buffer.read(MAX_STDIN_BYTES + 1)
    if len(raw) > MAX_STDIN_BYTES:
        raise RequestInvalid(f"the request is too large: more than {MAX_STDIN_BYTES:,} bytes")
    return raw.decode("utf-8-sig", errors="replace").replace("\0", "\N{REPLACEMENT CHARACTER}")


@contextmanager
def _told_in_json(display: Display, *, as_json: bool) -> Iterator[None]:
    """Give a script its object also when the run could not begin; the error goes on its way."""
    try:
        yield
    except SupervisorError as error:
        display.close()
        if as_json:
            thread = display.board.thread
            put_json(Outcome(thread=thread, status="failed", error=error).to_json())
        raise


def _watched(work: Callable[..., Coroutine[Any, Any, Result]], display: Display) -> Result:
    """Run with progress on the screen; Ctrl-C says what is kept."""
    with display:

        def farewell() -> str:
            display.close()
            return _farewell(display.board)

        return run_cancellable(work(on_event=display.hear), farewell=farewell)


def _answered(outcome: Outcome, display: Display, settings: Settings) -> Outcome:
    """Ask the person at the terminal what the run asks, one question after another."""
    while outcome.questions and _is_person_there():
        question = outcome.questions[0]
        for line in question_lines(question):
            remark(line)
        remark("> ")
        try:
            reply = sys.stdin.readline().strip()
        except KeyboardInterrupt:
            kept = f"cancelled. kept: thread {outcome.thread}, which waits for the answer"
            raise Cancelled(f"\n{kept}. {reply_line(outcome.thread, outcome.questions)}") from None
        if not reply:
            break
        told = reply if len(outcome.questions) == 1 else json.dumps({question["id"]: reply})
        work = partial(aresume, outcome.thread, answer=told, settings=settings)
        outcome = _watched(work, display)
    return outcome


def _farewell(board: Board) -> str:
    done = board.done()
    if not board.team or not board.thread:
        return "cancelled. kept: nothing had begun"
    kept = f"tasks {', '.join(done)}" if done else "the request"
    return f"cancelled. kept: {kept}. next: supervise resume {board.thread}"


def _show(outcome: Outcome, *, as_json: bool, quiet: bool) -> int:
    shown = outcome.to_json()
    if as_json:
        put_json(shown)
    elif outcome.answer:
        put_markdown(answer_markdown(shown["answer"]))
    if not quiet:
        for line in figures(outcome.thread, outcome.status, outcome.timing, shown["usage"]):
            remark(line, style="dim")
        remark(f"more: supervise show {outcome.thread}", style="dim")
    if outcome.error:
        remark(outcome.error.line(), style="red")
    if outcome.questions:
        _ask(outcome)
    return outcome.exit_code


def _is_person_there() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _ask(outcome: Outcome) -> None:
    """Say what the run waits for, and how to answer later."""
    # A person has just seen the first.
    for question in outcome.questions[1 if _is_person_there() else 0 :]:
        for line in question_lines(question):
            remark(line)
    remark(reply_line(outcome.thread, outcome.questions))
