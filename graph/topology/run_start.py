"""Where a run starts: new, from the checkpoint of the run that it resumes, or opened again."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any, Final

from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import ensure_config
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, StateSnapshot
from pydantic import BaseModel

from graph.topology.input_validation import read_context
from graph.topology.saved_work import collect_ledger, collect_pending_reports
from nodes.errors import UsageError
from nodes.limits.budget import Budget
from nodes.limits.deadline import now_s
from nodes.limits.langgraph_keys import RESUMING_KEY, RUNTIME_KEY
from nodes.limits.nesting import parse_json
from nodes.limits.run_scope import SCOPE_KEY, Deadline, Pace, RunScope, get_run_scope, set_deadline
from nodes.planning.certificates import lower_to_certificate
from nodes.planning.team_record import require_same_team
from nodes.schemas.team import Team
from state import (
    COMPLETE_STATUSES,
    REOPENED,
    Context,
    Report,
    SupervisorState,
    Usage,
    WorkerOutput,
    merge_ledger,
    reopen_request,
)

CONTINUE_KEY: Final = "continue_run"
"""Of an input that asks to continue the thread's run, whatever state that is in: Aegra refuses a
run without an input, and a resume of a thread on which no question is open."""


class NothingToContinue(UsageError):
    """The thread's run is done, or there is none."""


def asks_to_continue(input: Any) -> bool:
    """Return whether an input asks to continue the thread's run."""
    return isinstance(input, Mapping) and input.get(CONTINUE_KEY) is True


def build_continuation(snapshot: StateSnapshot) -> Command[Any] | None:
    """Return the input with which a run continues; None for one that is in progress.

    Raises:
        NothingToContinue: the run is done, or the thread holds none.
    """
    if is_in_progress(snapshot):
        return None
    values: SupervisorState = snapshot.values  # type: ignore[assignment]  # the state's own type
    command = build_reopen_command(values)
    if command is None:
        is_done = values.get("status") in COMPLETE_STATUSES
        what = "the run is done" if is_done else "the thread holds no run"
        raise NothingToContinue(what, kept="the thread as it is", next="send a new request")
    return command


def is_in_progress(snapshot: StateSnapshot) -> bool:
    """Return whether a thread stopped in the middle of a run.

    Its `next` is empty in between, where all nodes of a superstep have returned and the next one
    was not begun.
    """
    return bool(snapshot.tasks)


def build_reopen_command(values: SupervisorState) -> Command[Any] | None:
    """Build the command that reopens an incomplete run: results are kept, caps restart.

    A plan by rule without a complete result is made again.
    """
    if values.get("status") not in ("partial", "failed"):
        return None
    kept, plan = _select_complete_results(values), values.get("plan")
    update = reopen_request(kept, values["ledger"].values())
    if plan is not None and plan.is_by_rule and not kept:
        update["planned_for"] = REOPENED  # a model may be reached by now
    return Command(update=update, goto="supervisor")


def _select_complete_results(values: SupervisorState) -> dict[str, Report]:
    """Return the completed results, except partial ones and those that depend on them."""
    results, plan = values.get("results", {}), values.get("plan")
    redone = {name for name, report in results.items() if report.is_partial}
    for task in plan.order_tasks() if plan else ():
        if any(edge.task in redone for edge in task.depends_on):
            redone.add(task.id)
    return {n: r for n, r in results.items() if r.status == "completed" and n not in redone}


def has_unfinished_work(snapshot: StateSnapshot) -> bool:
    """Return whether a thread has unfinished work; a request without a plan may be replaced."""
    values = snapshot.values
    is_planned = values.get("planned_for") == values.get("request") and not values.get("objection")
    if is_planned and values.get("status") == "running":
        return True  # also if the team has lost the workers that would run next
    return is_in_progress(snapshot) and (is_planned or bool(snapshot.interrupts))


SETTINGS_KEY: Final = "run_settings"
"""Key of a checkpoint's metadata: the run's caps, used by a resume that sets none.

The value is JSON, since LangGraph keeps only plain values there.
"""
CLOCK_KEY: Final = "run_clock"
"""The same for the run's start and deadline, used when a server starts the same run again."""
_SAVED_MOMENTS: Final = ("starts_at", "work_ends_at", "ends_at")

COMMON_NAMES: Final = frozenset(
    ("strategy", "recruit", "critic", "sequential", "speculate", "ask_human", "certificate")
)
"""Fields of `Context` that are not read from a context of another type."""


@dataclass(frozen=True)
class RunStart:
    """A run's settings, and the snapshot from which it resumes."""

    context: Context
    """With the team's own caps where the run sets none."""
    resumed_snapshot: StateSnapshot | None
    """The state from which the run resumes; None for a new run."""
    kept_context: Context
    """Without the team's caps: what a resume takes over, since the team's files may change."""
    saved_clock: str = ""
    """Of a run that a server starts again after a crash: its clock, which has not stopped."""
    early_outputs: Mapping[str, WorkerOutput] = field(default_factory=dict)
    """What tasks of a resumed run saved before their node ended, by task."""
    is_reopened: bool = False
    """The run had ended, and is tried again: what it spent before does not count."""

    def stamp_config(
        self, config: RunnableConfig | None, default_deadline_s: float | None = None
    ) -> RunnableConfig:
        """Return a config that holds the run's clock, deadline, budget and settings.

        A default deadline starts now, also where a server starts the same run again.
        """
        given = config or RunnableConfig()
        scope = get_run_scope(given)
        if self.saved_clock:
            scope = replace(scope, **_parse_clock(self.saved_clock, scope.clock_offset_s))
        started_at = scope.first_claimed_at or now_s()
        if scope.began_at is None:
            scope = replace(scope, began_at=started_at - self._compute_elapsed_s())
        if scope.deadline is None:
            scope = replace(scope, deadline=set_deadline(started_at, self.context.deadline_s))
        if scope.deadline is None and default_deadline_s is not None and not scope.outer_task:
            pace = Pace()
            deadline = Deadline(now_s(), default_deadline_s, pace)
            scope = replace(scope, deadline=deadline, pace=pace)
        if scope.budget is None and _has_budget(self.context):
            scope = replace(scope, budget=self._build_budget(scope.read_logged_usage))
        metadata = {
            **given.get("metadata", {}),
            SETTINGS_KEY: json.dumps(_select_set_fields(self.kept_context)),
            CLOCK_KEY: _format_clock(scope, read_began_at(self.resumed_snapshot)),
        }
        configurable = {**given.get("configurable", {}), SCOPE_KEY: scope}
        return {**given, "configurable": configurable, "metadata": metadata}

    def _compute_elapsed_s(self) -> float:
        """Return the elapsed seconds at which the clock of a resumed run continues.

        It waits while a human is asked.
        """
        if self.resumed_snapshot is None:
            return 0.0
        values = self.resumed_snapshot.values
        reports = {
            **values.get("results", {}),
            **collect_pending_reports(self.resumed_snapshot),
        }.values()
        asked = (each.value for each in self.resumed_snapshot.interrupts)
        moments: list[float] = [report.ended_s for report in reports]
        moments += [float(e.get("asked_s") or 0.0) for e in asked if isinstance(e, Mapping)]
        return float(max([values.get("planned_s", 0.0), *moments]))

    def _build_budget(self, usage_from_log: Any) -> Budget:
        """Build a run's budget, charged with what a resumed run has already spent."""
        budget = Budget(max_tokens=self.context.max_tokens, max_cost_usd=self.context.max_cost_usd)
        if self.resumed_snapshot is not None and not self.is_reopened:
            logged = list(usage_from_log().values()) if usage_from_log else []
            # The log of a run that began on another machine is not on this one.
            for usage in max(self._list_usage(self.resumed_snapshot), logged, key=_count_tokens):
                budget.charge(usage)
        return budget

    def _list_usage(self, snapshot: StateSnapshot) -> list[Usage]:
        """Return the usage that a run has saved for its request."""
        values = snapshot.values
        if values.get("planned_for") != values.get("request"):  # the ledger is an earlier request's
            return []
        ledger = collect_ledger(snapshot)
        for output in self.early_outputs.values():
            ledger = merge_ledger(ledger, output.get("ledger", {}))
        return [expense.usage for expense in ledger.values()]


def read_saved_clock(snapshot: StateSnapshot | None) -> str:
    """Return the clock of a checkpoint's run, as it was stamped; empty if there is none."""
    known: Any = (snapshot.metadata or {}).get(CLOCK_KEY, "") if snapshot else ""
    return str(known)


def read_began_at(snapshot: StateSnapshot | None) -> float | None:
    """Return when the run of a checkpoint was first begun, in epoch seconds; None if unknown."""
    if not (saved := read_saved_clock(snapshot)):
        return None
    clock = parse_json(saved)  # it counts no time between starts
    return float(clock.get("first_began_at") or clock["began_at"])


def _format_clock(scope: RunScope, first_began_at: float | None) -> str:
    """Return the clock fields of a scope as JSON, on the clock that the servers share."""
    began_at, ends, offset_s = scope.began_at or 0.0, scope.deadline, scope.clock_offset_s
    deadline = None
    if ends and not ends.pace:
        moments = {name: getattr(ends, name) for name in _SAVED_MOMENTS}
        deadline = {name: value + offset_s for name, value in moments.items()}
    began_at += offset_s
    clock = {"began_at": began_at, "first_began_at": first_began_at or began_at}
    return json.dumps({**clock, "deadline": deadline})


def _parse_clock(text: str, offset_s: float) -> dict[str, Any]:
    """Return the clock fields of a scope, on this machine's clock."""
    clock = parse_json(text)
    ends = clock["deadline"]
    deadline = ends and Deadline(ends["starts_at"] - offset_s, ends["ends_at"] - ends["starts_at"])
    return {"began_at": clock["began_at"] - offset_s, "deadline": deadline}


def merge_context(saved: Context, given: Context) -> Context:
    """Return the saved settings, overridden by those given now.

    A cap of zero overrides; a switch that is off does so only where off is not its default.
    """
    return lower_to_certificate(replace(saved, **_select_set_fields(given)))


def read_saved_context(snapshot: StateSnapshot | None) -> Context:
    """Return the settings of a checkpoint's run; the defaults if it holds none."""
    known: Any = (snapshot.metadata or {}).get(SETTINGS_KEY) if snapshot else None
    return read_context(parse_json(known)) if known else Context()


def read_inherited_context(config: RunnableConfig | None) -> Context:
    """Return the settings of the graph in which this one is a node; the defaults outside a graph.

    The outer graph's context may have another type; its fields with the names of ours are used,
    except those whose names may mean anything there.

    Raises:
        SettingsInvalid: a value is not allowed.
    """
    runtime = ensure_config(config)["configurable"].get(RUNTIME_KEY)
    outer = getattr(runtime, "context", None)
    if outer is None or isinstance(outer, Context):
        return read_context(outer)
    if isinstance(outer, BaseModel):
        outer = outer.model_dump()
    elif is_dataclass(outer) and not isinstance(outer, type):
        outer = {field.name: getattr(outer, field.name) for field in fields(outer)}
    ours = {field.name for field in fields(Context)} - COMMON_NAMES
    shared = {n: v for n, v in outer.items() if n in ours} if isinstance(outer, Mapping) else {}
    return read_context(shared)


def is_resumed(input: Any, configurable: Mapping[str, Any]) -> bool:
    """Return whether an input resumes the run that a thread holds."""
    if RESUMING_KEY in configurable:
        return bool(configurable[RESUMING_KEY])
    return input is None or (isinstance(input, Command) and input.resume is not None)


def is_same_run(config: RunnableConfig, snapshot: StateSnapshot) -> bool:
    """Return whether a server starts a checkpoint's run again, by run id, as LangGraph decides."""
    run = get_run_id(config)
    return bool(run) and run == (snapshot.metadata or {}).get("run_id")


def get_run_id(config: RunnableConfig) -> str:
    """Return the id that a server has given to a run; empty outside a server."""
    run = config.get("metadata", {}).get("run_id") or config.get("configurable", {}).get("run_id")
    return str(run or "")


def _select_set_fields(context: Context) -> dict[str, Any]:
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    return {name: value for name, value in values.items() if value != getattr(Context, name)}


def _count_tokens(spent: Iterable[Usage]) -> int:
    return sum(usage.input_tokens + usage.output_tokens for usage in spent)


def _has_budget(context: Context) -> bool:
    return context.max_tokens is not None or context.max_cost_usd is not None


async def list_team_changes(
    team: Team,
    saver: BaseCheckpointSaver[Any] | None,
    config: RunnableConfig,
    *,
    request: str | None = None,
) -> list[str]:
    """Return the changes to a team with which the run can still continue.

    The checkpoint is read directly, since a graph that has lost workers skips their tasks.

    Args:
        request: the last accepted request; if it is not the planned one, any team can plan it.

    Raises:
        TeamChanged: the run cannot continue.
    """
    saved = await saver.aget_tuple(config) if saver else None
    values: Mapping[str, Any] = saved.checkpoint["channel_values"] if saved else {}
    if request is not None and values.get("request") != request:
        return []
    return require_same_team(team, values)
