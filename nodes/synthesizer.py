"""The synthesizer: one answer from the reports, with its gaps."""

from collections.abc import Sequence
from typing import Literal

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.capacity import capacity_of
from nodes.cascade import list_lacking
from nodes.errors import ModelError
from nodes.events import emit
from nodes.models.ask import Unreadable, ask
from nodes.models.catalog import Models
from nodes.models.surroundings import writing_the_answer
from nodes.prompts import problem_message, synthesis_messages
from nodes.rendezvous import disband
from nodes.request import read_history
from nodes.synthesis.contradictions import undecided, with_own
from nodes.synthesis.delivery import deliver
from nodes.synthesis.matter import Bench, Matter, prepare
from nodes.synthesis.plain import has_found, has_results, plain
from nodes.thrift import must_save
from state import Answer, Context, Expense, Report, RunStatus, SupervisorState, Team, Usage

MAX_CONFIDENCE_WITH_GAPS = 50
COST_OF_UNDECIDED = 10
"""Taken from the confidence for a contradiction that nobody could decide."""
MAX_UNDECIDED_COUNTED = 3


async def synthesize(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: Models,
) -> SupervisorState:
    """Write the answer; with no synthesizer to be had, give the reports as they stand.

    An answer that the critic is to review is a draft: the run goes on.
    """
    plan, rounds = state["plan"], state.get("critic_rounds", 0)
    assert plan is not None, "the supervisor has planned"
    disband(runtime, config)
    suffix = f"#{rounds}" if rounds else ""
    matter = await prepare(state, Bench(team, models, runtime.context, config, suffix))
    answer, usage = plain(matter, team.contact), Usage()
    problem = "no task has given a result"
    if has_results(matter.reports):
        messages = synthesis_messages(
            team,
            state["request"],
            plan,
            matter.shown,
            matter.missing,
            findings=matter.findings,
            contradictions=matter.contradictions,
            history=read_history(state),
        )
        model = models.chat(team.synthesizer_tier, runtime.context)
        answer, usage, problem = await _write(model, messages, fallback=answer)
    missing = [*matter.missing, problem] if problem else matter.missing
    answer = _grounded(answer, matter, missing, _notices(team, matter.reports))
    spent = Expense(worker="synthesizer", tier=team.synthesizer_tier, usage=usage)
    ledger = {**matter.ledger, f"@synthesis{suffix}": spent}
    status: RunStatus = "partial" if missing else "done"
    if matter.reports and not any(map(has_found, matter.reports)):
        status = "failed"
    tasks = [report.task for report in matter.reports]
    await emit("synthesized", tasks=tasks, problem=problem, findings=len(matter.findings))
    if is_reviewed(team, answer, config) and not problem:
        return {"answer": answer, "status": "running", "drafted": status, "ledger": ledger}
    return await deliver(
        state,
        config,
        answer=answer,
        status=status,
        ledger=ledger,
        capacity=capacity_of(team),
        store=runtime.store,
    )


def after_synthesizer(state: SupervisorState) -> Literal["critic", "__end__"]:
    """A draft goes to the critic; a delivered answer is the end."""
    return "critic" if state.get("status") == "running" else "__end__"


def is_reviewed(team: Team, answer: Answer, config: RunnableConfig) -> bool:
    """Say whether the critic is to see an answer: by the team's switch, and if there is room."""
    if team.critic == "off" or must_save(config):
        return False
    return team.critic == "on" or answer.confidence < team.critic_below


async def _write(
    model: BaseChatModel, messages: Sequence[AnyMessage], *, fallback: Answer
) -> tuple[Answer, Usage, str]:
    """Ask for the answer; prose is taken as one, an unreadable one is asked for once more."""
    spent, problem = Usage(), ""
    asking = list(messages)
    for _ in range(2):
        try:
            with writing_the_answer():
                reply = await ask(model, Answer, asking)
            return reply.value, spent + reply.usage, ""
        except ModelError as error:
            return fallback, spent, f"the synthesis failed, the reports stand as they are: {error}"
        except Unreadable as error:
            spent += error.usage
            if is_prose(error.said):
                return Answer(text=error.said, confidence=fallback.confidence), spent, ""
            problem = "the synthesizer's answer could not be read, the reports stand as they are"
            asking += [AIMessage(error.said), problem_message(error.problems)]
    return fallback, spent, problem


def is_prose(said: str) -> bool:
    """Say whether a model answered in words where it was asked for a tool call."""
    return bool(said.strip()) and not said.lstrip().startswith(("{", "[", "```"))


def _notices(team: Team, reports: Sequence[Report]) -> list[str]:
    """Give what every answer says at its end: of the workers with a part in it, then the team's."""
    part = [report.worker for report in reports if has_results([report])]
    own = {worker.name: worker.notice for worker in team.workers}
    said = [*(own.get(name, "") for name in part), team.notice]
    return [notice for notice in dict.fromkeys(said) if notice]


def _grounded(
    answer: Answer, matter: Matter, missing: Sequence[str], notices: Sequence[str]
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
    stated = [gap for each in matter.reports for gap in each.gaps if gap not in list_lacking(each)]
    unsaid = [line for line in dict.fromkeys((*missing, *stated)) if line not in answer.gaps]
    contradictions = with_own(matter.contradictions, answer.contradictions, matter.reports)
    confidence = min(answer.confidence, MAX_CONFIDENCE_WITH_GAPS) if missing else answer.confidence
    text = "\n\n".join([answer.text, *(said for said in notices if said not in answer.text)])
    open_ones = min(undecided(contradictions), MAX_UNDECIDED_COUNTED)
    return answer.model_copy(
        update={
            "text": text,
            "sources": used,
            "gaps": (*answer.gaps, *unsaid),
            "confidence": max(0, confidence - COST_OF_UNDECIDED * open_ones),
            "contradictions": contradictions,
            "findings": matter.findings,
        }
    )
