"""Proves the claims of a report by what was read, without a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from nodes.proof.answers import split_lines
from nodes.proof.grounds import Ground, Grounds, find_grounds, find_quotation
from nodes.proof.passages import split_words
from nodes.proof.quotations import is_quoted, normalize_words
from nodes.proof.statements import check_figures, find_addresses, list_foreign_words
from nodes.proof.texts import Evidence, SourceText
from nodes.text.figures import read_figures
from nodes.text.phrases import say
from nodes.text.word_lists import FUNCTION_WORDS
from state import Claim, Proof, Report

MAX_CLAIMS: Final = 10_000
"""Of a report; later ones are not checked and have no proof."""
MAX_FOUND: Final = 200
"""Lines of a text that are looked up as claims."""
MAX_UNPROVED_CONFIDENCE: Final = 50
MAX_NAME_CHARS, MAX_QUOTED_CHARS, MAX_NAMED = 200, 2_000, 8


@dataclass(frozen=True)
class ClaimCheck:
    """How a claim is proved, or what of it is not."""

    proof: Proof
    doubt: str = ""
    is_quoted: bool | None = None
    """Whether its quotation was found; None for a claim without one."""
    lacking: tuple[str, ...] = ()
    """Figures, periods, names and addresses that its evidence does not have."""
    step: str = ""
    """The step of arithmetic by which its figures follow."""
    ground: Ground | None = None


def prove_report(report: Report, evidence: Evidence) -> Report:
    """Return a report whose claims say how each is proved, and what is not, less sure if so."""
    proved = [prove_claim(claim, evidence) for claim in report.claims[:MAX_CLAIMS]]
    claims = (*proved, *report.claims[MAX_CLAIMS:])
    doubted = list_doubts(claims, evidence.language)
    confidence = report.confidence
    if doubted and confidence is not None:
        confidence = min(confidence, MAX_UNPROVED_CONFIDENCE)
    gaps = tuple(dict.fromkeys((*report.gaps, *doubted)))
    return report.model_copy(update={"claims": claims, "confidence": confidence, "gaps": gaps})


def find_claims(text: str, evidence: Evidence) -> tuple[Claim, ...]:
    """Return the sentences and rows of a text that were found in what was read, as claims."""
    lines = dict.fromkeys(" ".join(line.text.split()) for line in split_lines(text))
    # A row that still has its border is the head of a table.
    kept = [line for line in lines if line and not line.startswith("|")][:MAX_FOUND]
    claims = (Claim(text=line) for line in kept)
    proved = (prove_claim(claim, evidence) for claim in claims)
    return tuple(claim for claim in proved if claim.proof not in ("stated", "unproved"))


def list_doubts(claims: Iterable[Claim], language: str) -> list[str]:
    """Return a sentence for each claim that is not proved."""
    return [
        say(language, "claim_unproved", claim=" ".join(claim.text.split())[:300], doubt=claim.doubt)
        for claim in claims
        if claim.proof == "unproved"
    ]


def prove_claim(claim: Claim, evidence: Evidence) -> Claim:
    """Return a claim with its proof, or with what of it is not proved."""
    check = check_claim(claim, evidence)
    update: dict[str, object] = {"proof": check.proof, "doubt": check.doubt}
    if check.ground and not claim.source.strip():
        update["source"] = check.ground.source.name
    if check.ground and check.proof == "quoted" and not claim.quotation and not check.ground.rows:
        update["quotation"] = check.ground.text[:MAX_QUOTED_CHARS]
    return claim.model_copy(update=update)


def check_claim(claim: Claim, evidence: Evidence) -> ClaimCheck:
    """Look a claim's quotation, figures and names up in the source that it names."""
    cited, language = evidence.find(claim.source), evidence.language
    if earlier := evidence.proved.get(normalize_words(claim.text)):
        return ClaimCheck(earlier)
    if tools := _list_returning(claim, evidence):
        return ClaimCheck(_name_origin(claim, cited, tools))
    if claim.source.strip() and not cited:
        doubt = say(language, "source_not_read", source=claim.source[:MAX_NAME_CHARS])
        return ClaimCheck("unproved" if evidence.has_sources else "stated", doubt)
    if not claim.quotation.strip():
        grounds = find_grounds(claim.text, cited or evidence.texts)
        check = _check_statement(claim, grounds, evidence, is_quoted=None)
        return (
            check if check.proof != "unproved" else _check_computed(claim, cited, evidence, check)
        )
    if grounds := find_quotation(claim.quotation, cited or evidence.texts):
        if claim.text == claim.quotation:  # it says nothing of its own
            return ClaimCheck(_name_proof(grounds[0].source, ""), "", True, ground=grounds[0])
        return _check_statement(claim, grounds, evidence, is_quoted=True)
    doubt = say(language, "quotation_not_there", source=_name_source(claim, language))
    return ClaimCheck("unproved" if evidence.texts else "stated", doubt, is_quoted=False)


def _check_computed(
    claim: Claim, cited: Sequence[SourceText], evidence: Evidence, check: ClaimCheck
) -> ClaimCheck:
    """Return the proof by what was computed of the cited source, which alone must have it all.

    A word of the source that the result lacks, such as a name in another row, is not in it.
    """
    said, known = {*split_words(claim.text)}, {w for each in cited for w in each.raw_words}
    for result in evidence.list_computed(cited):
        if (said & known) - result.raw_words - FUNCTION_WORDS:
            continue
        found = _check_statement(
            claim, find_grounds(claim.text, [result]), evidence, is_quoted=None
        )
        if found.proof not in ("unproved", "stated"):
            return replace(found, proof="computed")
    return check


def _check_statement(
    claim: Claim, found: Sequence[Ground], evidence: Evidence, *, is_quoted: bool | None
) -> ClaimCheck:
    figures, language = read_figures(claim.text), evidence.language
    has_any = bool(figures.periods or figures.quantities or find_addresses(claim.text))
    if not evidence.texts or not (claim.source.strip() or found or has_any):
        return ClaimCheck("stated", is_quoted=is_quoted)
    grounds = Grounds(tuple(found), evidence.words)
    lacking, step = check_figures(claim.text, figures, grounds)
    lacking += list_foreign_words(claim.text, grounds, evidence)
    if lacking:
        what = ", ".join(f"“{each}”" for each in lacking[:MAX_NAMED])
        key = "not_in_quotation" if is_quoted else "not_in_source"
        doubt = say(language, key, what=what, source=_name_source(claim, language))
        return ClaimCheck("unproved", doubt, is_quoted, tuple(lacking))
    if not found or not (is_quoted or has_any):
        return ClaimCheck("stated", is_quoted=is_quoted)
    return ClaimCheck(_name_proof(found[0].source, step), "", is_quoted, (), step, found[0])


def _name_proof(source: SourceText, step: str) -> Proof:
    if step or source.origin == "computed":
        return "computed"
    return "returned" if source.origin == "returned" else "quoted"


def _name_source(claim: Claim, language: str) -> str:
    return claim.source[:MAX_NAME_CHARS] or say(language, "any_source")


def _list_returning(claim: Claim, evidence: Evidence) -> list[SourceText]:
    """Return the results of tools that have the claim itself, word for word."""
    text = normalize_words(claim.text)
    results = (each for each in evidence.texts if each.is_result and not each.is_reading)
    return [each for each in results if len(text) > 3 and text in each.normalized]


def _name_origin(
    claim: Claim, cited: Sequence[SourceText], returning: Sequence[SourceText]
) -> Proof:
    """Return the proof of a claim that a tool made: the document has it, or the tool alone."""
    words = claim.quotation.strip() or claim.text
    if any(is_quoted(words, each.text) for each in cited if each.origin == "given"):
        return "quoted"
    origins = {each.origin for each in returning}
    return "computed" if "computed" in origins else "returned"
