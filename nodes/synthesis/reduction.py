"""Summarises results in rounds: those that exceed the synthesizer's context, or when asked to."""

import asyncio
from collections.abc import Callable, Iterable, Sequence

from langchain_core.language_models import BaseChatModel

from nodes.errors import ModelError
from nodes.models.structured_output import UnreadableReply, ask_model
from nodes.prompts.messages import build_reduction_messages, format_report_line
from nodes.prompts.tags import shorten_text
from nodes.telemetry.events import emit
from nodes.text.phrases import DEFAULT_LANGUAGE, say
from state import Answer, Claim, Report, Usage

MAX_ROUNDS = 4
SUMMARY_DIVISOR = 4
"""Each round makes the results this many times smaller; of results that fit, their number."""


async def reduce_reports(
    get_model: Callable[[], BaseChatModel | None],
    request: str,
    reports: Sequence[Report],
    *,
    max_chars: int,
    is_asked: bool = False,
    language: str = DEFAULT_LANGUAGE,
) -> tuple[list[Report], Usage, list[str]]:
    """Return reports that fit, the usage, and notes on what was lost.

    Reports that fit are returned unchanged. Others are packed into groups, and one call summarises
    each group, until all fit. What cannot be summarised within the rounds is cut.

    Args:
        language: ISO 639-1 code of the notes.
        is_asked: summarise also what fits, at most four reports in a call, until one is left.
    """
    kept, spent, lost = list(reports), Usage(), []
    for number in range(1, MAX_ROUNDS + 1):
        is_needed = measure_size(kept) > max_chars or (is_asked and len(kept) > 1)
        if not is_needed or (model := get_model()) is None:
            break
        limit = SUMMARY_DIVISOR if is_asked else len(kept)
        groups = pack_reports(kept, max_chars, max_reports=limit)
        parts = await asyncio.gather(
            *(
                _summarize_group(
                    model,
                    request,
                    group,
                    name=f"part_{number}.{index}",
                    max_chars=max_chars,
                    language=language,
                )
                for index, group in enumerate(groups, start=1)
            )
        )
        kept = [report for report, _, _ in parts]
        spent = sum((usage for _, usage, _ in parts), spent)
        lost += [problem for _, _, problem in parts if problem]
    if measure_size(kept) > max_chars:
        lost.append(say(language, "results_cut", chars=max_chars))
        kept = [cut_report(report, max_chars // len(kept)) for report in kept]
    return kept, spent, lost


def measure_size(reports: Iterable[Report]) -> int:
    """Return the number of characters that reports take in a prompt."""
    return sum(len(format_report_line(report)) + 1 for report in reports)


def pack_reports(
    reports: Sequence[Report], max_chars: int, *, max_reports: int
) -> list[list[Report]]:
    """Return the reports in groups that fit, in order; a report that is too long alone is cut."""
    groups: list[list[Report]] = [[]]
    used = 0
    for report in reports:
        size = measure_size([report])
        if size > max_chars:
            report = cut_report(report, max_chars)
            size = measure_size([report])
        if groups[-1] and (len(groups[-1]) == max_reports or used + size > max_chars):
            groups.append([])
            used = 0
        groups[-1].append(report)
        used += size
    return groups


def cut_report(report: Report, max_chars: int) -> Report:
    """Return a shortened report: half for the output, the rest for as many claims as fit."""
    words = (
        shorten_text(report.output, max_chars // 2) if len(report.output) > max_chars // 2 else ""
    )
    short = report.model_copy(update={"output": words or report.output, "claims": ()})
    claims: list[Claim] = []
    left = max_chars - measure_size([short])
    for claim in report.claims:
        left -= len(claim.model_dump_json()) + 2
        if left < 0:
            break
        claims.append(claim)
    return short.model_copy(update={"claims": tuple(claims)})


async def _summarize_group(
    model: BaseChatModel,
    request: str,
    group: Sequence[Report],
    *,
    name: str,
    max_chars: int,
    language: str,
) -> tuple[Report, Usage, str]:
    tasks, share = [report.task for report in group], max_chars // SUMMARY_DIVISOR
    names = ", ".join(tasks)
    claims = tuple(claim for report in group for claim in report.claims)
    problem, spent = "", Usage()
    answer = Answer(text="\n\n".join(report.output for report in group).strip() or "No text.")
    try:
        messages = build_reduction_messages(request, group, max_chars=share // 2)
        reply = await ask_model(model, Answer, messages, purpose="reduce")
        answer, spent = reply.value, reply.usage
        claims = tuple(claim for claim in claims if claim.source in answer.sources)
    except ModelError as error:
        problem = say(language, "group_cut", tasks=names, reason=error)
    except UnreadableReply as error:
        spent = error.usage
        problem = say(language, "group_unreadable", tasks=names)
    await emit("synthesized", stage="reduce", part=name, tasks=tasks, problem=problem)
    summary = Report(
        task=name,
        worker="synthesizer",
        output=answer.text,
        claims=tuple(claim.model_copy(update={"quotation": ""}) for claim in claims),
        confidence=bound_confidence((), group),
    )
    return cut_report(summary, share), spent, problem


def bound_confidence(limits: Iterable[int | None], reports: Iterable[Report]) -> int | None:
    """Return the lowest of some limits and of the reports' confidences; None if none is known.

    An answer needs all reports that it uses, so it cannot be surer than the least sure of them.
    Unknown confidences do not count.
    """
    given = (*limits, *(report.confidence for report in reports))
    return min((each for each in given if each is not None), default=None)
