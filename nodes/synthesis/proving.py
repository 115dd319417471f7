"""The proof of an answer: its lines against the claims, and which gaps make the run partial."""

import asyncio

from nodes.limits.patterns import PatternTimeout
from nodes.models.settings import EMBEDDED
from nodes.proof import Evidence, find_file_names, prove_answer
from nodes.synthesis.evidence import SynthesisInput
from nodes.text.terms import extract_terms
from state import Answer, SupervisorState, Usage, require_plan


async def prove_lines(
    answer: Answer, state: SupervisorState, evidence: SynthesisInput, usage: Usage
) -> tuple[Answer, list[str]]:
    """Return the answer with its claims and marks, and the gaps that concern what was asked for.

    What the program or the built-in model composed is what the reports say, and is not marked.
    """
    claims = [claim for report in evidence.reports for claim in report.claims]
    if usage.models in ((), (EMBEDDED,)):
        return answer.model_copy(update={"claims": tuple(dict.fromkeys(claims))}), []
    read = Evidence(state["request"], language=evidence.language)
    planned = " ".join(task.description for task in require_plan(state).tasks)
    for name in (*state.get("materials", {}), *find_file_names(planned)):
        read.add_material(name, "")
    try:
        proved = await asyncio.to_thread(prove_answer, answer, evidence.reports, read)
    except PatternTimeout as error:
        gap = f"the answer was not checked against its sources: {error}"
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
