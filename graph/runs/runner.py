"""Runs a team on a saved thread: opened, locked, logged, and resumable."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.types import StateSnapshot

from graph.otel import start_otel
from graph.runs import event_log as journal
from graph.runs.event_log import EventListener, EventLog
from graph.runs.follow_up import add_thread_materials
from graph.runs.log_recovery import state_from_log
from graph.runs.materials import build_input
from graph.runs.outcome import Outcome
from graph.runs.questions import build_answer_command
from graph.runs.resumption import has_unfinished_work
from graph.runs.run_graphs import build_run_graph
from graph.runs.run_record import (
    OWN_KEY,
    load_run_record,
    lower_caps,
    require_known_team,
    save_run_record,
    sign_record,
)
from graph.runs.run_store import RunDatabase, open_database
from graph.runs.trace import get_log_path, usage_from_log
from graph.settings import Settings
from graph.stores.thread_locks import check_thread_id, make_thread_id
from graph.teams.default_team import DEFAULT_TEAM
from graph.teams.team_loader import find_team, load_team
from graph.topology.answers import list_open_questions
from graph.topology.blocking_portal import get_portal
from graph.topology.continuation import build_reopen_command, is_in_progress
from graph.topology.input_validation import read_context, require_grant
from graph.topology.pending_writes import collect_pending_reports
from graph.topology.run_start import build_changes_event, list_team_changes, merge_context
from graph.topology.stop_watch import has_stop_requests
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import (
    BudgetSpent,
    ModelError,
    ModelUnknown,
    StoreError,
    SupervisorError,
    ThreadBusy,
    UsageError,
)
from nodes.limits.deadline import get_elapsed_s, now_s
from nodes.limits.run_scope import SCOPE_KEY, RunScope, get_run_scope, set_deadline
from nodes.schemas.team import Team
from nodes.telemetry.cost import find_unattributed
from nodes.text.counts import format_count
from nodes.tools.framework.extras import require_packages
from state import (
    COMPLETE_STATUSES,
    Context,
    Expense,
    Plan,
    SupervisorState,
    Tier,
    Usage,
    enter_expenses,
)

AnswerListener = Callable[[str], None]


class ThreadUnfinished(UsageError):
    """A new request cannot begin on a thread whose run was cut short."""

    code = "THREAD_UNFINISHED"


@dataclass(frozen=True)
class _RunSession:
    """A thread that this process has locked."""

    thread: str
    graph: SupervisorGraph
    database: RunDatabase
    event_log: EventLog
    is_new_here: bool
    config: RunnableConfig
    team: Team

    def update_scope(self, **changes: Any) -> None:
        """Change the scope of the next run of the graph."""
        scope = replace(get_run_scope(self.config), **changes)
        self.config["configurable"][SCOPE_KEY] = scope

    def read_logged_usage(self) -> dict[Tier, Usage]:
        """Return the request's usage by tier, as the event log records it."""
        assert self.event_log.path is not None, "a thread that is kept has a journal"
        return usage_from_log(self.event_log.path)


def run(request: str, **options: Any) -> Outcome:
    """Run a request to its outcome from synchronous code; the options are those of `arun`."""
    return get_portal().call(arun(request, **options))


def resume(thread: str, **options: Any) -> Outcome:
    """Resume a thread from synchronous code; the options are those of `aresume`."""
    return get_portal().call(aresume(thread, **options))


async def arun(
    request: str,
    *,
    team: str | Path | Team = DEFAULT_TEAM,
    files: Sequence[str | Path] = (),
    materials: Mapping[str, str] | None = None,
    thread: str | None = None,
    context: Context | Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    on_event: EventListener | None = None,
    on_answer_text: AnswerListener | None = None,
    plan: Plan | None = None,
    models: Mapping[Tier, BaseChatModel] | None = None,
    tools: Mapping[str, BaseTool] | None = None,
) -> Outcome:
    """Run a request to its outcome. An error after the run began is in `Outcome.error`.

    Args:
        files: documents and folders of documents that become materials of the request.
        materials: further materials, name to text.
        thread: continues that thread with its history and materials; a new material replaces an
            earlier one of the same name. Without it a new thread is created.
        on_event: called with each event of the trace as it happens.
        on_answer_text: called with the answer's text so far, some times a second, while a model
            writes it; the model is then asked for a stream.
        plan: is run instead of one that the planner makes; it is checked like any other plan.
        models, tools: objects of your own, as `build_supervisor` takes them; a resume needs them
            again.

    Raises:
        UsageError: the request, the team, a file or a setting cannot be used.
        StoreError: the run database cannot be used.
        ThreadBusy: the thread is running elsewhere.
    """
    settings = settings or Settings()
    context, begun = read_context(context), now_s()
    source = _resolve_team_source(team, settings)
    # Before the files are read: reading them needs some of the packages.
    await asyncio.to_thread(require_packages, _get_team_name(source))
    given = await build_input(request, files, materials, context, on_event)
    thread = check_thread_id(thread or make_thread_id())
    made = {"models": models, "tools": tools}
    async with _open_session(thread, source, settings, on_event, context, **made) as session:
        # The deadline counts from before the files were read.
        deadline = set_deadline(begun, session.team.add_caps(context).deadline_s)
        session.update_scope(deadline=deadline, given_plan=plan)
        session.update_scope(on_answer_text=on_answer_text)
        snapshot = await session.graph.aget_state(session.config)
        if has_unfinished_work(snapshot):
            raise ThreadUnfinished(
                f"thread {thread!r} holds a run that has not ended",
                kept="what it has finished",
                next=f"supervise resume {thread}, or choose another --thread",
            )
        given, materials_kept = add_thread_materials(snapshot.values, given)
        session.update_scope(kept_materials=tuple(materials_kept))
        noted = {"thread": thread, "team": session.graph.name, "started": _utc_now()}
        kept = {"source": source, "input": given, "context": asdict(context)}
        kept = await asyncio.to_thread(sign_record, thread, kept)
        session.event_log.write_required({"run": noted, **kept})
        await save_run_record(thread, kept, session.database, settings)
        return await _run_graph(session, given, context)


async def aresume(
    thread: str,
    *,
    answer: str | None = None,
    team: str | Path | Team | None = None,
    context: Context | Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    on_event: EventListener | None = None,
    on_answer_text: AnswerListener | None = None,
    models: Mapping[Tier, BaseChatModel] | None = None,
    tools: Mapping[str, BaseTool] | None = None,
) -> Outcome:
    """Resume a thread after a kill, an error, a question or a partial result.

    Completed tasks are not repeated. For a thread that is done, its outcome is returned again.

    Args:
        answer: to the thread's open question; with several open, JSON keyed by task.
        team: of a run whose record is not this user's, such as one in a copied folder.
        context: settings of the run to change; deadline and budget restart.
        models, tools: the objects that the run was begun with.

    Raises:
        SettingsInvalid: a setting of the context cannot be used.
        ThreadUnknown: no run has this thread id here.
        RunUntrusted: the record, which names the team, is not this user's, and `team` is missing.
        TeamChanged: the team's files have changed since the run began.
        NoOpenQuestion, AnswerUnclear: `answer` cannot be assigned to one open question.
        StoreError: the run database cannot be used.
        ThreadBusy: the thread is running elsewhere.
    """
    settings, given = settings or Settings(), read_context(context)
    accepted = await load_run_record(check_thread_id(thread), settings)
    is_own, made = accepted.pop(OWN_KEY), {"models": models, "tools": tools}
    source = accepted["source"] if team is None else _resolve_team_source(team, settings)
    if team is None and not is_own:
        require_known_team(thread, source, settings)
    saved = read_context(accepted.get("context"))
    context = merge_context(saved if is_own else Context(), given)
    async with _open_session(thread, source, settings, on_event, context, **made) as session:
        if session.is_new_here:  # another machine began it
            noted = {"thread": thread, "team": session.graph.name, "started": _utc_now()}
            signed = await asyncio.to_thread(sign_record, thread, accepted)
            session.event_log.write_required({"run": noted, **signed})
        if not is_own:
            context = merge_context(lower_caps(saved, session.team), given)
            session.update_scope(ignores_saved_context=True)
        changes = await list_team_changes(
            session.team.apply_context(context),
            session.database.saver,
            session.config,
            request=accepted["input"]["request"],
        )
        snapshot = await session.graph.aget_state(session.config, subgraphs=True)
        values, questions = cast(SupervisorState, snapshot.values), list_open_questions(snapshot)
        command = None if answer is None else build_answer_command(thread, questions, answer)
        store = session.database.store
        if questions and command is None and not await has_stop_requests(store, thread):
            return _build_outcome(session, snapshot, None)
        is_running = is_in_progress(snapshot)
        is_begun = is_running or values.get("request") == accepted["input"]["request"]
        if is_begun and not is_running and values.get("status") in COMPLETE_STATUSES:
            return Outcome.from_state(thread, values)
        session.event_log.write_entry({"resumed": _utc_now()})
        if changes:
            session.event_log.record_event(
                build_changes_event(changes, get_elapsed_s(session.config))
            )
        session.update_scope(
            read_logged_usage=session.read_logged_usage, on_answer_text=on_answer_text
        )
        if is_running:
            return await _run_graph(session, command, context, is_planned=True)
        # A run that was killed before its first checkpoint starts again from the accepted input.
        again = build_reopen_command(values) if is_begun else None
        return await _run_graph(session, again or accepted["input"], context)


@asynccontextmanager
async def _open_session(
    thread: str,
    source: Any,
    settings: Settings,
    listener: EventListener | None,
    context: Context,
    **made: Any,
) -> AsyncIterator[_RunSession]:
    settings.export_tracing()
    await asyncio.to_thread(start_otel, settings)  # its packages are slow to import
    named = Team.model_validate(source) if isinstance(source, dict) else source
    team = load_team(named, settings, tools=made["tools"])
    require_grant(team, context)
    left_s = team.add_caps(context).deadline_s
    async with open_database(thread, settings, left_s=left_s) as database:
        graph = build_run_graph(team, settings, database, **made)
        path = get_log_path(thread, settings)
        is_new_here = not path.exists() or not path.stat().st_size
        began_at = now_s() - journal.read_last_time(path)
        with EventLog(path, listener) as kept:
            config: RunnableConfig = {
                "configurable": {"thread_id": thread, SCOPE_KEY: RunScope(began_at=began_at)},
                "callbacks": [kept],
            }
            yield _RunSession(thread, graph, database, kept, is_new_here, config, team)


async def _run_graph(
    session: _RunSession, given: Any, context: Context | None, *, is_planned: bool = False
) -> Outcome:
    error: SupervisorError | None = None
    try:
        if is_planned:  # otherwise the supervisor prepares while its planner is at work
            await session.graph.prepare(session.team.apply_context(context or Context()))
        await session.graph.ainvoke(given, session.config, context=context)
    except (StoreError, ThreadBusy) as raised:  # the database cannot be read any more
        return _build_outcome_from_log(session, raised)
    except SupervisorError as raised:
        error = raised
    except BaseException as raised:  # a cancel too: the event log must not show a running run
        session.event_log.write_entry({"stopped": type(raised).__name__})
        raise
    try:
        snapshot = await session.graph.aget_state(session.config, subgraphs=True)
    except (StoreError, ThreadBusy) as raised:
        return _build_outcome_from_log(session, raised)
    return _build_outcome(session, snapshot, error)


def _build_outcome(
    session: _RunSession, snapshot: StateSnapshot, error: SupervisorError | None
) -> Outcome:
    """Build the outcome from the state in which a run has ended or waits."""
    values, questions = dict(snapshot.values), list_open_questions(snapshot)
    if values.get("planned_for") != values.get("request"):  # the state is of an earlier request
        values = {}
    if error:
        values["results"] = {**values.get("results", {}), **collect_pending_reports(snapshot)}
        values["ledger"] = _add_lost_usage(values.get("ledger", {}), error, session.team)
        _report_error(session, error, finished=len(values["results"]))
    elif questions:
        session.event_log.write_entry({"asked": questions})
    if error or questions:
        ledger = values.get("ledger", {})
        values["ledger"] = {
            **ledger,
            **find_unattributed(ledger, session.read_logged_usage(), is_over=False),
        }
    return Outcome.from_state(
        session.thread, cast(SupervisorState, values), error=error, questions=questions
    )


def _add_lost_usage(
    ledger: Mapping[str, Expense], error: SupervisorError, team: Team
) -> Mapping[str, Expense]:
    """Return a ledger with the usage before an error, which no step could record."""
    if error.usage is None or not error.usage.model_calls:
        return ledger
    lost = Expense(worker="supervisor", tier=team.planner_tier, usage=error.usage, purpose="lost")
    return {**ledger, **enter_expenses(lost)}


def _build_outcome_from_log(session: _RunSession, error: SupervisorError) -> Outcome:
    """Build the outcome of a run whose database is lost, from its trace."""
    values = state_from_log(session.event_log)
    error.next = "; then ".join(filter(None, (error.next, f"supervise resume {session.thread}")))
    finished_tasks = format_count(len(values.get("results", {})), "finished task")
    error.kept = f"{finished_tasks} in {session.event_log.path}"
    _report_error(session, error, finished=0)
    return Outcome.from_state(session.thread, cast(SupervisorState, values), error=error)


def _report_error(session: _RunSession, error: SupervisorError, *, finished: int) -> None:
    finished_tasks = format_count(finished, "finished task")
    error.kept = error.kept or f"thread {session.thread} with {finished_tasks}"
    error.next = _advise_next_step(error, session.thread, session.team.contact)
    session.event_log.record_event(
        {
            "t": get_elapsed_s(session.config),
            "kind": "error",
            "task": "",
            "worker": "",
            "code": error.code,
            "message": str(error),
        }
    )


def _advise_next_step(error: SupervisorError, thread: str, contact: str) -> str:
    """Return the next step; if a model cannot be reached, the run waits and a human may do it."""
    resume = f"supervise resume {thread}"
    if not isinstance(error, ModelError | ModelUnknown) or isinstance(error, BudgetSpent):
        return error.next or resume
    then = f"{error.next}, then {resume}" if error.next else resume
    return f"{then}; or ask {contact}" if contact else then


def _resolve_team_source(team: str | Path | Team, settings: Settings) -> str | dict[str, Any]:
    """Return the reference by which a resume finds the team again."""
    if isinstance(team, Team):
        return team.model_dump(mode="json")
    return str(find_team(team, settings).resolve())


def _get_team_name(source: str | Mapping[str, Any]) -> str:
    return Path(source).name if isinstance(source, str) else str(source["name"])


def _utc_now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
