"""What a worker is handed, and typed values that the built-in model gets beside its messages.

No checkpoint holds them, and no other model is sent the values beside.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, TypeVar

from pydantic import ConfigDict, Field

from nodes.schemas.team import Team, Worker
from state import Frozen, MergedFinding, Plan, Report, Tier


class Constraints(Frozen):
    """What a handoff allows."""

    max_tokens: int
    timeout_s: float
    tier: Tier


class Handoff(Frozen):
    """All that a worker sees of the run."""

    model_config = ConfigDict(populate_by_name=True)

    task: str
    sender: str = Field("supervisor", alias="from")
    to: str
    intent: str
    """The task's description."""
    context: tuple[Report, ...] = ()
    """Results of the task's own dependencies."""
    artifacts: dict[str, str] = Field(default_factory=dict)
    """The task's materials, name to text."""
    constraints: Constraints
    return_to: str = "supervisor"


REPLY_FORMS: Final = frozenset(("Plan", "Decision", "Refinement", "Recruit", "Answer", "Report"))
"""Names of the tools by which a model replies; all others work."""


@dataclass(frozen=True)
class RevisionValues:
    """Why a plan must change, and what of it is done."""

    plan: Plan
    results: Sequence[Report]
    running: Collection[str]
    """Ids of the tasks that are at work."""
    reason: str
    is_rejection: bool = False
    """A human has rejected the plan, with the reason as they wrote it."""


@dataclass(frozen=True)
class PlanningValues:
    """What a plan or a choice of workers is made from."""

    team: Team
    request: str
    materials: Mapping[str, str] = field(default_factory=dict)
    """Name to text."""
    database: str = ""
    """The tables of the database, a line each with their columns."""
    given: Sequence[Report] = ()
    """Results that come with the request, or those of earlier steps."""
    revision: RevisionValues | None = None
    before: str = ""
    """The user's earlier requests of the thread, a line or more each."""


@dataclass(frozen=True)
class WorkValues:
    """What one attempt at a task is made from."""

    worker: Worker
    handoff: Handoff
    subject: str = ""
    """The request's own words that the task answers; empty where none are named."""
    earlier: str = ""
    """Why the last attempt failed."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Of a human, by question."""
    before: str = ""
    """The user's own words before those of the subject, of this request and of earlier ones."""


@dataclass(frozen=True)
class InnerRequestValues:
    """A task that a team does, without the instructions that are added to its request."""

    words: str


@dataclass(frozen=True)
class RefinementValues:
    """A task whose attempt failed, and why."""

    description: str
    problem: str


@dataclass(frozen=True)
class RecruitValues:
    """A task for a specialist, and the tools it may get, name to description."""

    description: str
    tools: Mapping[str, str]


@dataclass(frozen=True)
class AnswerValues:
    """What an answer is made from."""

    request: str
    reports: Sequence[Report]
    missing: Sequence[str] = ()
    findings: Sequence[MergedFinding] = ()
    language: str = ""
    headings: Mapping[str, str] = field(default_factory=dict)
    """Words of the request that a task answers, by task; none of a task that has no own."""


BesideValues = (
    PlanningValues
    | WorkValues
    | InnerRequestValues
    | RefinementValues
    | RecruitValues
    | AnswerValues
)
V = TypeVar("V")

_values: ContextVar[BesideValues | None] = ContextVar("beside_values", default=None)


@contextmanager
def lay_beside(values: BesideValues) -> Iterator[None]:
    """Lay values beside the calls of the built-in model that are made inside."""
    token = _values.set(values)
    try:
        yield
    finally:
        _values.reset(token)


def get_beside(kind: type[V]) -> V | None:
    """Return the values of a kind that lie beside this call; None without any."""
    values = _values.get()
    return values if isinstance(values, kind) else None
