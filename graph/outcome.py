"""What a run gives back."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from graph.questions import Question
from nodes.bill import total
from nodes.errors import SupervisorError, kinds_of
from state import Answer, Bill, Plan, Report, RunStatus, SupervisorState

EXIT_CODES: Mapping[RunStatus, int] = {"done": 0, "partial": 3, "needs_input": 7}
NOTHING_FOUND, NO_MODEL = 3, 4


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of a run: its answer, or the error that ended it, and all that was finished."""

    thread: str
    status: RunStatus
    answer: Answer | None = None
    plan: Plan | None = None
    results: dict[str, Report] = field(default_factory=dict)
    timing: dict[str, Any] = field(default_factory=dict)
    usage: Bill = field(default_factory=Bill)
    error: SupervisorError | None = None
    questions: Sequence[Question] = ()
    """What the run waits for a person to answer."""

    @classmethod
    def of(
        cls,
        thread: str,
        values: SupervisorState,
        *,
        error: SupervisorError | None = None,
        questions: Sequence[Question] = (),
    ) -> "Outcome":
        """Read the outcome out of a run's last state."""
        timing = values.get("timing")
        status: RunStatus = "needs_input" if questions else values.get("status", "failed")
        return cls(
            thread=thread,
            status="failed" if error else status,
            answer=values.get("answer"),
            plan=values.get("plan"),
            results=dict(values.get("results", {})),
            timing=timing.model_dump(mode="json") if timing else {},
            usage=total(values.get("ledger", {}), values.get("estimate")),
            error=error,
            questions=questions,
        )

    @property
    def exit_code(self) -> int:
        """The exit code of the contract."""
        if self.error:
            return self.error.exit_code
        if self.status == "failed" and self.answer:
            failed = [report for report in self.results.values() if report.status == "failed"]
            is_the_models = bool(failed) and all(map(_is_the_models, failed))
            return NO_MODEL if is_the_models else NOTHING_FOUND
        return EXIT_CODES.get(self.status, 1)

    def to_json(self) -> dict[str, Any]:
        """Give the object that `--json` prints; `questions` is there when some are open."""
        asked = {"questions": [dict(question) for question in self.questions]}
        return {
            "thread": self.thread,
            "status": self.status,
            "answer": self.answer.model_dump(mode="json") if self.answer else None,
            "plan": self.plan.model_dump(mode="json") if self.plan else None,
            "results": {
                name: report.model_dump(mode="json") for name, report in self.results.items()
            },
            "timing": self.timing,
            "usage": self.usage.model_dump(mode="json"),
            "error": _error_json(self.error),
            **(asked if self.questions else {}),
        }


def _is_the_models(report: Report) -> bool:
    """Return whether a task failed since a model could not be asked, or gave nothing of use."""
    code = (report.error or "").partition(":")[0]
    kinds = kinds_of(SupervisorError)
    return any(kind.code == code and kind.exit_code == NO_MODEL for kind in kinds)


def _error_json(error: SupervisorError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"code": error.code, "message": str(error), "retryable": error.retryable}
