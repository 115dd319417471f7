"""The synthesizer: one answer from the reports, with its gaps."""

from collections.abc import Mapping, Sequence

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.runnables import RunnableConfig
from langgraph.runtime import Runtime

from nodes.bill import total
from nodes.errors import ModelError
from nodes.events import elapsed_s, emit
from nodes.models.ask import Unreadable, ask
from nodes.models.catalog import Models
from nodes.prompts import problem_message, synthesis_messages
from nodes.rendezvous import disband
from nodes.timing import measured
from state import (
    Answer,
    Context,
    Expense,
    Plan,
    Report,
    RunStatus,
    SupervisorState,
    Team,
    Usage,
)


async def synthesize(
    state: SupervisorState,
    config: RunnableConfig,
    runtime: Runtime[Context],
    *,
    team: Team,
    models: Models,
) -> SupervisorState:
    """Write the answer; with no synthesizer to be had, give the reports as they stand."""
    plan, results = state["plan"], state.get("results", {})
    assert plan is not None, "the supervisor has planned"
    disband(runtime, config)
    reports = [results[task.id] for task in plan.tasks if task.id in results]
    missing = gaps(plan, results)
    answer, usage, problem = _plain(reports, missing), Usage(), "no task has given a result"
    if any(report.output or report.claims or report.findings for report in reports):
        model = models.chat(team.synthesizer_tier, runtime.context)
        messages = synthesis_messages(team, state["request"], plan, reports, missing)
        answer, usage, problem = await _write(model, messages, fallback=answer)
    answer = _grounded(answer, reports, [*missing, problem] if problem else missing)
    status: RunStatus = "partial" if missing or problem else "done"
    spent = Expense(worker="synthesizer", tier=team.synthesizer_tier, usage=usage)
    await emit("synthesized", tasks=[report.task for report in reports], problem=problem)
    bill = total({**state.get("ledger", {}), "synthesis": spent})
    timing = measured(
        plan,
        results,
        asked_s=state["asked_s"],
        planned_s=state["planned_s"],
        ended_s=elapsed_s(config),
    )
    await emit(
        "answer",
        answer=answer.model_dump(mode="json"),
        status=status,
        usage=bill.model_dump(mode="json"),
        timing=timing.model_dump(mode="json"),
    )
    return {
        "answer": answer,
        "status": status,
        "messages": [AIMessage(answer.text)],
        "ledger": {"synthesis": spent},
        "usage": bill,
        "timing": timing,
    }


def gaps(plan: Plan, results: Mapping[str, Report]) -> list[str]:
    """Name each task of the plan that has no complete result, and why."""
    said = []
    for task in plan.tasks:
        report = results.get(task.id)
        if report is None:
            said.append(f"{task.id} was not run before the run's caps: {task.description}")
        elif report.status == "escalated" and report.escalation:
            asked = report.escalation
            said.append(f"{task.id} was handed back ({asked.reason}): {asked.message}")
        elif report.status != "completed":
            said.append(f"{task.id} was {report.status}: {report.error or task.description}")
    return said


async def _write(
    model: BaseChatModel, messages: Sequence[AnyMessage], *, fallback: Answer
) -> tuple[Answer, Usage, str]:
    """Ask for the answer; prose is taken as one, an unreadable one is asked for once more."""
    spent, problem = Usage(), ""
    asking = list(messages)
    for _ in range(2):
        try:
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


def _plain(reports: Sequence[Report], missing: Sequence[str]) -> Answer:
    """Give the reports one after another: what is left when no synthesizer can be reached."""
    parts = [f"**{report.task}** ({report.worker}): {_content(report)}" for report in reports]
    told = [part for part, report in zip(parts, reports, strict=True) if _content(report)]
    nothing = "Nothing could be found out. " + " ".join(missing)
    return Answer(
        text="\n\n".join(told) or nothing,
        confidence=min((report.confidence for report in reports), default=0),
    )


def _content(report: Report) -> str:
    partial = report.escalation.partial if report.escalation else ""
    return report.output or partial or "; ".join(claim.text for claim in report.claims)


def _grounded(answer: Answer, reports: Sequence[Report], missing: Sequence[str]) -> Answer:
    """Keep only sources that a report names, and add every gap that the answer passes over."""
    named = {claim.source for report in reports for claim in report.claims if claim.source}
    used = tuple(source for source in dict.fromkeys(answer.sources) if source in named)
    if not used:
        used = tuple(sorted(source for source in named if source in answer.text))
    unsaid = [line for line in missing if line not in answer.gaps]
    confidence = min(answer.confidence, 50) if missing else answer.confidence
    return answer.model_copy(
        update={"sources": used, "gaps": (*answer.gaps, *unsaid), "confidence": confidence}
    )
