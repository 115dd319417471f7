"""Asks the judge which of two claims holds, and which of several attempts is best."""

from collections.abc import Mapping, Sequence

from langchain_core.language_models import BaseChatModel

from nodes.errors import ModelError
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.messages import build_judge_messages, build_selection_messages
from nodes.schemas.replies import Verdict
from nodes.synthesis.contradictions import ClaimPair, record_verdicts
from nodes.telemetry.events import emit
from nodes.text.phrases import DEFAULT_LANGUAGE, say
from state import Contradiction, Plan, Report, Task, Usage


async def judge_claims(
    model: BaseChatModel | None,
    request: str,
    pairs: Sequence[ClaimPair],
    why_none: str = "",
    language: str = DEFAULT_LANGUAGE,
) -> tuple[list[Contradiction], Usage]:
    """Return the contradictions with verdicts, from one call for all pairs, and its usage.

    Without a judge, or when it fails or cannot be read, all pairs stay undecided; `why_none` says
    why there is no judge.
    """
    if not pairs:
        return [], Usage()
    messages = build_judge_messages(request, [(pair.first, pair.second) for pair in pairs])
    verdict, spent, why = Verdict(), Usage(), why_none or say(language, "no_judge")
    if model is not None:
        why = say(language, "no_ruling")
        try:
            reply = await ask_model(model, Verdict, messages)
            verdict, spent = reply.value, reply.usage
        except ModelError as error:
            why = say(language, "judge_failed", reason=error)
        except UnreadableReply as error:
            why, spent = say(language, "judge_unreadable"), error.usage
    contradictions = record_verdicts(
        pairs, {ruling.pair: ruling for ruling in verdict.rulings}, why, language
    )
    dumped = [each.model_dump(mode="json") for each in contradictions]
    await emit("judged", pairs=len(pairs), contradictions=dumped)
    return contradictions, spent


def group_repeated_tasks(plan: Plan) -> list[tuple[Task, ...]]:
    """Return groups of tasks with the same description, in a plan that selects the best attempt."""
    if plan.aggregation != "select":
        return []
    groups: dict[str, list[Task]] = {}
    for task in plan.tasks:
        groups.setdefault(" ".join(task.description.casefold().split()), []).append(task)
    return [tuple(group) for group in groups.values() if len(group) > 1]


async def select_best_attempt(
    model: BaseChatModel | None, group: Sequence[Task], results: Mapping[str, Report]
) -> tuple[set[str], Usage]:
    """Return the ids of all attempts at one task but the best, and the usage.

    With only one complete attempt, no judge is asked. Without a judge or a usable verdict the most
    confident attempt is best; of equals the first.
    """
    ids = {task.id for task in group}
    reports = [results[task.id] for task in group if task.id in results]
    complete = [report for report in reports if report.status == "completed"]
    if not complete:
        return set(), Usage()
    best = max(complete, key=lambda each: -1 if each.confidence is None else each.confidence).task
    reason, spent = "the only complete attempt", Usage()
    if len(complete) > 1:
        chosen, reason, spent = await _ask_best_attempt(model, group[0].description, complete)
        if chosen:
            best = chosen
    await emit("judged", attempts=sorted(ids), best=best, reason=reason)
    return ids - {best}, spent


async def _ask_best_attempt(
    model: BaseChatModel | None, description: str, complete: Sequence[Report]
) -> tuple[str, str, Usage]:
    if model is None:
        return "", "the most confident attempt: no judge was asked", Usage()
    try:
        messages = build_selection_messages(description, complete)
        reply = await ask_model(model, Verdict, messages, purpose="select")
    except ModelError as error:
        return "", f"the most confident attempt: the judge failed: {error}", Usage()
    except UnreadableReply as error:
        return "", "the most confident attempt: the verdict could not be read", error.usage
    if reply.value.best in {report.task for report in complete}:
        return reply.value.best, reply.value.reason, reply.usage
    return "", "the most confident attempt: the judge named none of them", reply.usage
