"""What a row of an exam asks and expects."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt

from state import EscalationReason, Severity

NonBlankText = Annotated[str, Field(pattern=r"\S")]
RunEnding = Literal["done", "partial", "needs_input", "failed"]
"""How a run may end."""


class _StrictModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)


class ExpectedFinding(_StrictModel):
    """A finding that the answer must hold; what is left out may be anything."""

    file: str = ""
    line: StrictInt | None = Field(None, ge=1)
    severity: Severity | None = None
    message: str = ""
    """Words of the finding's message."""


class Expectation(_StrictModel):
    """What must come of a row; what is left out is not looked at."""

    workers: tuple[NonBlankText, ...] = ()
    """Workers that the plan must use; where the team routes, exactly those chosen."""
    edges: tuple[tuple[NonBlankText, NonBlankText], ...] = ()
    """Pairs of workers: a task of the second needs the result of a task of the first."""
    facts: tuple[NonBlankText, ...] = ()
    """Texts that must stand in the answer; one between slashes is a regular expression."""
    sources: tuple[NonBlankText, ...] = ()
    """Names that the answer must give as its sources."""
    findings: tuple[ExpectedFinding, ...] = ()
    status: RunEnding | None = None
    """How the run must end: `done` when left out, unless an escalation is expected."""
    escalation: EscalationReason | None = None
    """Why a task must have been handed back for good."""
    judged: str = ""
    """A criterion that a model holds the answer to."""

    @property
    def needs_only_a_plan(self) -> bool:
        """Return whether nothing but a plan is needed to grade the row."""
        of_a_run = (self.facts, self.sources, self.findings, self.judged)
        return not any(of_a_run) and self.status is None and self.escalation is None

    @property
    def expects_refusal(self) -> bool:
        """Return whether the run must not end with a whole answer."""
        return self.escalation is not None or self.status not in (None, "done")


class ExamRow(_StrictModel):
    """One question of an exam."""

    id: str = Field(pattern=r"^[A-Za-z0-9_.\-]{1,60}$")
    request: NonBlankText
    files: tuple[NonBlankText, ...] = ()
    """Documents, or folders of them, relative to the team's folder."""
    expect: Expectation
