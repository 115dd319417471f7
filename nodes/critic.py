"""The critic: reviews the draft of the answer, and may send named tasks back."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from nodes.capacity import capacity_of
from nodes.deadline import is_past
from nodes.errors import ModelError, UsageError
from nodes.events import emit
from nodes.models.ask import Unreadable, ask
from nodes.models.catalog import Models
from nodes.prompts import critique_messages, shortened
from nodes.steps import steps_left
from nodes.synthesis.delivery import deliver
from nodes.synthesis.matter import standing
from nodes.synthesis.reduction import cut, size
from state import (
    Context,
    Critique,
    Expense,
    Report,
    RunStatus,
    SupervisorState,
    Team,
    Usage,
)

MAX_NOTE_CHARS = 1_000


async def criticize(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: Models,
) -> SupervisorState:
    """Deliver the draft, or send tasks back within the cap; remaining problems become gaps.

    A critic that fails or cannot be read has accepted.
    """
    answer, rounds = state["answer"], state.get("critic_rounds", 0)
    assert answer is not None, "there is a draft"
    critique, usage, remark = await _review(state, runtime.context, team=team, models=models)
    spent = Expense(worker="critic", tier=team.judge_tier, usage=usage)
    ledger = {f"@critic#{rounds + 1}": spent}
    notes = {} if critique.accepted else _notes(state, critique)
    may_send = rounds < team.max_critic_rounds and not is_past(config)
    left = steps_left(state, runtime.context, team)
    sends = bool(notes) and may_send and left >= len(_again(state, notes))
    await emit(
        "criticized",
        accepted=critique.accepted,
        problems=list(critique.problems),
        sent_back=notes if sends else {},
        remark=remark,
    )
    if sends:
        return _sent_back(state, notes, ledger)
    status: RunStatus = state["drafted"]
    if not critique.accepted:
        problems = critique.problems or (
            "the critic did not accept the answer, and did not say why",
        )
        gaps = tuple(dict.fromkeys((*answer.gaps, *problems)))
        answer, status = answer.model_copy(update={"gaps": gaps}), "partial"
    return await deliver(
        state,
        config,
        answer=answer,
        status=status,
        ledger=ledger,
        capacity=capacity_of(team),
        store=runtime.store,
    )


def after_critic(state: SupervisorState) -> Literal["supervisor", "__end__"]:
    """Tasks that were sent back are the supervisor's; a delivered answer is the end."""
    return "supervisor" if state.get("status") == "running" else "__end__"


async def _review(
    state: SupervisorState, context: Context, *, team: Team, models: Models
) -> tuple[Critique, Usage, str]:
    plan, answer, results = state["plan"], state["answer"], standing(state)[0]
    assert plan is not None and answer is not None, "there is a draft of a planned answer"
    reports = [results[task.id] for task in plan.tasks if task.id in results]
    passed = Critique(accepted=True)
    messages = critique_messages(
        state["request"], plan, answer, _fitting(reports, team.max_synthesis_chars)
    )
    try:
        reply = await ask(models.chat(team.judge_tier, context), Critique, messages)
    except (ModelError, UsageError) as error:
        return passed, Usage(), f"the critic failed, the answer stands: {error}"
    except Unreadable as error:
        return passed, error.usage, "the critique could not be read, the answer stands"
    return reply.value, reply.usage, ""


def _fitting(reports: Sequence[Report], max_chars: int) -> Sequence[Report]:
    if size(reports) <= max_chars:
        return reports
    return [cut(report, max_chars // len(reports)) for report in reports]


def _notes(state: SupervisorState, critique: Critique) -> dict[str, str]:
    """Give what each task that was sent back must mend; ids that no result has are passed over."""
    results = state.get("results", {})
    return {
        rework.task: shortened(rework.mend, MAX_NOTE_CHARS)
        for rework in critique.send_back
        if rework.task in results
    }


def _sent_back(
    state: SupervisorState, notes: Mapping[str, str], ledger: Mapping[str, Expense]
) -> SupervisorState:
    """Drop the results that were sent back, and those made from them; their attempts begin anew.

    What they have cost stays in the bill and in the step cap, under other keys.
    """
    results, again = state.get("results", {}), _again(state, notes)
    rounds = state.get("critic_rounds", 0) + 1
    steps = {
        f"{name}~{rounds}" if name.partition("/")[0] in again else name: count
        for name, count in state.get("steps", {}).items()
    }
    paid = {
        f"{entry}~{rounds}" if entry.partition("#")[0] in again else entry: expense
        for entry, expense in state.get("ledger", {}).items()
    }
    kept = {name: report for name, report in results.items() if name not in again}
    complete = {name: each for name, each in results.items() if each.status == "completed"}
    dropped = {name: report for name, report in complete.items() if name in again}
    # The reducers would keep all that was there; the state's types do not know how to say so.
    return {
        "results": Overwrite(kept),  # type: ignore[typeddict-item]  # see above
        "steps": Overwrite(steps),  # type: ignore[typeddict-item]  # see above
        "ledger": Overwrite({**paid, **ledger}),  # type: ignore[typeddict-item]  # see above
        "withdrawn": {**state.get("withdrawn", {}), **dropped},
        "notes": dict(notes),
        "critic_rounds": rounds,
        "reported": -1,
    }


def _again(state: SupervisorState, notes: Iterable[str]) -> set[str]:
    """Name the tasks that are done again: those sent back, and those made from their results."""
    plan, found = state["plan"], set(notes)
    assert plan is not None, "the supervisor has planned"
    for task in plan.order():
        if any(edge.task in found for edge in task.depends_on):
            found.add(task.id)
    return found
