"""What the models of the control steps reply, and what a run returns; no checkpoint holds it."""

from typing import Literal

from langchain_core.messages import AnyMessage
from langgraph.graph.ui import AnyUIMessage
from pydantic import AliasChoices, Field, with_config
from typing_extensions import TypedDict

from state import Answer, Frozen, Plan, Report, RunStatus, RunUsage, Timing, Todo

PrevailingClaim = Literal["first", "second", "neither", "both", "undecided"]
"""Which of two claims is right; both, when they are about different matters."""


class Decision(Frozen):
    """Who takes a request, or who goes next."""

    worker: str = ""
    """Name of the worker best suited."""
    secondary: str = ""
    """A second worker, only when the request needs both; when routing."""
    task: str = ""
    """What the worker is to do, with the result that is wanted."""
    secondary_task: str = ""
    """What the second worker is to do; when routing."""
    needs_plan: bool = False
    """True when several workers must build on each other's results; when routing."""
    reason: str = ""
    """Why this one."""
    is_done: bool = False
    """True when the results answer the request; when stepping."""


class PlanReview(Frozen):
    """Whether the tasks that wait still make sense after reports that were not as planned."""

    makes_sense: bool
    """False: at least one waiting task is pointless or wrong now, or a needed one is missing."""
    reason: str = ""
    """What the reports found, and what it means for the tasks that wait."""


class TaskCheck(Frozen):
    """Whether a report found what its task asks about."""

    # A description of it, beside that of the prompt, makes small models deny it.
    is_found: bool


class Refinement(Frozen):
    """A failed task, rewritten from its error."""

    description: str = Field(min_length=1, max_length=4000)
    """The task in new words: more specific, or by another approach. The goal stays the same."""
    reason: str = ""
    """What went wrong, and how the new words avoid it."""


class ClaimVerdict(Frozen):
    """The judge's word on one pair of claims."""

    pair: int
    """The number of the pair, as given."""
    holds: PrevailingClaim = "undecided"
    """Which claim holds; both when they are about different matters and do not contradict."""
    reason: str = ""
    """What decides it: the better source, the quote, the period; or what is missing to decide."""


class Verdict(Frozen):
    """The judge's decision."""

    rulings: tuple[ClaimVerdict, ...] = ()
    """One for each pair of claims, when pairs are given."""
    best: str = ""
    """Id of the task with the best result, when attempts at one task are given."""
    reason: str = ""
    """Why that one is best."""


class FindingRuling(Frozen):
    """The word on one finding."""

    finding: int
    """Its number, as given."""
    reason: str = ""
    """What in the lines shows that it is a defect, or that it is none."""
    holds: bool = False
    """True: it is a real defect of this severity."""


class SecondLook(Frozen):
    """The decision on grave findings that their finder was not sure of."""

    rulings: tuple[FindingRuling, ...] = ()
    """One for each finding."""


class Rework(Frozen):
    """A task that the critic sends back."""

    task: str
    """Id of a task of the plan."""
    fix: str = Field(validation_alias=AliasChoices("fix", "mend"))
    """What its worker must do otherwise."""


class Critique(Frozen):
    """A review of the answer against the request."""

    accepted: bool
    """False when the answer must not be delivered as it is."""
    problems: tuple[str, ...] = ()
    """What is wrong with the answer; empty when it is accepted."""
    send_back: tuple[Rework, ...] = ()
    """Tasks whose results must be fixed, only where a new synthesis would not help."""


@with_config(use_attribute_docstrings=True)
class RunOutput(TypedDict, total=False):
    """The answer, the plan that led to it, and what each task found; materials are left out."""

    answer: Answer | None
    """The answer, with its confidence, gaps, contradictions and sources."""
    status: RunStatus
    """How the run ended; `partial` means that parts are missing, `passages` that documents are
    quoted and no language model has read them."""
    request: str
    """The request that was answered."""
    messages: list[AnyMessage]
    """The chat; its last message is the answer to read."""
    plan: Plan | None
    """The current plan."""
    plans: tuple[Plan, ...]
    """All versions of the plan, in order."""
    results: dict[str, Report]
    """What came of each task, by the task's id."""
    usage: RunUsage
    """Model calls, tokens and US dollars."""
    timing: Timing
    """Seconds, and what parallel work saved."""
    todos: tuple[Todo, ...]
    """The plan's tasks, as a to-do list."""
    ui: list[AnyUIMessage]
    """The plan, for a chat that draws it."""
