"""The synthesizer: one answer from the reports, with its gaps."""

from collections import Counter
from collections.abc import Sequence
from copy import deepcopy
from functools import cache, partial
from typing import Any, Literal

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.errors import ModelError
from nodes.execution.dispatch_registry import DispatchRegistry
from nodes.limits.deadline import should_degrade
from nodes.models.catalog import EMBEDDED, AvailableModels, ModelCatalog
from nodes.models.lengths import SHORTENED
from nodes.models.run_context import listen_to_reply, use_answer_reserve
from nodes.models.structured_output import UnreadableReply
from nodes.planning.request import list_unread_attachments, read_history
from nodes.prompts.messages import build_problem_message, build_synthesis_messages
from nodes.schemas.handoff import AnswerValues, lay_beside
from nodes.schemas.team import Team
from nodes.synthesis.contradictions import find_named_pairs
from nodes.synthesis.delivery import AnswerStream, deliver_answer
from nodes.synthesis.evidence import JudgeModels, SynthesisInput, prepare_input
from nodes.synthesis.fallback import (
    has_results,
    has_usable_result,
    quotes_unread,
    write_fallback_answer,
)
from nodes.synthesis.grounding import ground_answer, ground_unanswered, prove_lines
from nodes.telemetry.events import emit
from nodes.text.phrases import say
from state import (
    Answer,
    Context,
    Expense,
    Plan,
    Report,
    RunStatus,
    SupervisorState,
    Usage,
    enter_expenses,
    require_plan,
)

MAX_HEADING_CHARS = 100


async def synthesize(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: ModelCatalog,
    dispatches: DispatchRegistry,
) -> SupervisorState:
    """Write and deliver the answer; without a synthesizer it lists the reports.

    An answer that the critic reviews is a draft: the run continues. The reply to small talk is
    there already.
    """
    dispatches.close(runtime, config)
    deliver = partial(deliver_answer, state, config, runtime, team)
    if (reply := state.get("answer")) is not None and state.get("plan") is None:
        return await deliver(answer=reply, status="done", ledger={})
    rounds = state.get("critic_rounds", 0)
    preparing = JudgeModels(team, models, runtime.context, config, rounds)
    evidence = await prepare_input(state, preparing)
    judge = models.get_name(team.judge_tier, runtime.context)
    # A draft may be sent back: none of it is shown.
    stream = None if may_need_review(team, config, judge=judge) else AnswerStream(config)
    answer, usage, problem = await _write_answer(state, evidence, preparing, stream)
    answer, unproved = await prove_lines(answer, state, evidence, usage)
    answer, missing = await _ground(answer, state, evidence, preparing, problem, unproved)
    spent = Expense(
        worker="synthesizer",
        tier=team.synthesizer_tier,
        usage=usage,
        purpose="synthesis",
        round=rounds,
    )
    ledger = {**evidence.ledger, **enter_expenses(spent)}
    status = _choose_status(answer, evidence, missing)
    tasks = [report.task for report in evidence.reports]
    await emit("synthesized", tasks=tasks, problem=problem, findings=len(evidence.findings))
    if needs_review(team, answer, config, judge=judge) and not problem:
        return {"answer": answer, "status": "running", "drafted": status, "ledger": ledger}
    return await deliver(answer=answer, status=status, ledger=ledger, stream=stream)


async def _ground(
    answer: Answer,
    state: SupervisorState,
    evidence: SynthesisInput,
    preparing: JudgeModels,
    problem: str,
    unproved: Sequence[str],
) -> tuple[Answer, list[str]]:
    """Return the answer with sources, gaps, contradictions and confidence, and what is missing."""
    word = partial(say, evidence.language)
    is_known = problem == word("no_result") and evidence.missing
    missing = [*evidence.missing, *([problem] if problem and not is_known else ())]
    answer = ground_unanswered(
        answer, state["request"], require_plan(state).goal, evidence.unanswered
    )
    missing += [word("not_answered", part=part) for part in answer.unanswered]
    missing += unproved
    missing += [word("held")] if missing and preparing.context.certificate else []
    open_parts = dict.fromkeys((*evidence.unanswered, *answer.unanswered))
    answer = answer.model_copy(update={"unanswered": tuple(open_parts)})
    named = find_named_pairs(evidence.contradictions, answer.contradictions, evidence.reports)
    judged = await preparing.judge_pairs(state["request"], named)
    notices = _list_notices(preparing.team, evidence.reports)
    found = [*evidence.contradictions, *judged]
    return ground_answer(answer, evidence, found, missing, notices), missing


def _choose_status(answer: Answer, evidence: SynthesisInput, missing: Sequence[str]) -> RunStatus:
    if evidence.reports and not any(map(has_usable_result, evidence.reports)):
        return "failed"
    if missing:
        return "partial"
    return "passages" if answer.is_unread else "done"


def after_synthesizer(state: SupervisorState) -> Literal["critic", "__end__"]:
    """Return the critic for a draft, else the end of the run."""
    return "critic" if state.get("status") == "running" else "__end__"


def needs_review(team: Team, answer: Answer, config: RunnableConfig, *, judge: str) -> bool:
    """Return whether the critic reviews an answer: by the team's switch, unless degraded.

    An unknown confidence counts as below any, but unread passages claim none. The
    embedded model cannot review.

    Args:
        judge: the name of the critic's model.
    """
    if not may_need_review(team, config, judge=judge):
        return False
    is_sure = answer.confidence is not None and answer.confidence >= team.critic_below
    is_sure = is_sure or answer.is_unread
    return team.critic == "on" or not is_sure


def may_need_review(team: Team, config: RunnableConfig, *, judge: str) -> bool:
    """Return whether the critic may review an answer, before its confidence is known."""
    return not (team.critic == "off" or judge == EMBEDDED or should_degrade(config))


async def _write_answer(
    state: SupervisorState,
    evidence: SynthesisInput,
    preparing: JudgeModels,
    stream: AnswerStream | None,
) -> tuple[Answer, Usage, str]:
    """Return the answer to the reports, its usage, and why it is not a model's, if so."""
    plan, team = require_plan(state), preparing.team
    fallback = write_fallback_answer(evidence, team.contact, has_files=bool(state.get("materials")))
    has_usable = any(map(has_usable_result, evidence.reports))
    if not (has_usable and has_results(evidence.reports)):
        if not state.get("materials"):  # what the tasks lacked
            unread = list_unread_attachments(state, evidence.language, "attached_unread")
            fallback = fallback.model_copy(update={"text": "\n\n".join((*unread, fallback.text))})
        return fallback, Usage(), say(evidence.language, "no_result")
    messages = build_synthesis_messages(
        team,
        state["request"],
        plan,
        evidence.prompt_reports,
        evidence.missing,
        findings=evidence.findings,
        contradictions=evidence.contradictions,
        history=read_history(state),
    )
    beside = AnswerValues(
        state["request"],
        evidence.prompt_reports,
        evidence.missing,
        evidence.findings,
        evidence.language,
        _list_headings(plan),
    )
    with lay_beside(beside), listen_to_reply(stream.listener if stream else None):
        answer, usage, problem = await _ask_for_answer(
            preparing.get_writers(), messages, fallback=fallback, evidence=evidence
        )
    is_written = answer is not fallback and usage.models != (EMBEDDED,)
    is_unread = quotes_unread(evidence.reports) and not is_written  # who wrote it has read them
    return answer.model_copy(update={"is_unread": is_unread}), usage, problem


def _deliver_report(answer: Answer, reports: Sequence[Report]) -> Answer:
    """Return the answer; one without a text has the output of the report that it names.

    Raises:
        UnreadableReply: it has neither.
    """
    if answer.text.strip():
        return answer.model_copy(update={"report": ""})
    for each in reports:
        if each.task == answer.report.strip() and each.status == "completed" and each.output:
            return answer.model_copy(update={"text": each.output, "report": each.task})
    raise UnreadableReply([f"report: {answer.report[:40]!r} is no completed task; write the text"])


def drop_half_contradictions(fields: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without contradictions that have no second side: the text is worth more."""
    named = fields.get("contradictions")
    if not isinstance(named, list):
        return fields
    kept = [
        each
        for each in named
        if not (isinstance(each, dict) and isinstance(each.get("claims"), list))
        or len(each["claims"]) > 1
    ]
    return {**fields, "contradictions": kept}


def _build_schema(reports: Sequence[Report]) -> dict[str, Any]:
    """Return the schema that a model sees: `report` names a task whose result is whole."""
    schema = deepcopy(_build_answer_schema())
    whole = [each.task for each in reports if each.status == "completed" and each.output]
    if whole:
        schema["properties"]["report"] |= {"enum": ["", *whole]}
    else:
        del schema["properties"]["report"]
    return schema


@cache
def _build_answer_schema() -> dict[str, Any]:
    """Return the schema of an answer, which takes some milliseconds to build."""
    return Answer.model_json_schema()


def _list_headings(plan: Plan) -> dict[str, str]:
    """Return the words of the request that each task answers, where they are its own and short."""
    counts = Counter(task.asked for task in plan.tasks)
    return {
        task.id: " ".join(task.asked.split()).rstrip(".,;:")
        for task in plan.tasks
        if counts[task.asked] == 1 and 0 < len(task.asked) <= MAX_HEADING_CHARS
    }


async def _ask_for_answer(
    writers: AvailableModels,
    messages: Sequence[AnyMessage],
    *,
    fallback: Answer,
    evidence: SynthesisInput,
) -> tuple[Answer, Usage, str]:
    """Return the model's answer, else the fallback; its usage; and the problem, if any.

    Prose is accepted as the answer; after an unreadable answer the model is asked once more.
    """
    spent, problem, word = Usage(), "", partial(say, evidence.language)
    prompt, shown = list(messages), _build_schema(evidence.reports)
    for _ in range(2):
        try:
            with use_answer_reserve():
                reply = await writers.ask(
                    Answer, prompt, parameters=shown, correct=drop_half_contradictions
                )
            spent += reply.usage
            left_out = str(reply.message.response_metadata.get(SHORTENED, ""))
            answer = _deliver_report(reply.value, evidence.reports)
            return answer, spent + writers.lost_usage, left_out
        except ModelError as error:
            problem = word("synthesis_failed", reason=error)
            break
        except UnreadableReply as error:
            spent += error.usage
            if is_prose(error.reply_text):
                answer = Answer(text=error.reply_text, confidence=fallback.confidence)
                return answer, spent + writers.lost_usage, ""
            problem = word("synthesis_unreadable")
            await emit("answer_refused", problems=error.problems)
            prompt += [AIMessage(error.reply_text), build_problem_message(error.problems)]
    return fallback, spent + writers.lost_usage, problem


def is_prose(reply: str) -> bool:
    """Return whether a model answered in prose instead of with a tool call."""
    return bool(reply.strip()) and not reply.lstrip().startswith(("{", "[", "```"))


def _list_notices(team: Team, reports: Sequence[Report]) -> list[str]:
    """Return the notices at the end of an answer: of its contributing workers, then the team's."""
    contributors = [report.worker for report in reports if has_results([report])]
    notices = {worker.name: worker.notice for worker in team.workers}
    ordered = [*(notices.get(name, "") for name in contributors), team.notice]
    return [notice for notice in dict.fromkeys(ordered) if notice]
