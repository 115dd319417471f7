"""What one attempt is to do, and the protocol of the three kinds of worker that can do it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import RunnableConfig

from nodes.prompts.tags import shorten_text
from nodes.schemas.handoff import Constraints, Handoff
from nodes.schemas.team import Worker
from nodes.security.provenance import build_taint
from nodes.security.taint import Taint, merge_labels
from state import Context, Expense, Fault, Report, TaintLabel, Task, Tier, Usage, WorkerState

MAX_TRACED_CHARS: Final = 2_000
"""Limit for each text of a handoff in the trace; a report beside it has all of what it says."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """One attempt at a task: what is to be done, and by whom."""

    state: WorkerState
    context: Context
    worker: Worker
    tier: Tier
    model: BaseChatModel
    is_checkpointed: bool = False
    """A checkpointer keeps the run."""
    max_steps: int = 1
    """Attempts that the run's step cap leaves for a team."""

    @property
    def task(self) -> Task:
        return self.state["task"]

    @property
    def number(self) -> int:
        """Of the attempt, from 1."""
        return len(self.state["attempts"]) + 1

    @property
    def earlier(self) -> str:
        """The last attempt's error."""
        return self.state.get("problem", "")

    @property
    def answers(self) -> Mapping[str, str]:
        """Of a human, by question."""
        return self.state.get("answers", {})

    @property
    def materials(self) -> Mapping[str, str]:
        """Those of the task: name to text."""
        return self.state.get("materials", {})

    @cached_property
    def handoff(self) -> Handoff:
        """All that the worker sees of the run."""
        state, limits = self.state, self.worker.limits
        needed = (state["inputs"][edge.task] for edge in self.task.depends_on)
        return Handoff(
            task=self.task.id,
            to=self.worker.name,
            intent=state["description"],
            context=(*needed, *state.get("given", ())),
            artifacts=state.get("materials", {}),
            constraints=Constraints(
                max_tokens=limits.max_tokens, timeout_s=limits.timeout_s, tier=self.tier
            ),
        )

    def describe_handoff(self) -> dict[str, Any]:
        """Return the handoff for the trace, without the texts that it holds elsewhere.

        `given` are the ids of the tasks whose reports were in it, `materials` the characters of
        each material by name. `description` is there if it is not the plan's, `earlier` is what was
        wrong with the attempt before, `answers` are a human's, by question, and `instructions`
        those of a specialist.
        """
        state, limits = self.state, self.worker.limits
        described: dict[str, Any] = {
            "given": [*state.get("inputs", {}), *(each.task for each in state.get("given", ()))],
            "materials": {name: len(text) for name, text in self.materials.items()},
            "timeout_s": limits.timeout_s,
            "max_turns": limits.max_turns,
            "max_tokens": limits.max_tokens,
        }
        if (words := state["description"]) != self.task.description:
            described["description"] = shorten_text(words, MAX_TRACED_CHARS)
        if self.earlier:
            described["earlier"] = shorten_text(self.earlier, MAX_TRACED_CHARS)
        if self.answers:
            described["answers"] = {
                shorten_text(question, MAX_TRACED_CHARS): shorten_text(answer, MAX_TRACED_CHARS)
                for question, answer in self.answers.items()
            }
        if "recruit" in state:
            instructions = state["recruit"].instructions
            described["instructions"] = shorten_text(instructions, MAX_TRACED_CHARS)
        return described


@dataclass(kw_only=True)
class Doer(ABC):
    """Does a task once: a worker's agent, a team, or a worker that is not in this process.

    What it has read and used is known even when it fails.
    """

    work: Work
    taint: Taint = field(init=False)
    """What was read so far."""

    timeout_fault: ClassVar[Fault] = "content"
    """What an end of its time concerns."""

    def __post_init__(self) -> None:
        self.taint = build_taint(self.work.state)

    @abstractmethod
    async def do(self, config: RunnableConfig, timeout_s: float) -> Report:
        """Return the report.

        Raises:
            SupervisorError: the task cannot be done by this worker, or not now.
            GraphInterrupt: a human is asked.
        """

    @abstractmethod
    async def complete(self, report: Report) -> Report:
        """Return a report with what is known of it besides its words, such as its proof."""

    @property
    @abstractmethod
    def usage(self) -> Usage:
        """What the attempt has used so far."""

    @property
    def ledger(self) -> dict[str, Expense]:
        """The entries of a run inside; empty where the attempt is one expense."""
        return {}

    @property
    def steps(self) -> int:
        """The number of attempts that were made inside this one."""
        return 0

    @property
    def early_report(self) -> Report | None:
        """A report before all was read or proved; it counts when no later one can be read."""
        return None

    @property
    def taint_labels(self) -> tuple[TaintLabel, ...]:
        """The labels of everything read in the attempt."""
        return merge_labels(self.taint.taint_labels)

    @property
    def addresses(self) -> tuple[str, ...]:
        """The addresses found."""
        return self.taint.list_addresses()

    def list_found(self) -> Sequence[str]:
        """Return what was found so far, for an attempt whose time ends."""
        return ()

    def list_open_tools(self) -> Sequence[str]:
        """Return the tools that are at work, by name, for an attempt whose time ends."""
        return ()

    def hold_slot(self, left_s: float | None) -> AbstractAsyncContextManager[object]:
        """Wait until a slow server is free for this task, at most the seconds left of the run."""
        return nullcontext()
