"""One attempt at a task, by a worker's own loop or by a team; what goes wrong is written down."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphBubbleUp
from langgraph.graph.state import CompiledStateGraph

from nodes.cascade import list_shortfalls
from nodes.deadline import remaining_s
from nodes.delegation import Delegation, TeamGraph
from nodes.errand import Errand, TurnsSpent
from nodes.errors import PlanInvalid, StoreError, SupervisorError, ThreadBusy
from nodes.models.ask import Unreadable, read_content
from nodes.models.deadline import Deadline
from nodes.origin import handed_on, taint_of
from nodes.prompts import MAX_OUTPUT_CHARS, handoff_message, shortened
from nodes.redaction import redacted
from nodes.taint import MAX_ADDRESSES, merged
from nodes.tools.documents.read import is_cut
from state import (
    SPECIALIST,
    Attempt,
    Constraints,
    Context,
    Expense,
    Fault,
    Handoff,
    Mark,
    Recruit,
    Report,
    Tier,
    Worker,
    WorkerState,
)

MOMENT_S = 0.05
"""So near its deadline a run has reached it: clocks differ by less."""

Loop = CompiledStateGraph[Any, Errand, Any, Any]


class Doers(Protocol):
    """Gives what does the work of a team's tasks; each is built when first asked for."""

    async def loop(self, name: str) -> Loop:
        """Give the loop of the worker of a name."""

    async def recruited(self, recruit: Recruit) -> Loop:
        """Give the loop of a specialist."""

    async def team(self, name: str) -> TeamGraph:
        """Give the graph of the worker of a name that is a team."""

    async def divided(self) -> TeamGraph:
        """Give the graph that divides a task of this team into a plan of its own."""


@dataclass(kw_only=True)
class Work:
    """What an attempt is made with."""

    state: WorkerState
    config: RunnableConfig
    context: Context
    worker: Worker
    tier: Tier
    doers: Doers
    errand: Errand
    divides: bool
    """The task is divided instead of done by one worker."""
    is_kept: bool
    """A checkpointer keeps the run."""
    max_steps: int
    """Attempts that the run's step cap leaves to a team."""
    delegation: Delegation | None = None

    async def attempt(self) -> Attempt:
        """Make the attempt."""
        self.errand.taint = taint_of(self.state)
        attempt = await self._attempted()
        inner = self.delegation
        marks, addresses = self._read()
        report = attempt.report
        if report:
            update = {"marks": marks, "addresses": addresses, **self._find_failures(report)}
            report = report.model_copy(update=update)
        return attempt.model_copy(
            update={
                "report": report,
                "marks": marks,
                "worker": self.worker.name,
                "tier": self.tier,
                "usage": inner.usage if inner else self.errand.usage,
                "ledger": inner.ledger if inner else {},
            }
        )

    @property
    def inner_steps(self) -> int:
        """Count the attempts that a team made within this one."""
        return self.delegation.steps if self.delegation else 0

    def _read(self) -> tuple[tuple[Mark, ...], tuple[str, ...]]:
        """Give the marks of all that was read in the attempt, and the addresses that were found."""
        taint, inner = self.errand.taint, self.delegation
        if inner is None:
            return merged(taint.marks), taint.addresses()
        addresses = dict.fromkeys([*taint.found, *inner.addresses])
        return merged(taint.marks, inner.marks), tuple(addresses)[-MAX_ADDRESSES:]

    def _find_failures(self, report: Report) -> dict[str, Any]:
        """Return the fields of a report that say what tools left undone; a team has set its own."""
        if self.delegation:
            return {"failures": ()}
        outcomes, materials = self.errand.outcomes, self.state.get("materials", {})
        cut = [name for name, text in materials.items() if is_cut(text)]
        failures = (
            *(f"{name} was cut when it was read: its end is not covered" for name in cut),
            *outcomes.list_failures(),
        )
        if report.status != "completed" or report.escalation:
            return {"failures": (), "is_partial": False}
        gaps = dict.fromkeys((*failures, *outcomes.list_refusals(), *report.gaps))
        return {"failures": failures, "is_partial": bool(failures), "gaps": tuple(gaps)}

    async def _attempted(self) -> Attempt:
        description = self.state["description"]
        left_s, limit_s = remaining_s(self.config), self.worker.limits.timeout_s
        timeout_s = limit_s if left_s is None else min(limit_s, left_s)
        fault: Fault = "content"
        try:
            async with Deadline(limit_s, left_s).of_attempt():
                report = await self._done(timeout_s)
            return Attempt(description=description, report=report)
        except TimeoutError:
            left_s = remaining_s(self.config)
            whose = "its limit" if left_s is None or left_s > MOMENT_S else "the run's deadline"
            error = f"timed out after {timeout_s:.3g} s, {whose}"
        except (TurnsSpent, Unreadable) as problem:
            error = str(problem)
        except (GraphBubbleUp, StoreError, ThreadBusy):
            raise
        except SupervisorError as problem:
            # What may pass by itself has been tried again where the model is called, only there.
            error = f"{problem.code}: {problem}"
            fault = "content" if isinstance(problem, PlanInvalid) else "permanent"
        except Exception as problem:  # raised here it would cancel the task's siblings
            error = f"{type(problem).__name__}: {problem}"
        return Attempt(description=description, error=shortened(redacted(error), 2000), fault=fault)

    async def _done(self, timeout_s: float) -> Report:
        earlier, answers = self.state.get("problem", ""), self.state.get("answers", {})
        if self.divides or self.worker.team:
            doers = self.doers
            graph = await (doers.divided() if self.divides else doers.team(self.worker.name))
            self.delegation = Delegation(
                graph=graph,
                handoff=self._handoff(),
                config=self.config,
                context=self.context,
                timeout_s=timeout_s,
                max_steps=self.max_steps,
                origin=handed_on(self.state),
                guidance="" if self.divides else self.worker.instructions.strip(),
                is_division=self.divides,
            )
            report = await self.delegation.run(earlier=earlier, answers=answers)
        else:
            report = await self._looped(earlier, answers)
        return report.model_copy(update={"output": shortened(report.output, MAX_OUTPUT_CHARS)})

    async def _looped(self, earlier: str, answers: Mapping[str, str]) -> Report:
        doers, name = self.doers, self.worker.name
        is_recruited = name == SPECIALIST and "recruit" in self.state
        recruited = doers.recruited(self.state["recruit"]) if is_recruited else None
        loop = await (recruited or doers.loop(name))
        message = handoff_message(self._handoff(), earlier=earlier, answers=answers)
        result = await loop.ainvoke(
            {
                "messages": [message],
                "materials": self.state.get("materials", {}),
                "lacking": self._list_shortfalls(),
            },
            {"metadata": {"task": self.state["task"].id, "worker": name}},
            context=self.errand,
            # The attempt is what a resume goes back to: its turns need no checkpoint each.
            durability="exit" if self.is_kept else None,
        )
        said = result.get("structured_response")
        if said is None:
            said = read_content(_last_words(result["messages"]), Report)
        return Report.model_validate(said if isinstance(said, dict) else said.model_dump())

    def _list_shortfalls(self) -> list[str]:
        """Return what the reports that are handed over fall short of."""
        given = self._handoff().context
        return [f"{each.task} {reason}" for each in given for reason in list_shortfalls(each)]

    def _handoff(self) -> Handoff:
        state, limits = self.state, self.worker.limits
        needed = (state["inputs"][edge.task] for edge in state["task"].depends_on)
        return Handoff(
            task=state["task"].id,
            to=self.worker.name,
            intent=state["description"],
            context=(*needed, *state.get("given", ())),
            artifacts=state.get("materials", {}),
            constraints=Constraints(
                max_tokens=limits.max_tokens, timeout_s=limits.timeout_s, tier=self.tier
            ),
        )


def expenses(task: str, number: str, attempt: Attempt) -> dict[str, Expense]:
    """Enter an attempt into the run's ledger; a team's own entries one by one."""
    entry = f"{task}#{number}"
    if not attempt.ledger:
        return {entry: Expense(worker=attempt.worker, tier=attempt.tier, usage=attempt.usage)}
    return {f"{entry}/{name}": spent for name, spent in attempt.ledger.items()}


def _last_words(messages: list[Any]) -> str:
    spoken = [message for message in messages if isinstance(message, AIMessage)]
    return str(spoken[-1].text) if spoken else ""
