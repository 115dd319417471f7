"""The state of a run, folded from its events: what progress, a trace and a timeline show."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from time import monotonic
from typing import Any, Final, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from graph.runs.event_log import MAX_SECONDS
from nodes.models.settings import EMBEDDED
from nodes.text.counts import format_count
from state import Tier, Usage

Json = Mapping[str, Any]
SUPERVISOR: Final = "supervisor"
_UNFINISHED_STATUSES: Final = {"stopped": "stopped", "asked": "needs_input"}
"""The status of a run without an answer, by the key of the runner's last note."""
_ACTIVITIES: Final = frozenset(
    (
        *("task_started", "tool_call", "refined", "escalated", "reassigned"),
        *("split", "recruited", "remote_started", "remote_event"),
    )
)
"""Events that say what a task does."""


class RunEvent(BaseModel):
    """What every event has; the log may be cut, or another program's."""

    model_config = ConfigDict(extra="allow")

    t: float = Field(ge=0, le=MAX_SECONDS, allow_inf_nan=False)
    kind: str
    task: str = ""
    worker: str = ""
    within: str = ""
    seconds: float = Field(0.0, ge=0, le=MAX_SECONDS, allow_inf_nan=False)

    @property
    def group(self) -> str:
        """Who did it: a worker, or a supervisor; of an inner team after its task."""
        doer = SUPERVISOR if self.task == self.within else self.worker or SUPERVISOR
        return f"{self.within}/{doer}" if self.within else doer

    def get(self, name: str, default: Any = "") -> Any:
        """Return a value of the event, also one that only events of its kind have."""
        return (self.model_extra or {}).get(name, self.__dict__.get(name, default))

    def has(self, name: str) -> bool:
        """Return whether the event has a value that only events of its kind have."""
        return name in (self.model_extra or {})


@dataclass
class Attempt:
    """One attempt at a task."""

    begun: RunEvent
    end_s: float | None = None
    """None while it is at work."""
    ending: str = ""
    """The status with which it ended the task; empty if another attempt followed."""


@dataclass
class TaskView:
    """A task of a run."""

    id: str
    """One of the team that does `outer` is `outer/inner`."""
    planned: Json = field(default_factory=dict)
    """As the plan holds it; empty before there is one."""
    worker: str = ""
    needs: tuple[str, ...] = ()
    """The ids of the tasks whose results it gets."""
    waits_for: tuple[str, ...] = ()
    """Those of them that have not ended, if it waits; `list_tasks` sets it."""
    status: str = "waiting"
    """`waiting`, `working`, `skipped`, or that of its report."""
    report: Any = None
    reason: Any = None
    """Why it was skipped."""
    activity: RunEvent | None = None
    """The last event that says what it does."""
    tokens: int = 0
    attempts: list[Attempt] = field(default_factory=list)
    ended_s: float | None = None

    def begin_attempt(self, event: RunEvent) -> None:
        """Note that it is worked on, for the first time or again."""
        self._close_attempt(event.t, "")
        self.attempts.append(Attempt(event))
        self.status, self.report, self.reason, self.ended_s = "working", None, None, None
        self.worker = event.worker or self.worker

    def end(self, event: RunEvent, status: str) -> None:
        """Note how it ended."""
        self._close_attempt(event.t, status)
        self.status, self.ended_s = status, event.t

    def _close_attempt(self, end_s: float, ending: str) -> None:
        if self.attempts and self.attempts[-1].end_s is None:
            self.attempts[-1].end_s, self.attempts[-1].ending = end_s, ending


@dataclass
class TeamView:
    """A team at work since its last request: that of the run, or one that does a task."""

    name: str = ""
    plans: list[Any] = field(default_factory=list)
    """Every version: as created, as revised, as edited by the user."""


class RunView:
    """The state of a run; `apply_event` may run while another thread calls `list_tasks`."""

    def __init__(self, thread: str = "") -> None:
        self.thread = thread
        self.facts: dict[str, Any] = {"resumed": 0}
        """What the notes of the runner say: thread, team, start, how often it was resumed."""
        self.unended = "running"
        """The status while there is no answer."""
        self.questions: Any = ()
        self.asked_at = ""
        """When they were asked, in ISO 8601; a resume that brings no answer asks them once."""
        self.origins = ""
        """Where settings come from, and where requests are sent, if a user may not expect it."""
        self.request: RunEvent | None = None
        self.answer: RunEvent | None = None
        self.answer_text = ""
        """The answer so far, while a model writes it."""
        self.last: RunEvent | None = None
        self.phase = "starting"
        self.plan_number = 0
        """Which of its request's plans the last is."""
        self.plans: list[Any] = []
        """Every version of the run's own plan, over all requests."""
        self.teams: dict[str, TeamView] = {}
        """By the task that a team does; the run's own has the empty name."""
        self.tasks: dict[str, TaskView] = {}
        self.former_tasks: list[TaskView] = []
        """Of earlier requests, and of earlier attempts of an inner team."""
        self.usage: defaultdict[Tier, Usage] = defaultdict(Usage)
        """Since a request was last accepted; one that was killed may be emitted again."""
        self.tokens = 0
        self._first_s, self._last_at = 0.0, 0.0
        self._lock = Lock()
        self._appliers = {
            "reading": self._apply_reading,
            "request": self._apply_request,
            "plan_created": self._apply_plan,
            "plan_revised": self._apply_plan,
            "plan_approved": self._apply_plan,
            "task_started": self._apply_task_start,
            "model_call": self._apply_model_call,
            "report": self._apply_report,
            "task_skipped": self._apply_skip,
            "synthesized": self._apply_synthesis,
            "answer": self._apply_answer,
        }

    def apply_entry(self, entry: Json) -> None:
        """Update the state from an entry of a log: an event, or a note of the runner.

        Raises:
            FORM_ERRORS: a plan, a report or a count has another form than this version writes.
        """
        if "kind" in entry:
            self.apply_event(entry)
            return
        if "run" in entry:
            self.facts |= entry["run"]
            self.usage.clear()
        self.facts["resumed"] += "resumed" in entry
        known = (status for key, status in _UNFINISHED_STATUSES.items() if key in entry)
        is_known = bool(self.questions) and self.questions == entry.get("asked")
        self.asked_at = self.asked_at if is_known else str(entry.get("at") or "")
        self.unended, self.questions = next(known, "running"), entry.get("asked", ())

    def apply_event(self, event: Json) -> None:
        """Update the state from an event; what has not the form of one is ignored.

        Raises:
            FORM_ERRORS: as `apply_entry`.
        """
        try:
            checked = RunEvent.model_validate({"t": self.last.t if self.last else 0.0, **event})
        except ValidationError:
            return
        self.apply(checked)

    def apply(self, event: RunEvent) -> None:
        """Update the state from a checked event; as `apply_event`."""
        with self._lock:
            if self.last is None:
                self._first_s = event.t
            self.last, self._last_at = event, monotonic()
            if event.kind in self._appliers:
                self._appliers[event.kind](event)
            if event.within:
                self.teams.setdefault(event.within, TeamView())
            if event.kind in _ACTIVITIES:
                self._get_task(event.task).activity = event

    def read_now(self) -> float:
        """Return the time on the run's clock, which stops while the run waits for a resume."""
        return self.last.t + monotonic() - self._last_at if self.last else 0.0

    def read_seconds(self) -> float | None:
        """Return the seconds since the request; None before it."""
        with self._lock:
            timing = (self.answer.get("timing") if self.answer else None) or {}
            if self.request is None or timing.get("wall_s") is not None:
                return timing.get("wall_s")
            return max(0.0, self.read_now() - self._first_s)

    def measure_span(self) -> float:
        """Return the seconds from the request to the last event."""
        return self.last.t - self._first_s if self.last else 0.0

    def measure_task(self, task: TaskView) -> float:
        """Return the seconds of work on a task: what its report says, or those so far."""
        report = task.report or {}
        if "started_s" in report and "ended_s" in report:
            return float(report["ended_s"] - report["started_s"])
        if not task.attempts:
            return 0.0
        return (self.read_now() if task.ended_s is None else task.ended_s) - task.attempts[
            0
        ].begun.t

    def list_tasks(self) -> list[TaskView]:
        """Return copies of the tasks of the last plan, each with those of its team after it."""
        with self._lock:
            found = [replace(task) for task in self._walk_tasks()]
        unended = {task.id for task in found if task.ended_s is None}
        for task in found:
            if task.status == "waiting":
                task.waits_for = tuple(need for need in task.needs if need in unended)
        return found

    def select_tasks(self, within: str = "") -> Iterator[TaskView]:
        """Yield the tasks of a team's last plan, in its order."""
        inside = f"{within}/" if within else ""
        team = self.teams.get(within, TeamView())
        for planned in team.plans[-1]["tasks"] if team.plans else ():
            yield self._get_task(f"{inside}{planned['id']}")

    def _walk_tasks(self, within: str = "") -> Iterator[TaskView]:
        for task in self.select_tasks(within):
            yield task
            yield from self._walk_tasks(task.id)

    def _get_task(self, name: str) -> TaskView:
        return self.tasks.setdefault(name, TaskView(name))

    def _apply_reading(self, event: RunEvent) -> None:
        self.phase = f"reading: {event.get('read')} of {format_count(event.get('of') or 0, 'file')}"

    def _apply_request(self, event: RunEvent) -> None:
        within = event.within
        self._forget_team(within)
        self.teams[within] = TeamView(str(event.get("team")))
        if not within:
            for name in ("edited_tasks", "edited_words", "is_fork"):
                self.facts.pop(name, None)
            self.request, self.answer, self.phase, self._first_s = event, None, "planning", event.t
            self.thread = str(event.get("thread") or self.thread)

    def _forget_team(self, within: str) -> None:
        """Put the tasks of a team's earlier request aside, and those of the teams in them."""
        inside = f"{within}/" if within else ""
        for name in [name for name in self.tasks if name.startswith(inside)]:
            self.former_tasks.append(self.tasks.pop(name))
        for name in [name for name in self.teams if name.startswith(inside)]:
            del self.teams[name]

    def _apply_plan(self, event: RunEvent) -> None:
        within = event.within
        if not within:
            self.phase = "planning" if event.get("awaits_approval") else "working"
        if not event.has("plan"):  # approved as it was
            return
        plan = event.get("plan")
        inside = f"{within}/" if within else ""
        for planned in plan["tasks"]:
            task = self._get_task(f"{inside}{planned['id']}")
            task.planned = planned
            edges = planned.get("depends_on") or ()
            needs = (edge["task"] if isinstance(edge, Mapping) else edge for edge in edges)
            task.needs = tuple(f"{inside}{need}" for need in needs)
            if not task.attempts:
                task.worker = str(planned.get("worker", ""))
        known = self.teams.setdefault(within, TeamView()).plans
        if event.get("edited") and not within:
            self.facts |= _describe_edit(known[-1:], plan, event)
        known.append(plan)
        if not within:
            self.plans.append(plan)
            self.plan_number = len(known)

    def _apply_task_start(self, event: RunEvent) -> None:
        self._get_task(event.task).begin_attempt(event)

    def _apply_model_call(self, event: RunEvent) -> None:
        if not event.has("input_tokens"):  # it failed, cost nothing, and is in no ledger
            return
        used = _read_usage(event)
        named = event.get("tier")
        tier: Tier = next((tier for tier in get_args(Tier) if tier == named), "standard")
        self.usage[tier] += used
        if event.get("model") != EMBEDDED:  # which writes none
            self.tokens += used.input_tokens + used.output_tokens
            self._get_task(event.task).tokens += used.input_tokens + used.output_tokens

    def _apply_report(self, event: RunEvent) -> None:
        task, report = self._get_task(event.task), event.get("report") or {}
        task.end(event, str(report.get("status", "completed")))
        task.report = report

    def _apply_skip(self, event: RunEvent) -> None:
        task = self._get_task(event.task)
        task.end(event, "skipped")
        task.report, task.reason = None, event.get("reason", None)

    def _apply_synthesis(self, event: RunEvent) -> None:
        self.answer_text = ""
        self.phase = self.phase if event.within else "answering"

    def _apply_answer(self, event: RunEvent) -> None:
        if not event.within:
            self.answer, self.phase = event, str(event.get("status") or "done")


def _describe_edit(before: Sequence[Json], plan: Json, event: RunEvent) -> dict[str, Any]:
    """Return the tasks that a plan has not as the one before it had them, and those it lacks.

    With the new words of a task that alone has others. What the tasks cover of the request is no
    part of that: it is found from their words.
    """
    was, now = (
        {task["id"]: {**task, "covers": ()} for each in plans for task in each["tasks"]}
        for plans in (before, [plan])
    )
    names = [name for name in {**was, **now} if before and was.get(name) != now.get(name)]
    old, new = (each.get(names[0], {}) if names else {} for each in (was, now))
    words = (
        new.get("description") if old and old.get("description") != new.get("description") else ""
    )
    shown = {"edited_words": words} if words and len(names) == 1 else {}
    return {"edited_tasks": names, **shown, **({"is_fork": True} if event.get("is_fork") else {})}


def _read_usage(call: RunEvent) -> Usage:
    return Usage(
        model_calls=1,
        input_tokens=call.get("input_tokens") or 0,
        output_tokens=call.get("output_tokens") or 0,
        cost_usd=call.get("cost_usd", None),
        seconds=call.seconds,
        models=(str(call.get("model")),) if call.get("model") else (),
        uncounted_calls=1 if call.get("uncounted") else 0,
    )
