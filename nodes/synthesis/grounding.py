"""Corrects an answer by the reports it rests on: sources, claims, proof, gaps, confidence."""

import asyncio
from collections.abc import Iterable, Sequence

from nodes.limits.patterns import PatternTimeout
from nodes.models.settings import EMBEDDED
from nodes.planning.skipping import list_partial_gaps
from nodes.prompts.tags import shorten_text
from nodes.proof import Evidence, find_file_names, prove_answer
from nodes.synthesis.contradictions import count_undecided
from nodes.synthesis.evidence import SynthesisInput
from nodes.synthesis.fallback import has_results
from nodes.synthesis.reduction import bound_confidence
from nodes.text.phrases import say
from nodes.text.terms import extract_terms
from state import Answer, Contradiction, Report, SupervisorState, Usage, require_plan

MAX_CONFIDENCE_WITH_GAPS = 50
UNDECIDED_PENALTY = 10
"""Subtracted from the confidence for each undecided contradiction."""
MAX_UNDECIDED_COUNTED = 3
MAX_UNANSWERED = 20
MAX_UNANSWERED_CHARS = 300


def ground_unanswered(answer: Answer, request: str, goal: str, known: Sequence[str] = ()) -> Answer:
    """Return the answer with those unanswered parts that the request or the goal asks for.

    What shares no word with them is no part of the request, nor is "none" or "nothing is open".

    Args:
        known: parts that are unanswered by the plan and its reports; they are left out.
    """
    asked = f"{request}\n{goal}".casefold()
    terms = extract_terms(asked)
    parts = dict.fromkeys(" ".join(part.split()) for part in answer.unanswered)
    told = "\n".join(known).casefold()
    kept = [
        shorten_text(part, MAX_UNANSWERED_CHARS)
        for part in parts
        if part.casefold().partition(" ")[0] not in ("", "none", "nothing")
        and part.casefold() not in told
        and (part.casefold() in asked or terms & extract_terms(part))
    ]
    return answer.model_copy(update={"unanswered": tuple(kept[:MAX_UNANSWERED])})


def ground_answer(
    answer: Answer,
    evidence: SynthesisInput,
    contradictions: Sequence[Contradiction],
    missing: Sequence[str],
    notices: Iterable[str],
) -> Answer:
    """Return the answer corrected by the reports: their sources, their claims, and every gap.

    Each notice is added at the end, unless the text already contains it. A gap that a worker names
    does not make the run partial; a task without a result, or with a partial report, does.
    The confidence is at most that of the least confident report that the answer uses, at most 50
    with a gap, and 10 less for each undecided contradiction, of which at most three count; it is
    unknown if nothing limits it, and so is that of passages that no language model has read.
    """
    known = {claim.source for report in evidence.reports for claim in report.claims if claim.source}
    used = tuple(source for source in dict.fromkeys(answer.sources) if source in known)
    if not used:
        used = tuple(sorted(source for source in known if source in answer.text))
    stated = [
        gap for each in evidence.reports for gap in each.gaps if gap not in list_partial_gaps(each)
    ]
    gaps = _drop_repeated((*answer.gaps, *missing, *evidence.remarks, *stated))
    reports = list_used_reports(evidence.reports, used)
    unrated = tuple(r.task for r in reports if r.confidence is None and not _is_by_rule(r))
    confidence = bound_confidence([answer.confidence], reports)
    if missing and (unrated or confidence is not None):
        confidence = bound_confidence([confidence, MAX_CONFIDENCE_WITH_GAPS], ())
    is_rated = evidence.has_model and answer.confidence is not None
    is_judged = is_rated or not all(map(_is_by_rule, evidence.reports))
    if answer.is_unread or (evidence.reports and not is_judged):
        confidence = None
    if confidence is not None:
        undecided = min(count_undecided(contradictions), MAX_UNDECIDED_COUNTED)
        confidence = max(0, confidence - UNDECIDED_PENALTY * undecided)
    text = "\n\n".join([answer.text, *(notice for notice in notices if notice not in answer.text)])
    return answer.model_copy(
        update={
            "text": text,
            "language": evidence.language,
            "sources": used,
            "gaps": gaps,
            "confidence": confidence,
            "unrated": unrated,
            "contradictions": tuple(contradictions),
            "findings": evidence.findings,
        }
    )


def _drop_repeated(gaps: Iterable[str]) -> tuple[str, ...]:
    """Return the gaps, each once; of one that another repeats behind a task's name, the other."""
    kept = list(dict.fromkeys(gaps))
    repeated = {gap.partition(": ")[2] for gap in kept}
    return tuple(gap for gap in kept if gap not in repeated)


def _is_by_rule(report: Report) -> bool:
    """Return whether the built-in model made a report; it judges nothing, and rates nothing."""
    return report.is_unread or report.usage.models == (EMBEDDED,)


def list_used_reports(reports: Sequence[Report], sources: Sequence[str]) -> list[Report]:
    """Return the reports that an answer with these sources uses.

    A completed report is not used if its claims name sources and the answer names others only.
    Without a completed report, all that contain something are used.
    """
    complete = [report for report in reports if report.status == "completed"]
    cited = set(sources)
    return [
        report
        for report in complete
        if not cited
        or not (named := {claim.source for claim in report.claims if claim.source})
        or cited & named
    ] or [report for report in complete or reports if has_results([report])]


async def prove_lines(
    answer: Answer, state: SupervisorState, evidence: SynthesisInput, usage: Usage
) -> tuple[Answer, list[str]]:
    """Return the answer with its claims and marks, and the gaps that concern what was asked for.

    What the program or the built-in model composed is what the reports say, and is not marked; of
    tasks that all have no result it answers nothing, so that no claim proves it.
    """
    claims = [claim for report in evidence.reports for claim in report.claims]
    if usage.models in ((), (EMBEDDED,)):
        claims *= any(report.status == "completed" for report in evidence.reports)
        return answer.model_copy(update={"claims": tuple(dict.fromkeys(claims))}), []
    read = Evidence(state["request"], language=evidence.language)
    planned = " ".join(task.description for task in require_plan(state).tasks)
    for name in (*state.get("materials", {}), *find_file_names(planned)):
        read.add_material(name, "")
    try:
        proved = await asyncio.to_thread(prove_answer, answer, evidence.reports, read)
    except PatternTimeout as error:
        gap = say(evidence.language, "answer_unchecked", error=error)
        return answer.model_copy(update={"claims": tuple(dict.fromkeys(claims))}), [gap]
    asked = extract_terms(state["request"])
    wanted = [gap for gap, line in proved.gaps.items() if asked & extract_terms(line)]
    is_doubted = any(asked & extract_terms(line) for line in proved.doubted)
    others = tuple(gap for gap in proved.gaps if gap not in wanted)
    kept = proved.answer.model_copy(update={"gaps": (*answer.gaps, *others)})
    return kept, [*wanted, *(_list_doubted(evidence) if is_doubted else [])]


def _list_doubted(evidence: SynthesisInput) -> list[str]:
    """Return the gaps of unproved claims."""
    return [
        gap
        for report in evidence.reports
        for claim in report.claims
        for gap in report.gaps
        if claim.proof == "unproved" and claim.doubt in gap
    ]
