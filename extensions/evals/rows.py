"""A row of an exam: its request and what is expected."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from state import COMPLETE_STATUSES, EscalationReason, Severity

NonBlankText = Annotated[str, Field(pattern=r"\S")]
RunEnding = Literal["done", "passages", "partial", "needs_input", "failed"]
"""How a run may end."""


class _StrictModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ExpectedFinding(_StrictModel):
    """A finding that the answer must have; omitted fields match anything."""

    file: str = ""
    line: StrictInt | None = Field(None, ge=1)
    severity: Severity | None = None
    message: str = ""
    """A part of the finding's message."""


class Expectation(_StrictModel):
    """The expected result of a row; omitted fields are not checked."""

    workers: tuple[NonBlankText, ...] = ()
    """Workers that the plan must use; if the team routes, exactly these."""
    edges: tuple[tuple[NonBlankText, NonBlankText], ...] = ()
    """Pairs of workers: a task of the second needs the result of a task of the first."""
    facts: tuple[NonBlankText, ...] = ()
    """Texts that the answer must contain; one between slashes is a regular expression."""
    sources: tuple[NonBlankText, ...] = ()
    """Sources that the answer must name."""
    findings: tuple[ExpectedFinding, ...] = ()
    status: RunEnding | None = None
    """How the run must end; `done`, or `passages`, if omitted, unless an escalation is expected."""
    escalation: EscalationReason | None = None
    """The reason for which a task must have been finally escalated."""
    judged: str = ""
    """A criterion by which a model judges the answer."""

    @property
    def needs_only_a_plan(self) -> bool:
        """Return whether a plan is enough to grade the row."""
        of_a_run = (self.facts, self.sources, self.findings, self.judged)
        return not any(of_a_run) and self.status is None and self.escalation is None

    @property
    def expects_refusal(self) -> bool:
        """Return whether the run must not end with a complete answer."""
        return self.escalation is not None or self.status not in (None, *COMPLETE_STATUSES)


class ExamRow(_StrictModel):
    """One question of an exam."""

    id: str = Field(pattern=r"^[A-Za-z0-9_.\-]{1,60}$")
    request: NonBlankText
    files: tuple[NonBlankText, ...] = ()
    """Documents, or folders of documents, relative to the team's folder."""
    worker: str = ""
    """The worker that gets the request as its only task, without a planner; empty for the team."""
    expect: Expectation
