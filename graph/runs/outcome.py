"""The outcome of a run, its exit code and its JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from graph.topology.answers import Question
from nodes.errors import MODEL_EXIT_CODE, SupervisorError, is_model_failure
from nodes.planning.skipping import lacks_file
from nodes.telemetry.cost import sum_ledger
from nodes.tools.framework.extras import PackageMissing
from state import Answer, Claim, Plan, Report, RunStatus, RunUsage, SupervisorState, Usage

EXIT_CODES: Mapping[RunStatus, int] = {"done": 0, "passages": 0, "partial": 3, "needs_input": 7}
NO_RESULT_EXIT_CODE = 3
NOT_DONE_EXIT_CODE = 3
"""Where more is required than the run has."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The end of a run: its answer, or the error that ended it, and all finished results."""

    thread: str
    status: RunStatus
    answer: Answer | None = None
    plan: Plan | None = None
    results: dict[str, Report] = field(default_factory=dict)
    timing: dict[str, Any] = field(default_factory=dict)
    usage: RunUsage = field(default_factory=RunUsage)
    error: SupervisorError | None = None
    questions: Sequence[Question] = ()
    """Questions that the run waits for the user to answer."""

    @classmethod
    def from_state(
        cls,
        thread: str,
        values: SupervisorState,
        *,
        error: SupervisorError | None = None,
        questions: Sequence[Question] = (),
    ) -> "Outcome":
        """Build the outcome from a run's last state."""
        timing = values.get("timing")
        status: RunStatus = "needs_input" if questions else values.get("status", "failed")
        return cls(
            thread=thread,
            status="failed" if error else status,
            answer=values.get("answer"),
            plan=values.get("plan"),
            results=dict(values.get("results", {})),
            timing=timing.model_dump(mode="json") if timing else {},
            usage=sum_ledger(values.get("ledger", {}), values.get("estimate")),
            error=error,
            questions=questions,
        )

    @property
    def exit_code(self) -> int:
        """The documented exit code."""
        if self.error:
            return self.error.exit_code
        if self.status == "failed" and self.answer:
            failed = [report for report in self.results.values() if report.status == "failed"]
            is_the_models = bool(failed) and all(
                is_model_failure(report.error or "") for report in failed
            )
            return MODEL_EXIT_CODE if is_the_models else NO_RESULT_EXIT_CODE
        return EXIT_CODES.get(self.status, 1)

    @property
    def lacks_file(self) -> bool:
        """Whether there was nothing to read for a task that has no result."""
        return any(map(lacks_file, self.results.values()))

    def to_frame(self, of: Literal["claims", "tasks"] = "claims") -> Any:  # no pandas is needed
        """Return a pandas DataFrame with a row for each claim of the answer, or for each task.

        Raises:
            PackageMissing: pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise PackageMissing("pandas is not installed", next="pip install pandas") from None
        if of == "claims":
            rows = (
                [each.model_dump(mode="json") for each in self.answer.claims] if self.answer else []
            )
            return pandas.DataFrame(rows, columns=list(Claim.model_fields))
        reports = [each.model_dump(mode="json") for each in self.results.values()]
        usages = [each.pop("usage") for each in reports]
        columns = [name for name in Report.model_fields if name != "usage"]
        frame = pandas.DataFrame(reports, columns=columns)
        return frame.assign(**pandas.DataFrame(usages, columns=list(Usage.model_fields)))

    def to_json(self) -> dict[str, Any]:
        """Return the object that `--json` prints; it has `questions` only if some are open."""
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
            "error": _format_error(self.error),
            **(asked if self.questions else {}),
        }


def _format_error(error: SupervisorError | None) -> dict[str, Any] | None:
    if error is None:
        return None
    return {"code": error.code, "message": str(error), "retryable": error.retryable}
