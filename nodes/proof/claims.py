"""Proves the claims of a report by the texts they rest on, without a model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from nodes.proof.names import find_addresses, list_foreign_names
from nodes.proof.quotations import is_quoted, normalize_words
from nodes.proof.steps import name_step
from nodes.proof.tables import SEGMENT, explain_by_rows, find_wrong_direction, select_rows
from nodes.proof.texts import Evidence, Origin, Passage, SourceText, list_words
from nodes.text.figures import FALLS, Figures, Quantity, read_figures
from nodes.text.phrases import say
from state import Claim, Proof, Report

MAX_CLAIMS: Final = 10_000
MAX_NAME_CHARS, MAX_QUOTED_CHARS, MAX_NAMED = 200, 2_000, 8
MIN_SHARE: Final = 0.5
"""Of the rarity of a claim's words that a passage must have to be taken for its evidence."""
MIN_TIE: Final = 0.9
"""Of the best passage's score: those are as good."""
MAX_UNPROVED_CONFIDENCE: Final = 50
MAX_HELD: Final = 12
"""Passages that one quotation may be in."""
MAX_NAMED_ROWS: Final = 200
"""Rows whose labels are names that a statement may have."""


@dataclass(frozen=True)
class Ground:
    """A passage that a statement rests on, with the words around it."""

    text: str
    around: str
    """Its heading, and the name and title of its source."""
    source: SourceText
    rows: tuple[Passage, ...] = ()


def prove_report(report: Report, evidence: Evidence) -> Report:
    """Return a report whose claims say how each is proved, and what is not, less sure if so."""
    claims = tuple(
        prove_claim(claim, evidence) if at < MAX_CLAIMS else claim
        for at, claim in enumerate(report.claims)
    )
    doubted = list_doubts(claims, evidence.language)
    confidence = report.confidence
    if doubted and confidence is not None:
        confidence = min(confidence, MAX_UNPROVED_CONFIDENCE)
    gaps = tuple(dict.fromkeys((*report.gaps, *doubted)))
    return report.model_copy(update={"claims": claims, "confidence": confidence, "gaps": gaps})


def list_doubts(claims: Iterable[Claim], language: str) -> list[str]:
    """Return a sentence for each claim that is not proved."""
    return [
        say(language, "claim_unproved", claim=" ".join(claim.text.split())[:300], doubt=claim.doubt)
        for claim in claims
        if claim.proof == "unproved"
    ]


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
    language, cited = evidence.language, evidence.find(claim.source)
    if _is_returned(claim, evidence):
        return ClaimCheck(_name_origin(claim, cited, evidence))
    if claim.source.strip() and not cited:
        doubt = say(language, "source_not_read", source=claim.source[:MAX_NAME_CHARS])
        return ClaimCheck("unproved" if evidence.has_sources else "stated", doubt)
    name = claim.source[:MAX_NAME_CHARS] or say(language, "any_source")
    has_quotation = bool(claim.quotation.strip())
    if has_quotation:
        grounds = _find_quotation(claim.quotation, cited or evidence.texts)
        if not grounds:
            doubt = say(language, "quotation_not_there", source=name)
            return ClaimCheck("unproved", doubt, is_quoted=False)
    else:
        grounds = find_grounds(claim.text, cited or evidence.texts)
    is_quoted = True if has_quotation else None
    figures = read_figures(claim.text)
    if not evidence.texts or not (claim.source.strip() or grounds or has_checkable(claim.text)):
        return ClaimCheck("stated", is_quoted=is_quoted)
    lacking, step = check_statement(claim.text, figures, grounds, evidence)
    if lacking:
        what = ", ".join(f"“{each}”" for each in lacking[:MAX_NAMED])
        key = "not_in_quotation" if has_quotation else "not_in_source"
        doubt = say(language, key, what=what, source=name)
        return ClaimCheck("unproved", doubt, is_quoted, tuple(lacking))
    if not grounds or not (has_quotation or has_checkable(claim.text)):
        return ClaimCheck("stated", is_quoted=is_quoted)
    return ClaimCheck(_name_proof(grounds[0].source, step), "", is_quoted, (), step, grounds[0])


def _name_proof(source: SourceText, step: str) -> Proof:
    if step or source.origin == "computed":
        return "computed"
    return "returned" if source.origin == "returned" else "quoted"


def has_checkable(text: str) -> bool:
    """Return whether a text has figures, periods or addresses."""
    figures = read_figures(text)
    return bool(figures.periods or figures.quantities or find_addresses(text))


def check_statement(
    text: str,
    figures: Figures,
    grounds: Sequence[Ground],
    evidence: Evidence,
    *,
    has_names: bool = True,
) -> tuple[list[str], str]:
    """Return what of a statement its grounds do not have, and the step that computes the rest."""
    lacking, steps = list[str](), list[str]()
    prose = [ground for ground in grounds if not ground.rows]
    shown = [read_figures(ground.text) for ground in prose]
    row_words = "\n".join(row.text for ground in grounds for row in ground.rows[:40])
    around = [read_figures(ground.around) for ground in grounds]
    around += [read_figures(row_words), read_figures(evidence.words)]
    periods = [period for each in shown for period in each.periods]
    years = [period for each in (*around, *shown) for period in each.periods]
    numbers = [number for each in shown for number in each.numbers]
    held = "\n".join(f"{ground.text}\n{ground.around}" for ground in grounds)
    words = normalize_words(f"{held}\n{row_words}")
    for period in figures.periods:
        is_number = period.year and any(number.scaled == period.year for number in numbers)
        if not (period.is_within([*periods, *years], years) or is_number):
            lacking.append(period.text)
    for quantity in figures.quantities:
        if normalize_words(quantity.text) in words and quantity.is_literal:
            continue
        if quantity.is_literal:
            lacking.append(quantity.text)
            continue
        found, step = _explain(quantity, text, numbers)
        if not found:
            for ground in (each for each in grounds if each.rows and not found):
                found, step = explain_by_rows(quantity, text, ground.rows, ground.source)
        if not found and not _is_said(quantity, evidence):
            lacking.append(quantity.text)
        steps += [step] if step else []
    rows = [row for ground in grounds for row in ground.rows]
    if rows and (wrong := find_wrong_direction(text, rows, grounds[0].source)):
        lacking.append(wrong)
    if has_names:
        lacking += _list_wrong_words(text, grounds, evidence)
    return list(dict.fromkeys(lacking)), next(iter(steps), "")


def _explain(quantity: Quantity, text: str, numbers: Sequence[Quantity]) -> tuple[bool, str]:
    """Return whether a quantity is among numbers, or follows from them by a step; and the step."""
    for number in numbers:
        if quantity.equals(number):
            return True, ""
        turned = Quantity(
            number.text, tuple(-v for v in number.values), number.unit, number.tolerance
        )
        if quantity.equals(turned) and (FALLS.search(text) or number.scaled > 0 > quantity.scaled):
            return bool(FALLS.search(text)) or number.scaled < 0, ""
    step = name_step(quantity, [number for number in numbers if not number.is_ratio or True])
    return bool(step), step


def _is_said(quantity: Quantity, evidence: Evidence) -> bool:
    """Return whether the user's own words have the figure."""
    return any(quantity.equals(number) for number in read_figures(evidence.words).numbers)


def _list_wrong_words(text: str, grounds: Sequence[Ground], evidence: Evidence) -> list[str]:
    """Return the addresses and names of a statement that its grounds do not have."""
    addresses = find_addresses(text)
    known = [each.text for each in evidence.texts]
    lacking = [each for each in addresses if not any(each in held for held in known)]
    if grounds:
        held = "\n".join(f"{ground.text}\n{ground.around}" for ground in grounds)
        sources = list(dict.fromkeys(ground.source for ground in grounds))
        lacking += list_foreign_names(text, held, sources, evidence.language)
    return lacking


def find_grounds(text: str, sources: Iterable[SourceText]) -> list[Ground]:
    """Return the passages that fit a statement best: of a table its rows, else sentences."""
    found, rows_found = list[tuple[float, Ground]](), list[Ground]()
    words = {word for word in list_words(text)}
    for source in sources:
        rows = select_rows(text, source)
        if rows:
            rows_found.append(_build_ground(source, rows[0], tuple(rows)))
        scores = _rank_prose(source, words)
        best = max(scores.values(), default=0.0)
        for at, score in scores.items():
            if score >= MIN_TIE * best:
                found.append((score, _build_ground(source, source.passages[at])))
        for segment in SEGMENT.split(text):
            part = _rank_prose(source, list_words(segment)) if segment != text else {}
            top = max(part.values(), default=0.0)
            found += [
                (score * 0.99, _build_ground(source, source.passages[at]))
                for at, score in part.items()
                if score >= MIN_TIE * top and score > MIN_SHARE * best
            ]
    top = max((score for score, _ in found), default=0.0)
    kept = sorted((pair for pair in found if pair[0] >= MIN_SHARE * top), key=lambda p: -p[0])
    return [*rows_found, *dict.fromkeys(ground for _, ground in kept)][:8]


def _rank_prose(source: SourceText, words: Iterable[str]) -> dict[int, float]:
    ranked = source.rank(word for word in words if not word.isdigit())
    return {at: score for at, score in ranked.items() if not source.passages[at].cells}


def _find_quotation(quotation: str, sources: Iterable[SourceText]) -> list[Ground]:
    """Return the passages that a quotation is in, with its own words first."""
    grounds = list[Ground]()
    for source in sources:
        if not is_quoted(quotation, source.text):
            continue
        ranked = source.rank(list_words(quotation))
        likely = sorted(ranked, key=lambda at: (-ranked[at], at))[:MAX_HELD]
        held = [each for at in sorted(likely) if _overlaps(each := source.passages[at], quotation)]
        heading = " ".join(dict.fromkeys(passage.heading for passage in held[:4]))
        whole = " ".join(passage.text for passage in held[:4])
        grounds.append(Ground(quotation, f"{whole} {heading} {source.title}", source))
    return grounds


def _overlaps(passage: Passage, quotation: str) -> bool:
    one, other = normalize_words(passage.text), normalize_words(quotation)
    return bool(one) and (one in other or other in one)


def _build_ground(source: SourceText, passage: Passage, rows: tuple[Passage, ...] = ()) -> Ground:
    words = " ".join(row.text for row in rows[:MAX_NAMED_ROWS]) or passage.heading
    return Ground(passage.text, f"{words} {source.title}", source, rows)


def _is_returned(claim: Claim, evidence: Evidence) -> bool:
    """Return whether a tool returned the claim itself, word for word."""
    text = normalize_words(claim.text)
    tools = [each for each in evidence.texts if each.is_structured or each.origin != "given"]
    return len(text) > 3 and any(text in each.normalized for each in tools)


def _name_origin(claim: Claim, cited: Sequence[SourceText], evidence: Evidence) -> Proof:
    given = [each for each in cited if each.origin == "given"]
    if claim.quotation.strip() and any(is_quoted(claim.quotation, each.text) for each in given):
        return "quoted"
    origins: set[Origin] = {
        each.origin for each in evidence.texts if normalize_words(claim.text) in each.normalized
    }
    if "given" in origins and len(origins) == 1:
        return "quoted"
    return "computed" if "computed" in origins else "returned"
