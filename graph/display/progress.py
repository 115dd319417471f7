"""The progress of a run, built from its events."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from typing import Any, Final

from nodes.text.counts import format_count

Event = Mapping[str, Any]

COULD_NOT: Final = "could not do it"
STATE_LABELS: Final[Mapping[str, str]] = {"completed": "done", "escalated": COULD_NOT}
"""A report's status as shown; the others are shown as they are."""


@dataclass
class TaskProgress:
    """One task, as the user sees it; one inside another task is `outer/inner`."""

    id: str
    worker: str
    description: str
    depends_on: tuple[str, ...] = ()
    state: str = "ready"
    waits_for: tuple[str, ...] = ()
    """Its dependencies that have not ended."""
    last_tool: str = ""
    """The last tool called."""
    note: str = ""
    result: str = ""
    """The first line of its report; empty before it, and of one without a result."""
    tokens: int = 0
    started_at: float | None = None
    ended_at: float | None = None
    reported_seconds: float | None = None
    """From its report; None before it."""

    def compute_elapsed_s(self) -> float:
        """Return the seconds of work so far; 0 before it begins."""
        if self.reported_seconds is not None:
            return self.reported_seconds
        return 0.0 if self.started_at is None else (self.ended_at or monotonic()) - self.started_at


class RunProgress:
    """The state of a run; `apply_event` may run while another thread calls `list_tasks`."""

    def __init__(self, thread: str = "") -> None:
        self.thread = thread
        self.origins = ""
        """Where settings come from, and where requests are sent, if a user may not expect it."""
        self.team = ""
        self.models: tuple[str, ...] = ()
        self.kept_materials: tuple[str, ...] = ()
        self.mechanisms: tuple[str, ...] = ()
        """The strategy where it is not a plan, and the grant of specialists, in words."""
        self.notes: tuple[str, ...] = ()
        self.phase = "starting"
        self.plan_version = 0
        self.tokens = 0
        self.answer_text = ""
        """The answer so far, while a model writes it."""
        self._clock = _RunClock()
        self._rows: dict[str, TaskProgress] = {}
        self._lock = Lock()
        self._appliers = {
            "reading": self._apply_reading,
            "request": self._apply_request,
            "plan_created": self._apply_plan,
            "plan_revised": self._apply_plan,
            "plan_approved": self._apply_plan,
            "task_started": self._apply_task_start,
            "model_call": self._apply_model_call,
            "tool_call": self._apply_tool_call,
            "report": self._apply_report,
            "refined": self._apply_refinement,
            "task_skipped": self._apply_skip,
            "synthesized": self._apply_synthesis,
            "answer": self._apply_answer,
        }

    def apply_event(self, event: Event) -> None:
        """Update the state from an event; unknown events and missing keys are ignored."""
        listener = self._appliers.get(str(event.get("kind")))
        with self._lock:
            self._clock.apply_event(event)
            if listener:
                listener(event)

    def read_seconds(self) -> float | None:
        """Return the seconds since the request, on the run's clock; None before the request."""
        with self._lock:
            return self._clock.read_seconds()

    def list_tasks(self) -> list[TaskProgress]:
        """List the tasks with their current states."""
        with self._lock:
            rows = [replace(row) for row in self._rows.values()]
        unsettled = {row.id for row in rows if row.ended_at is None}
        for row in rows:
            missing = [need for need in row.depends_on if need in unsettled]
            if row.state == "ready" and missing:
                row.state, row.waits_for = "waiting", tuple(missing)
        return rows

    def list_done_tasks(self) -> list[str]:
        """List the ids of the completed tasks."""
        return [row.id for row in self.list_tasks() if row.state == "done"]

    def _find_row(self, event: Event) -> TaskProgress:
        """Return the task's row; for a task in no plan, a row that is not shown."""
        return self._rows.get(str(event.get("task")), TaskProgress("", "", ""))

    def _apply_reading(self, event: Event) -> None:
        self.phase = f"reading: {event.get('read')} of {format_count(event.get('of') or 0, 'file')}"

    def _apply_request(self, event: Event) -> None:
        if event.get("within"):
            return
        self.phase, self.team = "planning", str(event.get("team", ""))
        self.thread = str(event.get("thread") or self.thread)
        self.models = label_models(event.get("models"))
        self.kept_materials = tuple(map(str, event.get("kept_materials") or ()))
        self.mechanisms = tuple(_describe_mechanisms(event))
        self.notes = tuple(f"note: {note}" for note in event.get("notes") or ())

    def _apply_plan(self, event: Event) -> None:
        plan, within = event.get("plan") or {}, str(event.get("within") or "")
        if not within:
            self.phase = "planning" if event.get("awaits_approval") else "working"
        if not plan:  # approved as it was
            return
        inside = f"{within}/" if within else ""
        rows = {row.id: row for row in (_build_row(task, inside) for task in plan.get("tasks", ()))}
        if within:
            self._rows = _insert_rows(self._rows, within, rows)
            return
        self.plan_version = int(event.get("version") or plan.get("version") or 1)
        ended = {name: row for name, row in self._rows.items() if row.ended_at is not None}
        self._rows = {name: ended.get(name, row) for name, row in rows.items()}

    def _apply_task_start(self, event: Event) -> None:
        row = self._find_row(event)
        row.state, row.ended_at, row.reported_seconds = "working", None, None
        row.started_at = row.started_at or monotonic()
        row.worker = str(event.get("worker") or row.worker)
        if (attempt := event.get("attempt") or 1) > 1:
            row.note = f"attempt {attempt}{describe_retry(event)}"

    def _apply_model_call(self, event: Event) -> None:
        tokens = int(event.get("input_tokens") or 0) + int(event.get("output_tokens") or 0)
        self.tokens += tokens
        self._find_row(event).tokens += tokens

    def _apply_tool_call(self, event: Event) -> None:
        failed = " (failed)" if event.get("error") else ""
        self._find_row(event).last_tool = f"{event.get('tool', '')}{failed}"

    def _apply_report(self, event: Event) -> None:
        report = event.get("report") or {}
        row, status = self._find_row(event), str(report.get("status", "completed"))
        row.state, row.ended_at = STATE_LABELS.get(status, status), monotonic()
        if "started_s" in report and "ended_s" in report:
            row.reported_seconds = report["ended_s"] - report["started_s"]
        row.note = _describe_failure(report) or row.note
        row.result = _find_first_line(str(report.get("output") or ""))

    def _apply_refinement(self, event: Event) -> None:
        self._find_row(event).note = "refined"

    def _apply_skip(self, event: Event) -> None:
        row = self._find_row(event)
        row.state, row.ended_at = "skipped", monotonic()
        row.note = str(event.get("reason", ""))

    def _apply_synthesis(self, event: Event) -> None:
        self.answer_text = ""
        self.phase = self.phase if event.get("within") else "answering"

    def _apply_answer(self, event: Event) -> None:
        if not event.get("within"):
            self.phase = str(event.get("status") or "done")


@dataclass
class _RunClock:
    """The clock of a run, which stops while the run waits for a resume."""

    _requested_s: float | None = None
    _last_event_s: float = 0.0
    _last_event_at: float = 0.0
    """Time of the last event, on this machine's clock."""
    _wall_s: float | None = None

    def apply_event(self, event: Event) -> None:
        self._last_event_s, self._last_event_at = (
            float(event.get("t") or self._last_event_s),
            monotonic(),
        )
        if event.get("within"):
            return
        if event.get("kind") == "request":
            self._requested_s, self._wall_s = self._last_event_s, None
        elif event.get("kind") == "answer":
            self._wall_s = (event.get("timing") or {}).get("wall_s")

    def read_seconds(self) -> float | None:
        if self._requested_s is None or self._wall_s is not None:
            return self._wall_s
        return max(0.0, self._last_event_s - self._requested_s + monotonic() - self._last_event_at)


def describe_retry(event: Event) -> str:
    """Return how a further attempt differs; empty if other events report it."""
    if event.get("rung") == "tier":
        return f", {event.get('tier', 'stronger')} tier"
    return ", divided" if event.get("rung") == "split" else ""


def label_models(models: Any) -> tuple[str, ...]:  # a mapping by tier or a list, as events hold it
    """Return the names of the models, without duplicates."""
    names: Iterable[Any] = models.values() if isinstance(models, Mapping) else models or ()
    return tuple(dict.fromkeys(map(label_model, names)))


def label_model(name: object) -> str:
    """Return a model's name for the user."""
    return "embedded (no language model: quotes and computes)" if name == "embedded" else str(name)


def _describe_mechanisms(event: Event) -> Iterator[str]:
    """Yield what differs from a plan for the team's own workers, in words."""
    depth, breadth = event.get("max_recursion"), event.get("max_breadth")
    caps = f" (at most {depth} deep, {breadth} tasks wide)" if depth is not None else ""
    if (strategy := event.get("strategy", "plan")) != "plan":
        yield f"strategy: {strategy}{caps}"
    if "grant" in event:
        yield f"specialists: {', '.join(event['grant']) or 'no tools'}"


def _build_row(task: Mapping[str, Any], inside: str) -> TaskProgress:
    edges = task.get("depends_on", ())
    needs = (str(edge["task"] if isinstance(edge, Mapping) else edge) for edge in edges)
    return TaskProgress(
        f"{inside}{task['id']}",
        str(task.get("worker", "")),
        str(task.get("description", "")),
        tuple(f"{inside}{need}" for need in needs),
    )


def _insert_rows(
    rows: Mapping[str, TaskProgress], within: str, inner: Mapping[str, TaskProgress]
) -> dict[str, TaskProgress]:
    """Insert a team's tasks below their outer task, replacing those of an earlier attempt."""
    placed: dict[str, TaskProgress] = {}
    for name, row in rows.items():
        if not name.startswith(f"{within}/"):
            placed[name] = row
        if name == within:
            placed |= inner
    return placed


def _find_first_line(text: str) -> str:
    """Return the first line of a text that holds letters or digits, without marks of Markdown."""
    lines = (line.replace("**", "").strip("#-*> ") for line in text.splitlines())
    return next((line for line in lines if any(map(str.isalnum, line))), "")


def _describe_failure(report: Mapping[str, Any]) -> str:
    escalation = report.get("escalation") or {}
    return str(report.get("error") or escalation.get("message") or "")
