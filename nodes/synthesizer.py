"""The synthesizer: one answer from the reports, with its gaps."""

from collections.abc import Sequence
from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.errors import ModelError
from nodes.execution.dispatch_registry import DispatchRegistry
from nodes.limits.degradation import should_degrade
from nodes.limits.worker_load import get_team_load
from nodes.models.catalog import ModelCatalog
from nodes.models.run_context import use_answer_reserve
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.planning.request import read_history
from nodes.planning.skipping import list_partial_gaps
from nodes.prompts.messages import build_problem_message, build_synthesis_messages
from nodes.synthesis.contradictions import add_synthesizer_contradictions, count_undecided
from nodes.synthesis.delivery import deliver_answer
from nodes.synthesis.evidence import JudgeModels, SynthesisInput, prepare_input
from nodes.synthesis.fallback import has_results, has_usable_result, write_fallback_answer
from nodes.telemetry.events import emit
from state import (
    Answer,
    Context,
    Expense,
    Report,
    RunStatus,
    SupervisorState,
    Team,
    Usage,
    enter_expenses,
)

MAX_CONFIDENCE_WITH_GAPS = 50
UNDECIDED_PENALTY = 10
"""Taken from the confidence for a contradiction that nobody could decide."""
MAX_UNDECIDED_COUNTED = 3


async def synthesize(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    dispatches: DispatchRegistry,
) -> SupervisorState:
    """Write the answer; with no synthesizer to be had, give the reports as they stand.

    An answer that the critic is to review is a draft: the run goes on.
    """
    plan, rounds = state["plan"], state.get("critic_rounds", 0)
    assert plan is not None, "the supervisor has planned"
    dispatches.close(runtime, config)
    matter = await prepare_input(state, JudgeModels(team, models, runtime.context, config, rounds))
    answer, usage = write_fallback_answer(matter, team.contact), Usage()
    problem = "no task has given a result"
    if has_results(matter.reports):
        messages = build_synthesis_messages(
            team,
            state["request"],
            plan,
            matter.prompt_reports,
            matter.missing,
            findings=matter.findings,
            contradictions=matter.contradictions,
            history=read_history(state),
        )
        model = models.get_chat_model(team.synthesizer_tier, runtime.context)
        answer, usage, problem = await _write_answer(model, messages, fallback=answer)
    missing = [*matter.missing, problem] if problem else matter.missing
    answer = _ground_answer(answer, matter, missing, _list_notices(team, matter.reports))
    spent = Expense(
        worker="synthesizer",
        tier=team.synthesizer_tier,
        usage=usage,
        purpose="synthesis",
        round=rounds,
    )
    ledger = {**matter.ledger, **enter_expenses(spent)}
    status: RunStatus = "partial" if missing else "done"
    if matter.reports and not any(map(has_usable_result, matter.reports)):
        status = "failed"
    tasks = [report.task for report in matter.reports]
    await emit("synthesized", tasks=tasks, problem=problem, findings=len(matter.findings))
    if needs_review(team, answer, config) and not problem:
        return {"answer": answer, "status": "running", "drafted": status, "ledger": ledger}
    return await deliver_answer(
        state,
        config,
        answer=answer,
        status=status,
        ledger=ledger,
        capacity=get_team_load(team),
        store=runtime.store,
    )


def after_synthesizer(state: SupervisorState) -> Literal["critic", "__end__"]:
    """A draft goes to the critic; a delivered answer is the end."""
    return "critic" if state.get("status") == "running" else "__end__"


def needs_review(team: Team, answer: Answer, config: RunnableConfig) -> bool:
    """Return whether the critic is to see an answer: by the team's switch, and if there is room."""
    if team.critic == "off" or should_degrade(config):
        return False
    return team.critic == "on" or answer.confidence < team.critic_below


async def _write_answer(
    model: BaseChatModel, messages: Sequence[AnyMessage], *, fallback: Answer
) -> tuple[Answer, Usage, str]:
    """Ask for the answer; prose is taken as one, an unreadable one is asked for once more."""
    spent, problem = Usage(), ""
    asking = list(messages)
    for _ in range(2):
        try:
            with use_answer_reserve():
                reply = await ask_model(model, Answer, asking)
            return reply.value, spent + reply.usage, ""
        except ModelError as error:
            return fallback, spent, f"the synthesis failed, the reports stand as they are: {error}"
        except UnreadableReply as error:
            spent += error.usage
            if is_prose(error.reply_text):
                return Answer(text=error.reply_text, confidence=fallback.confidence), spent, ""
            problem = "the synthesizer's answer could not be read, the reports stand as they are"
            asking += [AIMessage(error.reply_text), build_problem_message(error.problems)]
    return fallback, spent, problem


def is_prose(said: str) -> bool:
    """Return whether a model answered in words where it was asked for a tool call."""
    return bool(said.strip()) and not said.lstrip().startswith(("{", "[", "```"))


def _list_notices(team: Team, reports: Sequence[Report]) -> list[str]:
    """Give what every answer says at its end: of the workers with a part in it, then the team's."""
    part = [report.worker for report in reports if has_results([report])]
    own = {worker.name: worker.notice for worker in team.workers}
    said = [*(own.get(name, "") for name in part), team.notice]
    return [notice for notice in dict.fromkeys(said) if notice]


def _ground_answer(
    answer: Answer, matter: SynthesisInput, missing: Sequence[str], notices: Sequence[str]
) -> Answer:
    """Hold the answer to the reports: their sources, their claims, and every gap.

    Each notice stands at its end, unless a model has said it already.
    A gap that a worker states does not make the run partial; a task without result does, and one
    whose report is partial.
    Confidence is 50 at most with a gap, and 10 less for each contradiction left undecided, of which
    the first three count.
    """
    named = {claim.source for report in matter.reports for claim in report.claims if claim.source}
    used = tuple(source for source in dict.fromkeys(answer.sources) if source in named)
    if not used:
        used = tuple(sorted(source for source in named if source in answer.text))
    stated = [
        gap for each in matter.reports for gap in each.gaps if gap not in list_partial_gaps(each)
    ]
    unsaid = [line for line in dict.fromkeys((*missing, *stated)) if line not in answer.gaps]
    contradictions = add_synthesizer_contradictions(
        matter.contradictions, answer.contradictions, matter.reports
    )
    confidence = min(answer.confidence, MAX_CONFIDENCE_WITH_GAPS) if missing else answer.confidence
    text = "\n\n".join([answer.text, *(said for said in notices if said not in answer.text)])
    open_ones = min(count_undecided(contradictions), MAX_UNDECIDED_COUNTED)
    return answer.model_copy(
        update={
            "text": text,
            "sources": used,
            "gaps": (*answer.gaps, *unsaid),
            "confidence": max(0, confidence - UNDECIDED_PENALTY * open_ones),
            "contradictions": contradictions,
            "findings": matter.findings,
        }
    )
