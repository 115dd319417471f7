"""The result of one row: its plan, its outcome, and its usage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.runs.event_log import Event
from graph.runs.outcome import Outcome
from nodes.errors import SupervisorError
from nodes.text.markdown import format_answer
from state import Answer, Plan, Report


@dataclass
class RowUsage:
    """Counts the usage of a row, from the events of its run."""

    repairs: int = 0
    """Plans that were rejected before the first accepted one."""
    by_rule: int = 0
    """Plans that a rule made, as no valid one came."""
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None if the price of a model is unknown."""
    seconds: float = 0.0
    _is_planned: bool = False

    def count_event(self, event: Event) -> None:
        """Add an event."""
        kind = event.get("kind")
        self.repairs += kind == "plan_rejected" and not self._is_planned
        self.by_rule += kind == "plan_by_rule"
        self._is_planned |= kind == "plan_created"
        if kind == "model_call":
            self.calls += 1
            self.input_tokens += event.get("input_tokens") or 0
            self.output_tokens += event.get("output_tokens") or 0
            price = event.get("cost_usd", 0.0)
            known = price is not None and self.cost_usd is not None
            self.cost_usd = self.cost_usd + price if known else None


@dataclass(frozen=True, kw_only=True)
class RowResult:
    """The result of a row, from which its grades are computed."""

    plan: Plan | None = None
    outcome: Outcome | None = None
    """None for a row that was only planned, or could not begin."""
    error: SupervisorError | None = None
    materials: Mapping[str, str] = field(default_factory=dict)
    usage: RowUsage = field(default_factory=RowUsage)
    missed: str | None = None
    """What a replay did not find in its record, empty for nothing; None for a run."""

    @property
    def answer(self) -> Answer | None:
        """The answer, if there is one."""
        return self.outcome.answer if self.outcome else None

    @property
    def answer_text(self) -> str:
        """The answer as the command line prints it; empty without one."""
        return format_answer(self.answer.model_dump(mode="json")) if self.answer else ""

    @property
    def sources(self) -> Sequence[str]:
        """The sources that the answer names."""
        return self.answer.sources if self.answer else ()

    @property
    def reports(self) -> Sequence[Report]:
        """The reports of the run's tasks."""
        return [*self.outcome.results.values()] if self.outcome else []

    @property
    def status(self) -> str:
        """Return how the run ended; one that could not begin has failed."""
        return self.outcome.status if self.outcome else "failed"

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON, for `--json` and for the traces of an exam."""
        error = self.error.format_line() if self.error else None
        plan = self.plan.model_dump(mode="json") if self.plan else None
        ended = {"status": self.status, "answer": self.answer_text} if self.outcome else {}
        return {"plan": plan, **ended, "error": error}
