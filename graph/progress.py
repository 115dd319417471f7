"""What a run is doing, put together from its events."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from threading import Lock
from time import monotonic
from typing import Any, Final

Event = Mapping[str, Any]

STATES: Final[Mapping[str, str]] = {"completed": "done"}
"""A report's status as shown; the others are shown as they are."""


@dataclass
class Row:
    """One task, as a person sees it; one inside another task is `outer/inner`."""

    id: str
    worker: str
    description: str
    needs: tuple[str, ...] = ()
    state: str = "ready"
    waits_for: tuple[str, ...] = ()
    """Of what it needs, what has not ended."""
    tool: str = ""
    """The tool called last."""
    remark: str = ""
    tokens: int = 0
    began: float | None = None
    ended: float | None = None
    seconds: float | None = None
    """As its report says; None while there is none."""

    def elapsed_s(self) -> float:
        """Return the seconds of work so far; 0 before it begins."""
        if self.seconds is not None:
            return self.seconds
        return 0.0 if self.began is None else (self.ended or monotonic()) - self.began


class Board:
    """The state of a run; `hear` may be called while another thread reads `rows`."""

    def __init__(self, thread: str = "") -> None:
        self.thread = thread
        self.team = ""
        self.models: tuple[str, ...] = ()
        self.kept_materials: tuple[str, ...] = ()
        self.phase = "starting"
        self.plan_version = 0
        self.tokens = 0
        self._clock = _Clock()
        self._rows: dict[str, Row] = {}
        self._lock = Lock()
        self._listeners = {
            "reading": self._read,
            "request": self._requested,
            "plan_created": self._planned,
            "plan_revised": self._planned,
            "plan_approved": self._planned,
            "task_started": self._started,
            "model_call": self._asked,
            "tool_call": self._called,
            "report": self._reported,
            "refined": self._refined,
            "task_skipped": self._skipped,
            "synthesized": self._synthesized,
            "answer": self._answered,
        }

    def hear(self, event: Event) -> None:
        """Take an event in; one that is not shown, or that lacks a key, is no error."""
        listener = self._listeners.get(str(event.get("kind")))
        with self._lock:
            self._clock.hear(event)
            if listener:
                listener(event)

    def seconds(self) -> float | None:
        """Return the time since the request, as the run's figures count it; None before it."""
        with self._lock:
            return self._clock.seconds()

    def rows(self) -> list[Row]:
        """List the tasks, each with its state as of now."""
        with self._lock:
            rows = [replace(row) for row in self._rows.values()]
        unsettled = {row.id for row in rows if row.ended is None}
        for row in rows:
            missing = [need for need in row.needs if need in unsettled]
            if row.state == "ready" and missing:
                row.state, row.waits_for = "waiting", tuple(missing)
        return rows

    def done(self) -> list[str]:
        """Name the tasks that have completed."""
        return [row.id for row in self.rows() if row.state == "done"]

    def _row(self, event: Event) -> Row:
        """Find the task's row; one that no plan named goes to a row that is not shown."""
        return self._rows.get(str(event.get("task")), Row("", "", ""))

    def _read(self, event: Event) -> None:
        self.phase = f"reading: {event.get('read')} of {event.get('of')} files"

    def _requested(self, event: Event) -> None:
        if event.get("within"):
            return
        self.phase, self.team = "planning", str(event.get("team", ""))
        self.thread = str(event.get("thread") or self.thread)
        self.models = models_shown(event.get("models"))
        self.kept_materials = tuple(map(str, event.get("kept_materials") or ()))

    def _planned(self, event: Event) -> None:
        plan = event.get("plan") or {}
        if not plan:  # approved as it was
            return
        within = str(event.get("within") or "")
        inside = f"{within}/" if within else ""
        rows = {row.id: row for row in (_row_of(task, inside) for task in plan.get("tasks", ()))}
        if within:
            self._rows = _placed(self._rows, within, rows)
            return
        self.plan_version = int(event.get("version") or plan.get("version") or 1)
        ended = {name: row for name, row in self._rows.items() if row.ended is not None}
        self._rows = {name: ended.get(name, row) for name, row in rows.items()}
        self.phase = "working"

    def _started(self, event: Event) -> None:
        row = self._row(event)
        row.state, row.ended, row.seconds = "working", None, None
        row.began = row.began or monotonic()
        row.worker = str(event.get("worker") or row.worker)
        if (attempt := event.get("attempt") or 1) > 1:
            row.remark = f"attempt {attempt}{changed(event)}"

    def _asked(self, event: Event) -> None:
        tokens = int(event.get("input_tokens") or 0) + int(event.get("output_tokens") or 0)
        self.tokens += tokens
        self._row(event).tokens += tokens

    def _called(self, event: Event) -> None:
        failed = " (failed)" if event.get("error") else ""
        self._row(event).tool = f"{event.get('tool', '')}{failed}"

    def _reported(self, event: Event) -> None:
        report = event.get("report") or {}
        row, status = self._row(event), str(report.get("status", "completed"))
        row.state, row.ended = STATES.get(status, status), monotonic()
        if "started_s" in report and "ended_s" in report:
            row.seconds = report["ended_s"] - report["started_s"]
        row.remark = _reason(report) or row.remark

    def _refined(self, event: Event) -> None:
        self._row(event).remark = "refined"

    def _skipped(self, event: Event) -> None:
        row = self._row(event)
        row.state, row.ended = "skipped", monotonic()
        row.remark = str(event.get("reason", ""))

    def _synthesized(self, event: Event) -> None:
        self.phase = self.phase if event.get("within") else "answering"

    def _answered(self, event: Event) -> None:
        if not event.get("within"):
            self.phase = str(event.get("status") or "done")


@dataclass
class _Clock:
    """A run's own clock: it stands still while the run does, such as before a resume."""

    _asked: float | None = None
    _last: float = 0.0
    _heard: float = 0.0
    """When the last event came, on this machine's clock."""
    _wall: float | None = None

    def hear(self, event: Event) -> None:
        self._last, self._heard = float(event.get("t") or self._last), monotonic()
        if event.get("within"):
            return
        if event.get("kind") == "request":
            self._asked, self._wall = self._last, None
        elif event.get("kind") == "answer":
            self._wall = (event.get("timing") or {}).get("wall_s")

    def seconds(self) -> float | None:
        if self._asked is None or self._wall is not None:
            return self._wall
        return max(0.0, self._last - self._asked + monotonic() - self._heard)


def changed(event: Event) -> str:
    """Say what a further attempt does otherwise; empty where other events say it."""
    if event.get("rung") == "tier":
        return f", {event.get('tier', 'stronger')} tier"
    return ", divided" if event.get("rung") == "split" else ""


def models_shown(models: Any) -> tuple[str, ...]:  # a mapping by tier or a list, as events hold it
    """Name the models that answer, each once."""
    names: Iterable[Any] = models.values() if isinstance(models, Mapping) else models or ()
    return tuple(dict.fromkeys(map(model_shown, names)))


def model_shown(name: object) -> str:
    """Name a model as a person should know it."""
    return "embedded (extractive, no model configured)" if name == "embedded" else str(name)


def _row_of(task: Mapping[str, Any], inside: str) -> Row:
    edges = task.get("depends_on", ())
    needs = (str(edge["task"] if isinstance(edge, Mapping) else edge) for edge in edges)
    return Row(
        f"{inside}{task['id']}",
        str(task.get("worker", "")),
        str(task.get("description", "")),
        tuple(f"{inside}{need}" for need in needs),
    )


def _placed(rows: Mapping[str, Row], within: str, inner: Mapping[str, Row]) -> dict[str, Row]:
    """Put a team's tasks below the task they are for, in the place of an earlier attempt's."""
    placed: dict[str, Row] = {}
    for name, row in rows.items():
        if not name.startswith(f"{within}/"):
            placed[name] = row
        if name == within:
            placed |= inner
    return placed


def _reason(report: Mapping[str, Any]) -> str:
    escalation = report.get("escalation") or {}
    return str(report.get("error") or escalation.get("message") or "")
