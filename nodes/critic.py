"""The critic: reviews the draft of the answer, and may send tasks back."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime
from langgraph.types import Overwrite

from nodes.errors import ModelError, UsageError
from nodes.limits.deadline import count_steps_left, is_deadline_past
from nodes.models.catalog import ModelCatalog
from nodes.models.guarded_model import apply_parameters
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.messages import build_critique_messages
from nodes.prompts.tags import shorten_text
from nodes.schemas.replies import Critique
from nodes.schemas.team import Team
from nodes.synthesis.delivery import deliver_answer
from nodes.synthesis.evidence import restore_withdrawn_results
from nodes.synthesis.reduction import cut_report, measure_size
from nodes.telemetry.events import emit
from nodes.text.phrases import say
from state import Context, Expense, Report, RunStatus, SupervisorState, Usage, enter_expenses

MAX_NOTE_CHARS = 1_000


async def criticize(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
) -> SupervisorState:
    """Deliver the draft, or send tasks back within the cap; remaining problems become gaps.

    When the critic fails or cannot be read, the draft counts as accepted.
    """
    answer, rounds = state["answer"], state.get("critic_rounds", 0)
    assert answer is not None, "there is a draft"
    critique, usage, remark = await _review_answer(state, runtime.context, team=team, models=models)
    tier, number = team.judge_tier, rounds + 1
    ledger = enter_expenses(
        Expense(worker="critic", tier=tier, usage=usage, purpose="critic", round=number)
    )
    notes = {} if critique.accepted else _collect_rework_notes(state, critique)
    may_send = rounds < team.max_critic_rounds and not is_deadline_past(config)
    left = count_steps_left(state, runtime.context, team)
    sends = bool(notes) and may_send and left >= len(_find_tasks_to_redo(state, notes))
    await emit(
        "criticized",
        accepted=critique.accepted,
        problems=list(critique.problems),
        sent_back=notes if sends else {},
        remark=remark,
    )
    if sends:
        return _send_tasks_back(state, notes, ledger)
    status: RunStatus = state["drafted"]
    if not critique.accepted:
        problems = critique.problems or (say(answer.language, "not_accepted"),)
        gaps = tuple(dict.fromkeys((*answer.gaps, *problems)))
        answer, status = answer.model_copy(update={"gaps": gaps}), "partial"
    return await deliver_answer(
        state, config, runtime, team, answer=answer, status=status, ledger=ledger
    )


def after_critic(state: SupervisorState) -> Literal["supervisor", "__end__"]:
    """Return the supervisor while tasks were sent back, else the end of the run."""
    return "supervisor" if state.get("status") == "running" else "__end__"


async def _review_answer(
    state: SupervisorState, context: Context, *, team: Team, models: ModelCatalog
) -> tuple[Critique, Usage, str]:
    plan, answer, results = state["plan"], state["answer"], restore_withdrawn_results(state)[0]
    assert plan is not None and answer is not None, "there is a draft of a planned answer"
    reports = [results[task.id] for task in plan.tasks if task.id in results]
    accepted = Critique(accepted=True)
    messages = build_critique_messages(
        state["request"], plan, answer, _fit_reports(reports, team.max_synthesis_chars)
    )
    try:
        model = models.get_chat_model(team.judge_tier, context)
        judge = apply_parameters(model, team.get_parameters("judge"))
        reply = await ask_model(judge, Critique, messages)
    except (ModelError, UsageError) as error:
        return accepted, Usage(), f"the critic failed, the answer is unchanged: {error}"
    except UnreadableReply as error:
        return accepted, error.usage, "the critique could not be read, the answer is unchanged"
    return reply.value, reply.usage, ""


def _fit_reports(reports: Sequence[Report], max_chars: int) -> Sequence[Report]:
    if measure_size(reports) <= max_chars:
        return reports
    return [cut_report(report, max_chars // len(reports)) for report in reports]


def _collect_rework_notes(state: SupervisorState, critique: Critique) -> dict[str, str]:
    """Return what to fix in each task sent back; tasks without a result are ignored."""
    results = state.get("results", {})
    return {
        rework.task: shorten_text(rework.fix, MAX_NOTE_CHARS)
        for rework in critique.send_back
        if rework.task in results
    }


def _send_tasks_back(
    state: SupervisorState, notes: Mapping[str, str], ledger: Mapping[str, Expense]
) -> SupervisorState:
    """Return the update that drops the results sent back and those built on them.

    Their tasks start again. Their cost and steps still count, under other keys.
    """
    results, redone = state.get("results", {}), _find_tasks_to_redo(state, notes)
    rounds = state.get("critic_rounds", 0) + 1
    steps = {
        f"{name}~{rounds}" if name.partition("/")[0] in redone else name: count
        for name, count in state.get("steps", {}).items()
    }
    paid = enter_expenses(
        *(_mark_round(each, redone, rounds) for each in state.get("ledger", {}).values())
    )
    kept = {name: report for name, report in results.items() if name not in redone}
    complete = {name: each for name, each in results.items() if each.status == "completed"}
    dropped = {name: report for name, report in complete.items() if name in redone}
    # The reducers would keep the old values, and the state's types do not allow an Overwrite.
    return {
        "results": Overwrite(kept),  # type: ignore[typeddict-item]  # see above
        "steps": Overwrite(steps),  # type: ignore[typeddict-item]  # see above
        "ledger": Overwrite({**paid, **ledger}),  # type: ignore[typeddict-item]  # see above
        "results_before_rework": {**state.get("results_before_rework", {}), **dropped},
        "notes": dict(notes),
        "critic_rounds": rounds,
        "reports_at_last_dispatch": -1,
    }


def _find_tasks_to_redo(state: SupervisorState, notes: Iterable[str]) -> set[str]:
    """Return the ids of the tasks to repeat: those sent back, and those built on their results."""
    plan, redone = state["plan"], set(notes)
    assert plan is not None, "the supervisor has planned"
    for task in plan.order_tasks():
        if any(edge.task in redone for edge in task.depends_on):
            redone.add(task.id)
    return redone


def _mark_round(spent: Expense, redone: Collection[str], rounds: int) -> Expense:
    """Return an entry of an attempt that was sent back under the critic's round."""
    is_sent_back = spent.task in redone and not spent.round
    return spent.model_copy(update={"round": rounds}) if is_sent_back else spent
