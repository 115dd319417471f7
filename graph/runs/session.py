"""A run on a thread that this process has locked: opened, logged, and ended with an outcome."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool
from langgraph.types import StateSnapshot

from graph.around_run import BegunRun, RunRecord
from graph.extensions import find_first
from graph.otel import start_otel
from graph.runs import event_log
from graph.runs.event_log import EventListener, EventLog
from graph.runs.outcome import Outcome
from graph.runs.run_record import sign_record
from graph.runs.run_store import open_database
from graph.runs.trace import build_trace, get_log_path, usage_from_log
from graph.settings import Settings
from graph.stores.run_database import RunDatabase
from graph.stores.trace_lines import make_event
from graph.supervisor import build_supervisor
from graph.teams.team_loader import load_team
from graph.topology.answers import list_open_questions
from graph.topology.input_validation import require_grant
from graph.topology.saved_work import collect_pending_reports
from graph.topology.supervisor_graph import SupervisorGraph
from nodes.errors import (
    BudgetSpent,
    ModelError,
    ModelUnknown,
    StoreError,
    SupervisorError,
    ThreadBusy,
    require_type,
)
from nodes.limits.deadline import measure_elapsed_s, now_s
from nodes.limits.run_scope import SCOPE_KEY, RunScope, get_run_scope
from nodes.schemas.team import Team
from nodes.telemetry.cost import find_unattributed
from nodes.text.counts import format_count
from state import Context, Expense, Plan, Report, SupervisorState, Tier, Usage, enter_expenses

MAX_GRAPHS: Final = 8
"""That are kept; to compile one takes some 60 ms of processor."""


@dataclass(frozen=True)
class _Built:
    team: Team
    settings: Settings
    models: Mapping[Tier, BaseChatModel]
    tools: Mapping[str, BaseTool]
    loop: asyncio.AbstractEventLoop
    """What a graph keeps, such as its agents, was made on it."""
    graph: SupervisorGraph

    def serves(
        self,
        team: Team,
        settings: Settings,
        models: Mapping[Tier, BaseChatModel],
        tools: Mapping[str, BaseTool],
    ) -> bool:
        """Return whether a run with these would get an equal graph; objects must be the same."""
        is_here = self.loop is asyncio.get_running_loop()
        has_objects = _hold_same(self.models, models) and _hold_same(self.tools, tools)
        is_equal = self.team == team and _list_parts(self.settings) == _list_parts(settings)
        return is_here and has_objects and is_equal


_built: Final = list[_Built]()


def build_run_graph(
    team: Team,
    settings: Settings,
    database: RunDatabase,
    *,
    models: Mapping[Tier, BaseChatModel] | None = None,
    tools: Mapping[str, BaseTool] | None = None,
) -> SupervisorGraph:
    """Return the graph of a team that saves into a run's database.

    Raises:
        SettingsInvalid, TeamInvalid: as `build_supervisor`.
    """
    models = require_type("models", models, Mapping)
    tools = require_type("tools", tools, Mapping)
    given = dict(models or {}), dict(tools or {})
    found = next((each for each in _built if each.serves(team, settings, *given)), None)
    if found is None:
        graph = build_supervisor(team, settings=settings, models=given[0], tools=given[1])
        found = _Built(team, settings, *given, asyncio.get_running_loop(), graph)
    kept = [each for each in _built if each is not found and not each.loop.is_closed()]
    _built[:] = [found, *kept[: MAX_GRAPHS - 1]]
    return found.graph.copy({"checkpointer": database.saver, "store": database.store})


def _list_parts(settings: Settings) -> tuple[object, ...]:
    """Return what a graph is built with; equal settings may come from other variables."""
    variables = dict(settings.sources.variables)  # a team's files name them, such as a token
    return settings, variables, settings.build_model_settings()


def _hold_same(some: Mapping[Any, object], others: Mapping[Any, object]) -> bool:
    """Return whether two mappings hold the same objects under the same keys."""
    return some.keys() == others.keys() and all(value is others[n] for n, value in some.items())


@dataclass(frozen=True)
class RunSession:
    """A thread that this process has locked."""

    thread: str
    graph: SupervisorGraph
    database: RunDatabase
    event_log: EventLog
    is_new_here: bool
    config: RunnableConfig
    team: Team
    recorder: RunRecord | None = None

    def update_scope(self, **changes: Any) -> None:
        """Change the scope of the next run of the graph."""
        scope = replace(get_run_scope(self.config), **changes)
        self.config["configurable"][SCOPE_KEY] = scope

    async def note_begin(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Write down how the run began, and its record, signed; return the record.

        Raises:
            StoreError: the line cannot be written.
        """
        noted = {"thread": self.thread, "team": self.graph.name, "started": utc_now()}
        signed = await asyncio.to_thread(sign_record, self.thread, record)
        self.event_log.write_required({"run": noted, **signed})
        return signed

    async def begin_record(self, given: Any, context: Context, *, is_resumed: bool = False) -> None:
        """Begin the record of this process, if one is kept."""
        if self.recorder is None:
            return
        begun = BegunRun(
            config=self.config,
            saver=self.database.saver,
            team=self.graph.name,
            is_resumed=is_resumed,
            asked=(),
            read_state=partial(self.graph.aget_state, self.config),
        )
        models = self.graph.name_models(context)
        await self.recorder.begin(begun, given, context, team=self.team, models=models)

    def read_logged_usage(self) -> dict[Tier, Usage]:
        """Return the request's usage by tier, as the event log records it."""
        assert self.event_log.path is not None, "a thread that is kept has a journal"
        return usage_from_log(self.event_log.path)


@asynccontextmanager
async def open_session(
    thread: str,
    source: Any,
    settings: Settings,
    listener: EventListener | None,
    context: Context,
    **made: Any,
) -> AsyncIterator[RunSession]:
    """Open a thread for a run: its database, its log, and the graph of its team.

    Args:
        source: how a resume finds the team again: a path, or a team as JSON.
        made: `models` and `tools`, as `build_supervisor` takes them.

    Raises:
        UsageError, StoreError, ThreadBusy: as `arun`.
    """
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
        began_at = now_s() - event_log.read_last_time(path)
        with EventLog(path, listener) as kept:
            recorder = find_first(lambda each: each.open_record(thread, settings))
            # Without a callback handler, the layers of LangChain around each step cost nothing.
            scope = RunScope(began_at=began_at, recorder=recorder, keep_event=kept.record_event)
            config: RunnableConfig = {"configurable": {"thread_id": thread, SCOPE_KEY: scope}}
            session = RunSession(thread, graph, database, kept, is_new_here, config, team, recorder)
            try:
                yield session
            finally:
                if recorder:
                    recorder.end()


async def run_graph(
    session: RunSession, given: Any, context: Context | None, *, is_planned: bool = False
) -> Outcome:
    """Run the graph on an input to the outcome; an error is in it."""
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
    if session.recorder:
        session.recorder.note_end(snapshot.values, error)
    return build_outcome(session, snapshot, error)


def build_outcome(
    session: RunSession, snapshot: StateSnapshot, error: SupervisorError | None
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
        session.event_log.write_entry({"asked": questions, "at": utc_now()})
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


def _build_outcome_from_log(session: RunSession, error: SupervisorError) -> Outcome:
    """Build the outcome of a run whose database is lost, from its trace."""
    values = state_from_log(session.event_log)
    error.next = "; then ".join(filter(None, (error.next, f"supervise resume {session.thread}")))
    finished_tasks = format_count(len(values.get("results", {})), "finished task")
    error.kept = f"{finished_tasks} in {session.event_log.path}"
    _report_error(session, error, finished=0)
    return Outcome.from_state(session.thread, cast(SupervisorState, values), error=error)


def _report_error(session: RunSession, error: SupervisorError, *, finished: int) -> None:
    finished_tasks = format_count(finished, "finished task")
    error.kept = error.kept or f"thread {session.thread} with {finished_tasks}"
    error.next = _advise_next_step(error, session.thread, session.team.contact)
    at_s, said = measure_elapsed_s(session.config), {"code": error.code, "message": str(error)}
    session.event_log.record_event(make_event("error", at_s, **said))


def _advise_next_step(error: SupervisorError, thread: str, contact: str) -> str:
    """Return the next step; if a model cannot be reached, the run waits and a human may do it."""
    resume = f"supervise resume {thread}"
    if not isinstance(error, ModelError | ModelUnknown) or isinstance(error, BudgetSpent):
        return error.next or resume
    then = f"{error.next}, then {resume}" if error.next else resume
    return f"{then}; or ask {contact}" if contact else then


def state_from_log(kept: EventLog) -> dict[str, Any]:
    """Return plan and finished results of an event log's last request, by state channel."""
    if kept.path is None:
        return {}
    try:
        trace = build_trace(event_log.read_log_entries(kept.path))
        reports = [task["report"] for task in trace["tasks"] if task["report"]]
        results = {report["task"]: Report.model_validate(report) for report in reports}
        plan = [Plan.model_validate(plan) for plan in trace["plans"][-1:]]
    except event_log.FORM_ERRORS:  # an earlier release wrote it, or it is damaged
        return {}
    return {"results": results, **({"plan": plan[0]} if plan else {})}


def utc_now() -> str:
    """Return the time of day in ISO form."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")
