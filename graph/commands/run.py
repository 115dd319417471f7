"""`supervise run` and `supervise resume`."""

import json
import sys
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from graph.commands.cancellation import run_cancellable
from graph.commands.options import ResumeOptions, RunOptions, build_context
from graph.commands.output import (
    announce_file,
    print_json,
    print_markdown,
    read_json_file,
    save_json,
    save_report,
)
from graph.commands.process import Cancelled
from graph.commands.runs import LAST, RunsHere, find_thread
from graph.commands.stdin import read_files, read_request_text
from graph.display.labels import format_status
from graph.display.progress_display import ProgressDisplay
from graph.display.stderr_console import print_to_stderr
from graph.display.streams import announce_start, is_terminal, print_to_stdout
from graph.display.summary import (
    format_certificate,
    format_figures,
    format_more,
    format_plan,
    format_question,
    format_reply_command,
    format_result,
    format_retry,
    format_way_out,
)
from graph.extensions import RunSource
from graph.runs.event_log import Event
from graph.runs.outcome import NOT_DONE_EXIT_CODE, Outcome
from graph.runs.plan_only import aplan_with_estimate
from graph.runs.run_view import RunView
from graph.runs.runner import aresume, arun
from graph.runs.trace import build_trace, load_trace
from graph.settings import Settings
from graph.stores.thread_locks import make_thread_id
from nodes.errors import FileUnreadable, OutputFailed, SupervisorError, UsageError
from nodes.models.structured_output import UnreadableReply, read_value
from nodes.text.counts import format_estimate
from nodes.text.markdown import format_answer
from state import COMPLETE_STATUSES, Context, Plan, RunStatus

Result = TypeVar("Result")


@dataclass(frozen=True, kw_only=True)
class Job:
    """A request of the command line, and what it needs to run."""

    options: RunOptions
    files: Sequence[Path]
    materials: Mapping[str, str]
    """What was read from stdin as a file."""
    context: Context
    settings: Settings
    display: ProgressDisplay
    certificates: list[Mapping[str, Any]] = field(default_factory=list)

    @property
    def plan(self) -> Plan | None:
        """The plan of `--plan`; None without.

        Raises:
            FileUnreadable: it cannot be read.
        """
        if self.options.plan is None:
            return None
        fields = read_json_file(self.options.plan, "plan")
        try:
            return read_value(fields, Plan)
        except UnreadableReply as error:
            raise FileUnreadable(
                f"cannot read the plan {self.options.plan}", cause=str(error)
            ) from None

    def keep_certificate(self, certificate: Mapping[str, Any]) -> None:
        """Keep the certificate of the plan for what is printed; write it where asked."""
        self.certificates.append(certificate)
        if path := self.options.certificate_file:
            save_json(certificate, path)

    def add_certificate(self, shown: dict[str, Any]) -> dict[str, Any]:
        """Return what is printed as JSON, with the certificate if it was asked for."""
        is_asked = self.certificates and self.options.certificate_file
        return {**shown, "certificate": self.certificates[-1]} if is_asked else shown

    @property
    def parts(self) -> dict[str, Any]:
        """What a run and a plan have in common, as `arun` and `aplan_with_estimate` name it."""
        given = {"files": self.files, "materials": self.materials}
        return {
            **given,
            "team": self.options.team,
            "context": self.context,
            "settings": self.settings,
        }


def prepare_job(options: RunOptions, settings: Settings, display: ProgressDisplay) -> Job:
    """Return a job, or raise UsageError; a file may be read from stdin, as `read_files`."""
    more = options.more_files or []  # as a shell writes them for `--file *.md`
    if missing := next((each for each in more if not each.exists()), None):
        raise UsageError(
            f"after the request come files, and {str(missing)!r} is none",
            next='write the request between quotation marks: supervise run "…"',
        )
    files, materials = read_files([*(options.file or []), *more], options.request)
    return Job(
        options=options,
        files=files,
        materials=materials,
        context=build_context(vars(options)),
        settings=settings,
        display=display,
    )


def run(job: Job) -> int:
    """Run a request, print its outcome, and return the exit code."""
    outcome = run_job(job, read_request_text(job.options.request))
    return print_outcome(outcome, job.add_certificate(outcome.to_json()), **job.options.how)


def run_job(job: Job, request: str, **more: Any) -> Outcome:
    """Run a request to its outcome, with progress; write its trace and its report where asked.

    Args:
        more: further options of `arun`.
    """
    display, options = job.display, job.options
    thread = options.thread or make_thread_id()
    # A new run may be kept under any other name.
    display.progress.thread = (
        find_thread(LAST, RunsHere(job.settings)) if thread == LAST else thread
    )
    listener = job.keep_certificate if options.certificate_file else None
    given = {**job.parts, "plan": job.plan, "on_certificate": listener, **more}
    work = partial(arun, request, thread=display.progress.thread, **given)
    with report_errors_as_json(display, as_json=options.as_json):
        outcome = run_with_progress(work(**_listen(display, job.settings)), display)
        outcome = _answer_at_terminal(outcome, display, job.settings)
    _save_records(job, lambda: load_trace(outcome.thread, job.settings))
    return outcome


def _save_records(job: Job, read_trace: Callable[[], Mapping[str, Any]]) -> None:
    """Write the trace and the report of a run where asked, and say where its certificate is."""
    options = job.options
    if job.certificates and options.certificate_file and not options.quiet:
        announce_file("certificate", options.certificate_file)
    if options.trace:
        save_json(read_trace(), options.trace, "trace", quiet=options.quiet)
    if options.report:
        save_report(read_trace(), options.report, quiet=options.quiet)


def resume(thread: str, options: ResumeOptions, runs: RunSource) -> int:
    """Resume a thread, print its outcome, and return the exit code."""
    quiet, context = options.quiet, build_context(vars(options))
    display = ProgressDisplay(quiet=quiet, shows_answer=not options.as_json)
    display.progress.thread = thread
    work = partial(runs.resume, thread, team=options.team)
    listeners = _listen(display, runs.settings)
    with report_errors_as_json(display, as_json=options.as_json):
        trace = runs.load_trace(thread)
        is_done = (trace.get("run") or {}).get("status") in COMPLETE_STATUSES
        if not quiet:
            announce_start(f"resuming thread {thread}{runs.place}")
        with runs.refuse_other_forms(thread):
            for event in trace["events"]:
                display.progress.apply_event(event)
        describe = partial(_describe_run_there, runs) if runs.url else _describe_kept_work
        begun = work(answer=options.answer, context=context, **listeners)
        outcome = run_with_progress(begun, display, describe)
        if not runs.url:
            outcome = _answer_at_terminal(outcome, display, runs.settings, options.team)
    if options.report:
        save_report(runs.load_trace(thread), options.report, quiet=quiet)
    named = runs.name_thread(thread)
    with runs.refuse_other_forms(thread):
        code = print_outcome(outcome, outcome.to_json(), named=named, **options.how)
    if is_done and not quiet:
        follow_up = "" if runs.url else f" next: supervise run REQUEST --thread {thread}"
        print_to_stderr(f"the run was done before, its answer is shown again.{follow_up}")
    return code


def _describe_run_there(runs: RunSource, view: RunView) -> str:
    next_step = f"next: supervise resume {runs.name_thread(view.thread)}"
    return f"left: the run continues{runs.place}. {next_step}"


def show_plan(job: Job) -> int:
    """Print the plan of a request, as JSON unless a terminal shows it; run nothing."""
    events: list[Event] = []

    def show_event(event: Event) -> None:
        events.append(event)
        job.display.show_event(event)

    request, given = read_request_text(job.options.request), {"plan": job.plan, **job.parts}
    given |= {"on_event": show_event, "on_certificate": job.keep_certificate}
    work = aplan_with_estimate(request, **given)
    try:
        plan, estimate = run_with_progress(work, job.display)
    finally:
        _save_records(job, lambda: build_trace(events))
    expected = estimate.model_dump(mode="json", exclude={"simulated"})
    shown = {**plan.model_dump(mode="json"), "estimate": expected}
    if is_terminal(sys.stdout) and not job.options.as_json:
        print_to_stdout("\n".join(format_plan(shown)))
    else:
        print_json(job.add_certificate(shown))
    if plan.is_by_rule:
        print_to_stderr(f"the plan was made by rule, for no valid one came: {plan.rule_reason}")
    if not job.options.quiet:
        certified = (line for each in job.certificates for line in format_certificate(each))
        for line in (f"expected: {format_estimate(estimate.model_dump())}", *certified):
            print_to_stderr(line, style="dim")
    return 0


def print_outcome(
    outcome: Outcome,
    shown: Mapping[str, Any],
    *,
    as_json: bool,
    quiet: bool,
    verbose: bool = False,
    named: str = "",
    require: RunStatus | None = None,
) -> int:
    """Print an outcome, of which `shown` is the JSON, and return the exit code.

    Args:
        verbose: all figures, not time and cost alone.
        named: the thread as the commands that are advised name it; its id without.
    """
    named = named or outcome.thread
    try:
        if as_json:
            print_json(shown)
        elif outcome.answer:
            print_markdown(format_answer(shown["answer"]))
    except OutputFailed as error:
        error.kept = f"thread {outcome.thread}, {outcome.status}"
        error.next = f"{error.next}: supervise show {named}"
        raise
    if not quiet:
        figures = (outcome.thread, outcome.status, shown["timing"], shown["usage"])
        lines = format_figures(*figures) if verbose else [format_result(*figures)]
        for line in [*lines, *format_more("more", named, outcome.status, shown["usage"])]:
            print_to_stderr(line, style="dim")
    _print_next_step(outcome, named)
    code = outcome.exit_code
    if require and outcome.status != require and not code:
        print_to_stderr(f"not {require}: {format_status(outcome.status)}", style="yellow")
        return NOT_DONE_EXIT_CODE
    return code


def _print_next_step(outcome: Outcome, named: str) -> None:
    if outcome.error:
        print_to_stderr(outcome.error.format_line(), style="red")
    elif outcome.status == "failed":
        print_to_stderr(format_retry(named, lacks_file=outcome.lacks_file))
    if outcome.questions:
        _print_questions(outcome, named)


def _describe_kept_work(view: RunView) -> str:
    done = [task.id for task in view.list_tasks() if task.status == "completed"]
    if not view.request or not view.thread:
        return "stopped. kept: nothing, the run had not begun"
    kept = f"tasks {', '.join(done)}" if done else "the request"
    return f"stopped. kept: {kept}. next: supervise resume {view.thread}"


@contextmanager
def report_errors_as_json(display: ProgressDisplay, *, as_json: bool) -> Iterator[None]:
    """Print the JSON object also for a run that could not begin; the error is raised again."""
    try:
        yield
    except SupervisorError as error:
        display.close()
        if as_json:
            thread = display.progress.thread
            print_json(Outcome(thread=thread, status="failed", error=error).to_json())
        raise


def run_with_progress(
    work: Coroutine[Any, Any, Result],
    display: ProgressDisplay,
    describe_kept: Callable[[RunView], str] = _describe_kept_work,
) -> Result:
    """Run with progress on the screen; Ctrl-C prints what is kept."""
    with display:

        def farewell() -> str:
            display.close()
            return describe_kept(display.progress)

        return run_cancellable(work, farewell=farewell)


def _listen(display: ProgressDisplay, settings: Settings) -> dict[str, Any]:
    """Return the listeners of a run: to its events, and to its answer where that can be shown.

    A model whose user has switched streams off is not asked for one.
    """
    is_shown = settings.stream is not False and display.can_show_answer
    on_answer_text = display.show_answer_text if is_shown else None
    return {"on_event": display.show_event, "on_answer_text": on_answer_text}


def _answer_at_terminal(
    outcome: Outcome, display: ProgressDisplay, settings: Settings, team: str | None = None
) -> Outcome:
    """Ask the user at the terminal the run's questions, one after another."""
    while outcome.questions and _is_interactive():
        question = outcome.questions[0]
        for line in format_question(question):
            print_to_stderr(line)
        print_to_stderr("Enter alone: answer it later", style="dim")
        print_to_stderr("> ")
        try:
            reply = sys.stdin.readline().strip()
        except KeyboardInterrupt:
            kept = f"stopped. kept: thread {outcome.thread}, which waits for the answer"
            raise Cancelled(
                f"\n{kept}. {format_reply_command(outcome.thread, outcome.questions)}"
            ) from None
        if not reply:
            break
        answer = reply if len(outcome.questions) == 1 else json.dumps({question["id"]: reply})
        given = {"team": team, "settings": settings, **_listen(display, settings)}
        work = aresume(outcome.thread, answer=answer, **given)
        outcome = run_with_progress(work, display)
    return outcome


def _is_interactive() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _print_questions(outcome: Outcome, named: str) -> None:
    """Print the open questions, and how to answer later."""
    # The user at the terminal has just seen the first.
    for question in outcome.questions[1 if _is_interactive() else 0 :]:
        for line in format_question(question):
            print_to_stderr(line)
    print_to_stderr(format_way_out(named, outcome.questions), style="dim")
    print_to_stderr(format_reply_command(named, outcome.questions))
